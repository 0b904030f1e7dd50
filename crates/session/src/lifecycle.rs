//! The life of one legacy session, seen from the server: what may be served and what may be sent,
//! from the first byte to `notifications/initialized` and after.
//!
//! A session is nothing but its [`Phase`]: it can be stored, moved to another machine, and costs
//! what the client's own data costs. Log levels, roots and subscriptions are the server's to keep.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use turnbuckle_protocol::{Revision, error::code};

use crate::negotiate::{dates, negotiate};

/// How far the handshake has come. `C` is what the server keeps of the client: its capabilities,
/// its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase<C> {
    /// Nothing yet. The client may be of either era.
    #[default]
    Fresh,
    /// `initialize` was answered; `notifications/initialized` has not come.
    Initializing {
        /// The revision answered.
        revision: Revision,
        /// The client's description of itself.
        client: C,
    },
    /// The client has said that it is ready.
    Ready {
        /// The revision answered.
        revision: Revision,
        /// The client's description of itself.
        client: C,
    },
}

/// What to do with an `initialize` in a session that already had one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reinitialize {
    /// Refuse it and leave the session as it is.
    #[default]
    Refuse,
    /// Start over with the new client, for pipes whose other end may be replaced (a proxy that
    /// restarts, a debugger that reconnects).
    Replace,
}

/// Why the server sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It belongs to a request of the client that is being served.
    Exchange,
    /// The server itself has something to say.
    Unprompted,
}

/// One legacy session on the server's side.
///
/// ```
/// use turnbuckle_protocol::{Revision, error::code};
/// use turnbuckle_session::{ServerLifecycle, lifecycle::Cause};
///
/// let mut session = ServerLifecycle::new();
/// assert!(session.admit("tools/list").is_err());
/// let revision = session.initialize("2025-06-18", Revision::ALL, "a client")?;
/// assert_eq!(revision, Revision::V2025_06_18);
/// assert!(!session.may_send("roots/list", Cause::Unprompted));
/// session.initialized();
/// assert!(session.may_send("roots/list", Cause::Unprompted));
/// # Ok::<(), turnbuckle_session::lifecycle::NotAdmitted>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerLifecycle<C> {
    phase: Phase<C>,
    reinitialize: Reinitialize,
}

impl<C> Default for ServerLifecycle<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C> ServerLifecycle<C> {
    /// A session before its first message, which takes one handshake.
    pub const fn new() -> Self {
        Self {
            phase: Phase::Fresh,
            reinitialize: Reinitialize::Refuse,
        }
    }

    /// A session whose handshake took place elsewhere, and whose client has said that it is ready.
    pub const fn opened(revision: Revision, client: C) -> Self {
        Self {
            phase: Phase::Ready { revision, client },
            reinitialize: Reinitialize::Refuse,
        }
    }

    /// Says what a second `initialize` does.
    pub fn with_reinitialize(self, reinitialize: Reinitialize) -> Self {
        Self {
            reinitialize,
            ..self
        }
    }

    /// How far the handshake has come.
    pub const fn phase(&self) -> &Phase<C> {
        &self.phase
    }

    /// The revision of the session, once there is one.
    pub const fn revision(&self) -> Option<Revision> {
        match &self.phase {
            Phase::Fresh => None,
            Phase::Initializing { revision, .. } | Phase::Ready { revision, .. } => Some(*revision),
        }
    }

    /// The client's description of itself, once it is known.
    pub const fn client(&self) -> Option<&C> {
        match &self.phase {
            Phase::Fresh => None,
            Phase::Initializing { client, .. } | Phase::Ready { client, .. } => Some(client),
        }
    }

    /// Takes an `initialize` request and gives the revision to answer.
    ///
    /// # Errors
    /// [`NotAdmitted`] if the session has had its handshake (and [`Reinitialize`] does not allow
    /// another), or if nothing in `supported` has a handshake at all. The session is unchanged.
    pub fn initialize(
        &mut self,
        requested: &str,
        supported: &[Revision],
        client: C,
    ) -> Result<Revision, NotAdmitted> {
        if let (Some(revision), Reinitialize::Refuse) = (self.revision(), self.reinitialize) {
            return Err(NotAdmitted::AlreadyInitialized { revision });
        }
        let revision = negotiate(requested, supported).ok_or_else(|| NotAdmitted::NoHandshake {
            supported: supported.to_vec(),
            requested: requested.to_owned(),
        })?;
        self.phase = Phase::Initializing { revision, client };
        Ok(revision)
    }

    /// Takes `notifications/initialized`. Before the handshake, or a second time, it means nothing.
    pub fn initialized(&mut self) {
        self.phase = match std::mem::take(&mut self.phase) {
            Phase::Initializing { revision, client } => Phase::Ready { revision, client },
            phase => phase,
        };
    }

    /// Whether a legacy request other than `initialize` may be served now, and at which revision.
    ///
    /// Requests are served from the `initialize` response on: the rule that a client waits with
    /// them is a rule for the client, and there are clients that never send
    /// `notifications/initialized`. `ping` is always answered; before the handshake its revision
    /// is `None`.
    ///
    /// # Errors
    /// [`NotAdmitted::Uninitialized`] for anything but `ping` before the handshake.
    pub fn admit(&self, method: &str) -> Result<Option<Revision>, NotAdmitted> {
        match self.revision() {
            None if method != "ping" => Err(NotAdmitted::Uninitialized {
                method: method.chars().take(METHOD_SHOWN).collect(),
            }),
            revision => Ok(revision),
        }
    }

    /// Whether the server may send this request or notification now.
    ///
    /// Until the client is ready only `ping` and log messages may go out unprompted. Messages that
    /// belong to a request of the client (its progress, its questions) may go out as soon as that
    /// request may be served: a client that asks can be asked back.
    ///
    /// Before the handshake nothing goes out, not even `ping`: the client may be a modern one,
    /// which must never be sent a request.
    pub fn may_send(&self, method: &str, cause: Cause) -> bool {
        match (&self.phase, cause) {
            (Phase::Fresh, _) => false,
            (Phase::Initializing { .. }, Cause::Unprompted) => {
                // lifecycle: before `initialized` the server SHOULD send only pings and logging.
                matches!(method, "ping" | "notifications/message")
            }
            (Phase::Initializing { .. }, Cause::Exchange) | (Phase::Ready { .. }, _) => true,
        }
    }
}

/// The characters of a method name that a refusal repeats, so that the peer cannot make it long.
/// Every name in the specification is shorter.
const METHOD_SHOWN: usize = 64;

/// Why a legacy message is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAdmitted {
    /// A request came before the handshake.
    #[error(
        "`{method}` came before `initialize`: send `initialize` first, or put \
         `io.modelcontextprotocol/protocolVersion` and `io.modelcontextprotocol/clientCapabilities` \
         into the request's `_meta`"
    )]
    Uninitialized {
        /// The method asked for, shortened if very long.
        method: String,
    },
    /// A second handshake in one session.
    #[error(
        "this session is already initialized at {revision}: go on without `initialize`, or open a \
         new session"
    )]
    AlreadyInitialized {
        /// The revision of the session.
        revision: Revision,
    },
    /// The server speaks modern revisions only.
    #[error(
        "this server takes no `initialize`: send each request on its own, at one of the supported \
         versions in its `_meta`: {}",
        dates(supported)
    )]
    NoHandshake {
        /// The revisions of the server.
        supported: Vec<Revision>,
        /// The version that the client requested.
        requested: String,
    },
}

impl NotAdmitted {
    /// The JSON-RPC error code to answer with.
    pub const fn code(&self) -> i64 {
        match self {
            Self::Uninitialized { .. } | Self::AlreadyInitialized { .. } => code::INVALID_REQUEST,
            // versioning leaves the code open; this one tells a client of both eras where it is.
            Self::NoHandshake { .. } => code::UNSUPPORTED_PROTOCOL_VERSION,
        }
    }

    /// The `data` of the JSON-RPC error to answer with.
    pub fn data(&self) -> Option<Value> {
        match self {
            Self::Uninitialized { .. } | Self::AlreadyInitialized { .. } => None,
            Self::NoHandshake {
                supported,
                requested,
            } => Some(json!({ "supported": supported, "requested": requested })),
        }
    }
}
