//! The result of serving a request: answered, still running, or a subscription.

use std::sync::Arc;

use futures_core::future::BoxFuture;

use super::{listen::Subscription, sink::Response};
use crate::client::Peer;

/// How far the serving of a request has come.
pub(crate) enum Served {
    /// The response has been written.
    Done,
    /// The response follows later, as one complete message.
    Later(BoxFuture<'static, Response>),
    /// A subscription is open, and gets notifications until it ends.
    Listening(Box<Subscription>),
}

impl Served {
    /// Returns the response that follows later, if there is one. A subscription sends its
    /// notifications as lines.
    pub(crate) fn later(self, peer: &Arc<Peer>) -> Option<BoxFuture<'static, Response>> {
        match self {
            Self::Done => None,
            Self::Later(response) => Some(response),
            Self::Listening(subscription) => Some(subscription.on_lines(peer)),
        }
    }
}

impl From<Option<BoxFuture<'static, Response>>> for Served {
    fn from(later: Option<BoxFuture<'static, Response>>) -> Self {
        later.map_or(Self::Done, Self::Later)
    }
}
