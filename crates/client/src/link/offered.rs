//! Whether a server offers a method, checked before a request is sent.

use turnbuckle_protocol::{ServerCapabilities, method};

use super::Link;
use crate::error::CallError;

impl Link {
    /// Checks that the server offers a method. lifecycle: both sides only use what was negotiated. An
    /// unknown method may be an extension of the server and is allowed.
    pub(crate) fn check_offered(&self, method: &str) -> Result<(), CallError> {
        let Some(peer) = self.peer() else {
            return Ok(());
        };
        let Some(entry) = method::find(method) else {
            return Ok(());
        };
        let revision = peer.revision();
        if !entry.is_available(revision, method::Direction::ToServer) {
            return Err(self.not_offered(method, &format!("revision {revision} does not have it")));
        }
        let Some(capabilities) = peer.capabilities() else {
            return Ok(());
        };
        if let Some(id) = method::extension(method, revision)
            && capabilities.extension(id).is_none()
        {
            return Err(self.not_offered(method, &format!("it does not declare extension `{id}`")));
        }
        match missing(method, capabilities) {
            Some(name) => {
                Err(self.not_offered(method, &format!("it does not declare capability `{name}`")))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn not_offered(&self, method: &str, reason: &str) -> CallError {
        CallError::NotOffered {
            server: self.server().clone(),
            method: method.into(),
            reason: reason.into(),
        }
    }
}

/// The capability that a method requires and the server does not have.
fn missing(method: &str, capabilities: &ServerCapabilities) -> Option<&'static str> {
    let (name, is_there) = match method {
        "tools/call" | "tools/list" => ("tools", capabilities.tools.is_some()),
        "prompts/get" | "prompts/list" => ("prompts", capabilities.prompts.is_some()),
        "resources/read" | "resources/list" | "resources/templates/list" => {
            ("resources", capabilities.resources.is_some())
        }
        "resources/subscribe" | "resources/unsubscribe" => {
            let resources = capabilities.resources.as_ref();
            let subscribe = resources.and_then(|resources| resources.subscribe);
            ("resources.subscribe", subscribe == Some(true))
        }
        "completion/complete" => ("completions", capabilities.completions.is_some()),
        "logging/setLevel" => ("logging", capabilities.logging.is_some()),
        _ => return None,
    };
    (!is_there).then_some(name)
}
