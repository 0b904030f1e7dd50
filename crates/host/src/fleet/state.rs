//! The states of a server, and the stream of them.

use std::{sync::Arc, time::Duration};

use tokio::sync::broadcast;
use turnbuckle_protocol::{Implementation, Revision, ServerCapabilities};

use super::Failure;
use crate::id::ServerId;

/// How many changes of state wait for one reader. Each server changes a few times a minute at most.
pub(crate) const MAX_WAITING_STATES: usize = 1024;

/// The state of a server. [`Host::state`](crate::Host::state) returns it,
/// [`Host::states`](crate::Host::states) reports changes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerState {
    /// It is started when it is first needed.
    Idle,
    /// The file has it switched off.
    Disabled,
    /// It is being started or connected to.
    Starting,
    /// It answers.
    Ready(Arc<Ready>),
    /// It failed and is started again after a pause.
    Restarting {
        /// Why it failed.
        failure: Arc<Failure>,
        /// The pause.
        pause: Duration,
    },
    /// It failed. With a pause it is tried again after that; without one, when it is needed.
    Failed {
        /// Why.
        failure: Arc<Failure>,
        /// When it is tried again by itself.
        retry_after: Option<Duration>,
    },
    /// It was removed from the host.
    Removed,
}

impl ServerState {
    /// Whether the server is connected and answers requests.
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Ready(_))
    }

    /// Whether nothing will happen until the server is needed, a long pause is over or the config
    /// changes.
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting | Self::Restarting { .. })
    }

    /// The last failure, while the server is being restarted or has failed.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Restarting { failure, .. } | Self::Failed { failure, .. } => Some(failure),
            _ => None,
        }
    }
}

/// What a server told about itself when the connection was opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ready {
    /// The revision that is spoken.
    pub revision: Revision,
    /// Its capabilities.
    pub capabilities: Option<ServerCapabilities>,
    /// Its description of itself. It is text for people; the server is identified by its id.
    pub implementation: Option<Implementation>,
    /// How it wants to be used, for a model to read.
    pub instructions: Option<String>,
}

/// A change of a server's state, from a [`StateStream`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StateChange {
    /// A server and its new state.
    State(ServerId, ServerState),
    /// So many changes were lost, because this stream was not read. [`Host::servers`](crate::Host::servers)
    /// has the states as they are now.
    Missed(u64),
}

/// A stream of state changes of all servers, beginning when it was made. Made by
/// [`Host::states`](crate::Host::states).
#[derive(Debug)]
pub struct StateStream {
    receiver: broadcast::Receiver<(ServerId, ServerState)>,
}

impl StateStream {
    pub(crate) fn new(receiver: broadcast::Receiver<(ServerId, ServerState)>) -> Self {
        Self { receiver }
    }

    /// The next change; `None` when the host is gone.
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
