//! The parts that all grants use: the settings, the server, and the requests.

use std::sync::Arc;

use turnbuckle_transport::http::client::Address;

use super::Scopes;
use super::discovery::Discovered;
use super::dpop::{ProofKey, ServerNonces};
use super::fetch::Fetcher;
use super::settings::Settings;

/// Gets tokens for one server.
pub(crate) struct Engine {
    pub(crate) settings: Arc<Settings>,
    pub(crate) server: Address,
    pub(crate) fetcher: Fetcher,
    pub(crate) nonces: ServerNonces,
}

/// The resource that tokens are requested for.
pub(crate) struct Asked<'a> {
    pub(crate) found: &'a Discovered,
    pub(crate) scopes: &'a Scopes,
    pub(crate) key: Option<&'a Arc<ProofKey>>,
}

impl Engine {
    pub(crate) fn new(settings: Arc<Settings>, server: Address) -> Self {
        let fetcher = Fetcher::new(settings.http.clone(), settings.reach, server.clone())
            .watched_by(settings.observer.clone());
        Self {
            settings,
            server,
            fetcher,
            nonces: ServerNonces::default(),
        }
    }
}
