//! The client's name and capabilities.

use std::{fmt, sync::Arc};

use serde_json::{Map, Value};
use turnbuckle_protocol::{
    ClientCapabilities, Implementation, LoggingMessageNotificationParams, Lower, Revision,
};

use super::{Settings, TaskSupport, tasks};
use crate::{
    answer::Answers, cache::Cache, notifications::ServerNotification, relayed::RelaySink, tap::Tap,
};

/// The facts about a client that its connections need.
#[derive(Clone)]
pub(crate) struct Profile {
    pub(crate) client: Implementation,
    pub(crate) answers: Answers,
    pub(crate) settings: Settings,
    pub(crate) cache: Option<Cache>,
    pub(crate) listener: Option<NewsListener>,
    pub(crate) log_listener: Option<LogListener>,
    pub(crate) tap: Option<Tap>,
    pub(crate) extensions: Map<String, Value>,
    /// Set for a client that passes requests of servers on.
    pub(crate) relay: Option<RelayProfile>,
}

/// The capabilities of a relaying client, and its sink.
#[derive(Clone)]
pub(crate) struct RelayProfile {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) sink: Arc<dyn RelaySink>,
}

type NewsListener = Arc<dyn Fn(&ServerNotification) + Send + Sync>;

type LogListener = Arc<dyn Fn(&str, &LoggingMessageNotificationParams) + Send + Sync>;

impl From<Implementation> for Profile {
    fn from(client: Implementation) -> Self {
        Self {
            client,
            answers: Answers::new(),
            settings: Settings::default(),
            cache: Some(Cache::new()),
            listener: None,
            log_listener: None,
            tap: None,
            extensions: Map::new(),
            relay: None,
        }
    }
}

impl Profile {
    /// The client's capabilities for a server of this revision.
    pub(crate) fn capabilities(&self, revision: Revision) -> ClientCapabilities {
        if let Some(relay) = &self.relay {
            let mut capabilities = relay.capabilities.clone();
            capabilities.lower(revision);
            return capabilities;
        }
        let mut capabilities = self.answers.capabilities();
        if !self.extensions.is_empty() {
            capabilities.extensions = Some(self.extensions.clone());
        }
        capabilities.lower(revision);
        if self.settings.tasks == TaskSupport::Declared {
            tasks::declare(&mut capabilities, revision);
        }
        capabilities
    }

    /// Whether a server can send any request to this client.
    #[cfg(feature = "http")]
    pub(crate) fn is_askable(&self) -> bool {
        let declared = self.relay.as_ref().map(|relay| &relay.capabilities);
        declared.map_or_else(
            || self.answers.has_any(),
            |declared| *declared != ClientCapabilities::default(),
        )
    }

    /// The client's description of itself, in the form of this revision.
    pub(crate) fn identity(&self, revision: Revision) -> Implementation {
        let mut client = self.client.clone();
        client.lower(revision);
        client
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile")
            .field("client", &self.client)
            .field("answers", &self.answers)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
