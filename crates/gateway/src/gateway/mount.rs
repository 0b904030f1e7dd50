//! `Mount`: several servers of one process behind one endpoint.

use turnbuckle_host::ServerId;
use turnbuckle_server::{Server, SetupError};

use super::Gateway;
use crate::settings::UpstreamSettings;

/// Combines several servers of one process behind one endpoint.
pub trait Mount {
    /// Adds another server under a name: its tool `a` is `name__a` here, and so on for prompts. What this
    /// server has keeps its own names.
    ///
    /// # Errors
    /// If one of the two cannot be set up.
    fn mount(self, name: impl Into<ServerId>, other: Server) -> Result<Gateway, SetupError>;
}

impl Mount for Server {
    fn mount(self, name: impl Into<ServerId>, other: Server) -> Result<Gateway, SetupError> {
        let info = self.implementation().clone();
        let mut gateway = Gateway::new(info.name.clone(), info.version.clone());
        gateway.info = info;
        let own = UpstreamSettings::new().bare();
        gateway.mount_with("self", self, own)?.mount(name, other)
    }
}
