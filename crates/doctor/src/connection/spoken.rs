//! Writes requests in the form of each era.

use serde_json::{Value, json};
use turnbuckle::{Revision, protocol::meta::key};

/// The era of a connection with its revision; a server may name a modern revision even in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spoken {
    /// Each request contains everything that is needed to serve it.
    Modern(Revision),
    /// A session was opened, or is about to be.
    Legacy(Revision),
}

impl Spoken {
    pub(crate) fn is_modern(&self) -> bool {
        matches!(self, Self::Modern(_))
    }

    pub(crate) fn revision(&self) -> Revision {
        match self {
            Self::Modern(revision) | Self::Legacy(revision) => *revision,
        }
    }

    pub(crate) fn request(&self, id: &Value, method: &str, params: Value) -> Value {
        let params = self.with_meta(params);
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    pub(crate) fn notification(method: &str, params: Value) -> Value {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        message["params"] = params;
        message
    }

    fn with_meta(&self, mut params: Value) -> Value {
        if self.is_modern()
            && let Some(members) = params.as_object_mut()
        {
            members.entry("_meta").or_insert_with(|| self.meta());
        }
        params
    }

    /// The `_meta` of a modern request.
    pub(crate) fn meta(&self) -> Value {
        json!({
            key::PROTOCOL_VERSION: self.revision().as_str(),
            key::CLIENT_CAPABILITIES: {},
            key::CLIENT_INFO: client(),
        })
    }

    /// The params of `initialize`.
    pub(crate) fn initialize(version: &str) -> Value {
        json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client() })
    }
}

fn client() -> Value {
    json!({ "name": "turnbuckle-doctor", "version": env!("CARGO_PKG_VERSION") })
}
