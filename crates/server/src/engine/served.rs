//! The result of serving a request: answered, still running, or a subscription.

use std::sync::Arc;

use futures_core::future::BoxFuture;

use super::{listen::Subscription, sink::Response};
use crate::client::Peer;

/// How far a request has come after it was taken in.
pub(crate) enum Served {
    /// The response has been written.
    Done,
    /// The response comes later, as one whole message.
    Later(BoxFuture<'static, Response>),
    /// A subscription is open, and is told of changes until it ends.
    Listening(Box<Subscription>),
}

impl Served {
    /// The response that comes later, if it does. A subscription is told by lines.
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
