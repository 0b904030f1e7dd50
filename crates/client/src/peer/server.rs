//! Who is at the other end.

use std::sync::Arc;

use turnbuckle_protocol::{Implementation, Revision, ServerCapabilities};

use super::Visits;

/// The server of a connection: who it says it is, what it speaks and what it offers.
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

    /// What to call it in messages.
    pub(crate) fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// What to call it: the name that was given with [`Connect::named`](crate::Connect::named). Without
    /// one, the name it gives itself, or what it was connected to by.
    ///
    /// Show people this name, and give servers names of your own: what a server calls itself it can
    /// choose freely, also to pass for another.
    pub fn name(&self) -> &str {
        &self.label
    }

    /// The name it gives itself.
    pub fn own_name(&self) -> Option<&str> {
        self.implementation.as_ref().map(|server| &*server.name)
    }

    /// The version it gives itself.
    pub fn version(&self) -> Option<&str> {
        self.implementation.as_ref().map(|server| &*server.version)
    }

    /// All it says about itself.
    pub fn implementation(&self) -> Option<&Implementation> {
        self.implementation.as_ref()
    }

    /// The revision both ends speak.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What it offers. `None` if it would not say, which modern servers may only do by mistake.
    pub fn capabilities(&self) -> Option<&ServerCapabilities> {
        self.capabilities.as_ref()
    }

    /// How it wants to be used, for the model to read.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }
}
