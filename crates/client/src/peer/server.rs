//! The server of a connection.

use std::sync::Arc;

use turnbuckle_protocol::{Implementation, Revision, ServerCapabilities};

use super::Visits;
use crate::roots::GivenRoots;

/// The server of a connection: its name, its revision and its capabilities.
///
/// A server's description of itself is for people and logs; do not base trust on it.
#[derive(Clone, Debug)]
pub struct Peer {
    label: Arc<str>,
    implementation: Option<Implementation>,
    revision: Revision,
    capabilities: Option<ServerCapabilities>,
    instructions: Option<String>,
    visits: Visits,
    roots: GivenRoots,
}

impl Peer {
    pub(crate) fn new(label: &Arc<str>, revision: Revision) -> Self {
        Self {
            label: label.clone(),
            implementation: None,
            revision,
            capabilities: None,
            instructions: None,
            visits: Visits::default(),
            roots: GivenRoots::default(),
        }
    }

    pub(crate) fn with(
        self,
        implementation: Option<Implementation>,
        capabilities: ServerCapabilities,
        instructions: Option<String>,
    ) -> Self {
        Self {
            implementation,
            capabilities: Some(capabilities),
            instructions,
            ..self
        }
    }

    /// Calls it by its own name in messages, if it has one.
    pub(crate) fn called_by_its_name(self) -> Self {
        let name = self
            .implementation
            .as_ref()
            .map(|server| server.name.as_str());
        match name.filter(|name| !name.is_empty()) {
            Some(name) => Self {
                label: name.into(),
                ..self
            },
            None => self,
        }
    }

    /// The visits to URLs that it asked for.
    pub(crate) fn visits(&self) -> &Visits {
        &self.visits
    }

    /// The roots that it was given, where a handler decides on them.
    pub(crate) fn roots(&self) -> &GivenRoots {
        &self.roots
    }

    /// Its name in messages.
    pub(crate) fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// The name of the server: the one that was set with [`Connect::named`](crate::Connect::named),
    /// else the name it gives itself, else the address or program.
    ///
    /// Show this name to the user, and set names of your own: a server can choose its own name
    /// freely, also to impersonate another.
    pub fn name(&self) -> &str {
        &self.label
    }

    /// The name that the server gives itself; `None` if it does not say. Anyone can choose any
    /// name.
    pub fn own_name(&self) -> Option<&str> {
        self.implementation.as_ref().map(|server| &*server.name)
    }

    /// The version that the server gives itself; `None` if it does not say.
    pub fn version(&self) -> Option<&str> {
        self.implementation.as_ref().map(|server| &*server.version)
    }

    /// The server's description of itself: name, title, version, description, icons and website, as
    /// far as its revision has them.
    pub fn implementation(&self) -> Option<&Implementation> {
        self.implementation.as_ref()
    }

    /// The revision of the protocol that is used on this connection. Calls work the same in all
    /// revisions; use it for display and logs.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The capabilities of the server. `None` if it did not send any, which a modern server may
    /// only do by mistake.
    pub fn capabilities(&self) -> Option<&ServerCapabilities> {
        self.capabilities.as_ref()
    }

    /// The server's instructions, for a model to read: how its tools are meant to be used. They
    /// come from the server, so treat them as untrusted text.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }
}
