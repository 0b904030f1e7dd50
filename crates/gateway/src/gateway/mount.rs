//! `Mount`: several servers of one process behind one endpoint.

use turnbuckle_host::ServerId;
use turnbuckle_server::{Server, SetupError};

use super::Gateway;
use crate::settings::UpstreamSettings;

/// Combines several servers of one process behind one endpoint. It is implemented for [`Server`],
/// so that `one.mount("other", other)` makes a [`Gateway`] of both; use [`Gateway::mount`] to add
/// further servers.
pub trait Mount {
    /// Adds another server under a name. Its tool `a` is offered as `name__a`, and its prompts
    /// likewise. The entries of this server keep their own names.
    ///
    /// # Errors
    /// [`SetupError`] if one of the two servers cannot be set up.
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
