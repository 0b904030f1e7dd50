//! The settings of an [`OAuth`](super::OAuth).

use std::sync::Arc;

use turnbuckle_transport::http::client::AgentSettings;

use super::flow_request::FlowObserver;
use super::reach::Reach;
use super::{
    Assertion, Browser, Dpop, Enterprise, Loopback, MemoryStore, Registered, Scopes, TokenStore,
};
use crate::jose::SigningKey;

/// The settings of [`OAuth`](super::OAuth).
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) document: Option<String>,
    pub(crate) document_key: Option<Arc<SigningKey>>,
    pub(crate) registered: Option<Registered>,
    /// The only authorization server that tokens may come from, if one was set.
    pub(crate) issuer: Option<String>,
    pub(crate) grant: Grant,
    pub(crate) scopes: Scopes,
    pub(crate) offline: Offline,
    pub(crate) kept_registration: KeptRegistration,
    pub(crate) dpop: Dpop,
    pub(crate) browser: Arc<dyn Browser>,
    pub(crate) store: Arc<dyn TokenStore>,
    pub(crate) http: AgentSettings,
    pub(crate) reach: Reach,
    pub(crate) observer: FlowObserver,
}

/// How tokens are obtained.
#[derive(Clone)]
pub(crate) enum Grant {
    /// The user is asked in their browser.
    Code,
    /// The client acts for itself.
    ClientCredentials,
    /// A company's identity provider decides.
    Enterprise(Arc<Enterprise>),
    /// The platform that the client runs on provides an assertion.
    Workload(Arc<dyn Assertion>),
    /// The token of a caller is exchanged.
    #[cfg(feature = "server")]
    Exchange(Arc<Exchange>),
}

/// The subject token to exchange, and the requested audience.
#[cfg(feature = "server")]
pub(crate) struct Exchange {
    pub(crate) subject: crate::SubjectToken,
    pub(crate) audience: Option<String>,
}

/// Whether to request tokens that outlive the user's presence, if this requires a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offline {
    Ask,
    DoNotAsk,
}

/// Whether a sign-in uses the registration of an earlier one, if the store has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptRegistration {
    Use,
    Replace,
}

impl Settings {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            document: None,
            document_key: None,
            registered: None,
            issuer: None,
            grant: Grant::Code,
            scopes: Scopes::default(),
            offline: Offline::Ask,
            kept_registration: KeptRegistration::Use,
            dpop: Dpop::default(),
            browser: Arc::new(Loopback::new()),
            store: Arc::new(MemoryStore::new()),
            http: AgentSettings::new(),
            reach: Reach::default(),
            observer: FlowObserver::default(),
        }
    }
}
