//! The lifecycle of one legacy session on the server's side: which messages may be served and sent,
//! from the first byte to `notifications/initialized` and after.
//!
//! A session is only its [`Phase`]: it can be stored and moved to another machine, and takes no more
//! memory than the client's description of itself. The server stores log levels, roots and
//! subscriptions elsewhere.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use turnbuckle_protocol::{Revision, error::code};

use crate::negotiate::{dates, negotiate};

/// The phase of the handshake. `C` is the data that the server keeps about the client: its capabilities
/// and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase<C> {
    /// No message has come yet. The client may be of either era.
    #[default]
    Fresh,
    /// `initialize` was answered; `notifications/initialized` has not come yet.
    Initializing {
        /// The negotiated revision.
        revision: Revision,
        /// The client's description of itself.
        client: C,
    },
    /// `notifications/initialized` has come.
    Ready {
        /// The negotiated revision.
        revision: Revision,
        /// The client's description of itself.
        client: C,
    },
}

/// What to do with an `initialize` in a session that already had one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reinitialize {
    /// Refuse it and keep the session unchanged.
    #[default]
    Refuse,
    /// Start over with the new client. Use this for pipes whose other end may be replaced (a proxy that
    /// restarts, a debugger that reconnects).
    Replace,
}

/// Why the server sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It belongs to a request of the client that is in progress.
    Exchange,
    /// The server sends it on its own initiative.
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
    /// Creates a session before its first message. It allows one handshake.
    pub const fn new() -> Self {
        Self {
            phase: Phase::Fresh,
            reinitialize: Reinitialize::Refuse,
        }
    }

    /// Creates a session whose handshake took place elsewhere and is complete.
    pub const fn opened(revision: Revision, client: C) -> Self {
        Self {
            phase: Phase::Ready { revision, client },
            reinitialize: Reinitialize::Refuse,
        }
    }

    /// Sets the effect of a second `initialize`.
    pub fn with_reinitialize(self, reinitialize: Reinitialize) -> Self {
        Self {
            reinitialize,
            ..self
        }
    }

    /// Returns the phase of the handshake.
    pub const fn phase(&self) -> &Phase<C> {
        &self.phase
    }

    /// Returns the revision of the session, once it is negotiated.
    pub const fn revision(&self) -> Option<Revision> {
        match &self.phase {
            Phase::Fresh => None,
            Phase::Initializing { revision, .. } | Phase::Ready { revision, .. } => Some(*revision),
        }
    }

    /// Returns the client's description of itself, once it is known.
    pub const fn client(&self) -> Option<&C> {
        match &self.phase {
            Phase::Fresh => None,
            Phase::Initializing { client, .. } | Phase::Ready { client, .. } => Some(client),
        }
    }

    /// Handles an `initialize` request and returns the revision for the answer.
    ///
    /// # Errors
    /// [`NotAdmitted`] if the session already had its handshake (and [`Reinitialize`] does not allow
    /// another), or if no revision in `supported` has a handshake. The session is then unchanged.
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

    /// Handles `notifications/initialized`. Before the handshake, or a second time, it is ignored.
    pub fn initialized(&mut self) {
        self.phase = match std::mem::take(&mut self.phase) {
            Phase::Initializing { revision, client } => Phase::Ready { revision, client },
            phase => phase,
        };
    }

    /// Checks whether a legacy request other than `initialize` may be served now, and returns the
    /// revision.
    ///
    /// Requests are served once `initialize` was answered. A client should wait longer, but that rule
    /// is for the client, and there are clients that never send `notifications/initialized`. `ping` is
    /// always answered; before the handshake the returned revision is `None`.
    ///
    /// # Errors
    /// [`NotAdmitted::Uninitialized`] for any method except `ping` before the handshake.
    pub fn admit(&self, method: &str) -> Result<Option<Revision>, NotAdmitted> {
        match self.revision() {
            None if method != "ping" => Err(NotAdmitted::Uninitialized {
                method: method.chars().take(METHOD_SHOWN).collect(),
            }),
            revision => Ok(revision),
        }
    }

    /// Returns whether the server may send this request or notification now.
    ///
    /// Until the client is ready, only `ping` and log messages may be sent unprompted. Messages that
    /// belong to a request of the client (its progress, its questions) may be sent as soon as that
    /// request may be served: a client that sends requests can receive requests.
    ///
    /// Before the handshake nothing is sent, not even `ping`: the client may be a modern one, which
    /// must never receive a request.
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

/// How many characters of a method name an error repeats, so that the peer cannot make the error long.
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
        /// The method of the request, shortened if it is very long.
        method: String,
    },
    /// The session already had its handshake.
    #[error(
        "this session is already initialized at {revision}: continue without `initialize`, or open \
         a new session"
    )]
    AlreadyInitialized {
        /// The revision of the session.
        revision: Revision,
    },
    /// The server supports only modern revisions.
    #[error(
        "this server does not support `initialize`: send requests without it, each with a \
         supported version in its `_meta`: {}",
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
    /// Returns the JSON-RPC error code for the answer.
    pub const fn code(&self) -> i64 {
        match self {
            Self::Uninitialized { .. } | Self::AlreadyInitialized { .. } => code::INVALID_REQUEST,
            // versioning does not define the code; this one tells a client of both eras that the server
            // is modern.
            Self::NoHandshake { .. } => code::UNSUPPORTED_PROTOCOL_VERSION,
        }
    }

    /// Returns the `data` of the JSON-RPC error for the answer.
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
