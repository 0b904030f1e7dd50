//! `HostError`: why the host could not do what it was asked to do.

use std::sync::Arc;

use turnbuckle_client::CallError;

use crate::{
    consent::{ActionKind, Denied},
    fleet::ServerFailure,
    id::ServerId,
};

/// Why a host could not do what it was asked to do.
///
/// Match on the variant to decide what to do next: correct a name ([`Unknown`](Self::Unknown),
/// [`NoOwner`](Self::NoOwner), [`NoServer`](Self::NoServer)), change the policy
/// ([`Denied`](Self::Denied)), wait for or repair a server ([`Unavailable`](Self::Unavailable)), or
/// look at what happened to the request ([`Call`](Self::Call)). Nothing was sent to a server unless
/// it is `Call`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// No server has a tool or prompt of this name. Look at the [catalog](crate::Host::catalog), or
    /// use the name in `nearest`.
    #[error("no server has a {kind} `{name}`{}", near(.nearest.as_deref()))]
    Unknown {
        /// `tool` or `prompt`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The most similar known name, if one is similar enough.
        nearest: Option<String>,
    },
    /// No server is known to have this resource. Name the server, with
    /// [`Host::read_from`](crate::Host::read_from).
    #[error("no server is known to have the resource `{uri}`")]
    NoOwner {
        /// Its URI.
        uri: String,
    },
    /// The host has no server with this id. [`Host::servers`](crate::Host::servers) lists its servers.
    #[error("unknown server `{server}`")]
    NoServer {
        /// The id.
        server: ServerId,
    },
    /// The policy or the user does not allow the action; nothing was sent. The source says who denied it.
    #[error("`{action}` is not allowed for server `{server}`{}", about(.subject))]
    Denied {
        /// The server.
        server: ServerId,
        /// The action.
        action: ActionKind,
        /// The tool, resource or other subject, without secrets; empty if the action has no subject.
        subject: String,
        /// Who denied it, and why.
        #[source]
        source: Denied,
    },
    /// The server is not running and could not be started; nothing was sent. The source has the
    /// reason and the last lines of its standard error. While a server is paused after many
    /// failures, calls to it fail with this error at once.
    #[error("server `{server}` is not available")]
    Unavailable {
        /// The server.
        server: ServerId,
        /// The reason.
        #[source]
        source: Arc<ServerFailure>,
    },
    /// The call was made, or could not be sent, and has no result. [`CallError`] tells which: after
    /// [`CallError::Lost`] and [`CallError::Deadline`] the call may have had effects.
    #[error(transparent)]
    Call(#[from] CallError),
}

fn near(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; there is `{nearest}`"))
}

fn about(subject: &str) -> String {
    if subject.is_empty() {
        String::new()
    } else {
        format!(" (`{subject}`)")
    }
}
