//! The states of a server, and the stream of them.

use std::{sync::Arc, time::Duration};

use tokio::sync::broadcast;
use turnbuckle_protocol::{Implementation, Revision, ServerCapabilities};

use super::ServerFailure;
use crate::id::ServerId;

/// How many state changes are queued for one reader. Each server changes a few times a minute at most.
pub(crate) const MAX_WAITING_STATES: usize = 1024;

/// The state of a server. [`Host::state`](crate::Host::state) returns it,
/// [`Host::states`](crate::Host::states) reports changes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerState {
    /// The server is not running, and is started when it is next needed. Only servers with
    /// [`Start::OnDemand`](crate::Start::OnDemand) are idle.
    Idle,
    /// The server is disabled, by its file or by [`ServerSpec::disabled`](crate::ServerSpec::disabled).
    Disabled,
    /// The server is being started or connected to, its lists are being read, or the user is asked
    /// whether it may start.
    Starting,
    /// The server answers, and its lists have been read.
    Ready(Arc<Ready>),
    /// The server failed and is restarted after a pause. A server that is started on demand becomes
    /// idle instead, unless it is needed. Calls wait for the restart.
    Restarting {
        /// Why it failed.
        failure: Arc<ServerFailure>,
        /// The pause.
        pause: Duration,
    },
    /// The server failed. With `retry_after` it rests, and the host retries after that time; calls
    /// fail at once meanwhile. Without `retry_after` the host retries when the server is needed,
    /// unless it is [misconfigured](crate::FailureKind::Misconfigured).
    Failed {
        /// The reason.
        failure: Arc<ServerFailure>,
        /// When the host retries by itself, counted from the moment of the failure.
        retry_after: Option<Duration>,
    },
    /// The server was removed from the host, or the host is closed.
    Removed,
}

impl ServerState {
    /// Whether the server is connected and answers requests. Calls do not need this check: they
    /// start the server or wait for it.
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Ready(_))
    }

    /// Whether the state stays the same until the server is needed, a long pause is over or the
    /// config changes.
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting | Self::Restarting { .. })
    }

    /// The last failure, while the server is being restarted or has failed. `None` in all other
    /// states.
    pub fn failure(&self) -> Option<&ServerFailure> {
        match self {
            Self::Restarting { failure, .. } | Self::Failed { failure, .. } => Some(failure),
            _ => None,
        }
    }
}

/// What a server told about itself when the connection was opened. Everything here is the server's
/// own claim.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ready {
    /// The protocol revision of the connection.
    pub revision: Revision,
    /// Its capabilities; `None` if it did not declare them.
    pub capabilities: Option<ServerCapabilities>,
    /// Its description of itself. It is text for people; identify the server by its id.
    pub implementation: Option<Implementation>,
    /// Its instructions for use, written for a model. Put them into the system prompt only if you
    /// trust the server.
    pub instructions: Option<String>,
}

/// A change of a server's state, from a [`StateStream`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StateChange {
    /// A server and its new state. States that lasted only briefly are reported too, in order.
    State(ServerId, ServerState),
    /// This many changes were lost, because the stream was not read.
    /// [`Host::servers`](crate::Host::servers) returns the current states.
    Missed(u64),
}

/// A stream of the state changes of all servers, from the moment it was made.
/// [`Host::states`](crate::Host::states) returns it. Each reader has its own queue; a reader that
/// does not keep up gets [`StateChange::Missed`].
#[derive(Debug)]
pub struct StateStream {
    receiver: broadcast::Receiver<(ServerId, ServerState)>,
}

impl StateStream {
    pub(crate) fn new(receiver: broadcast::Receiver<(ServerId, ServerState)>) -> Self {
        Self { receiver }
    }

    /// Returns the next change, or `None` when the host is gone.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<StateChange> {
        match self.receiver.recv().await {
            Ok((server, state)) => Some(StateChange::State(server, state)),
            Err(broadcast::error::RecvError::Lagged(count)) => Some(StateChange::Missed(count)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
