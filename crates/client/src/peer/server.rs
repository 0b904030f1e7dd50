//! The server of a connection.

use std::sync::Arc;

use turnbuckle_protocol::{Implementation, Revision, ServerCapabilities};

use super::Visits;
use crate::roots::GivenRoots;

/// The server of a connection: its name, its revision and its capabilities.
///
/// The server's description of itself is for users and logs; do not base trust on it.
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

    /// Uses the name that the server reports, if any, in errors and logs.
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

    /// The visits to URLs that the server requested.
    pub(crate) fn visits(&self) -> &Visits {
        &self.visits
    }

    /// The roots that the server was given, if a handler decides on them.
    pub(crate) fn roots(&self) -> &GivenRoots {
        &self.roots
    }

    /// The server's name in errors and logs.
    pub(crate) fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// Returns the name of the server: the one that was set with
    /// [`Connect::named`](crate::Connect::named), or else the name that the server reports, or else its
    /// address or program.
    ///
    /// Show this name to the user, and set names of your own: a server can report any name, even that
    /// of another server.
    pub fn name(&self) -> &str {
        &self.label
    }

    /// Returns the name that the server reports; `None` if it reports none. A server can report any
    /// name.
    pub fn own_name(&self) -> Option<&str> {
        self.implementation.as_ref().map(|server| &*server.name)
    }

    /// Returns the version that the server reports; `None` if it reports none.
    pub fn version(&self) -> Option<&str> {
        self.implementation.as_ref().map(|server| &*server.version)
    }

    /// Returns the server's description of itself: name, title, version, description, icons and
    /// website, as far as its revision defines them.
    pub fn implementation(&self) -> Option<&Implementation> {
        self.implementation.as_ref()
    }

    /// Returns the revision that is used on this connection. Calls work the same in all revisions; use
    /// it for display and logs.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the capabilities of the server; `None` if it did not send any. A modern server must
    /// always send them.
    pub fn capabilities(&self) -> Option<&ServerCapabilities> {
        self.capabilities.as_ref()
    }

    /// Returns the server's instructions for a model: how its tools are meant to be used. They come
    /// from the server, so treat them as untrusted text.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }
}
