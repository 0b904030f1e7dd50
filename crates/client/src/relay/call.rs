//! `RelayCall`: a relayed call in flight.

use std::{
    fmt,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::Id;

use crate::{
    link::Canceller,
    relayed::{RelayEvent, RelayQueue},
};

/// A relayed call, made by [`Connection::relay`](crate::Connection::relay). It is sent when
/// [`next`](Self::next) is first awaited, and over HTTP its stream is read while `next` is awaited.
///
/// It borrows nothing, so it can be kept while the server's questions are answered. Dropping it cancels
/// the call and tells the server.
#[must_use = "nothing is sent before its events are awaited"]
pub struct RelayCall {
    pub(super) id: Id,
    pub(super) queue: Arc<RelayQueue>,
    pub(super) canceller: Canceller,
    pub(super) state: RelayState,
}

pub(super) enum RelayState {
    Running(BoxFuture<'static, RelayEvent>),
    /// The last event, which is returned after all events that arrived before it.
    Ended(Box<RelayEvent>),
    Over,
}

impl RelayCall {
    /// Returns the id of the request.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Returns the next event, in the order of arrival. After a result, an error or
    /// [`RelayEvent::Lost`] there are no more events, and the future never completes.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> RelayEvent {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Polls for the next event, like [`next`](Self::next).
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<RelayEvent> {
        if let Poll::Ready(event) = self.queue.poll_next(context) {
            return Poll::Ready(event);
        }
        if let RelayState::Running(run) = &mut self.state {
            let Poll::Ready(end) = run.as_mut().poll(context) else {
                return self.queue.poll_next(context);
            };
            self.state = RelayState::Over;
            // Events that were received before the end are returned before it.
            if let Poll::Ready(event) = self.queue.poll_next(context) {
                self.state = RelayState::Ended(Box::new(end));
                return Poll::Ready(event);
            }
            return Poll::Ready(end);
        }
        match std::mem::replace(&mut self.state, RelayState::Over) {
            RelayState::Ended(end) => Poll::Ready(*end),
            other => {
                self.state = other;
                Poll::Pending
            }
        }
    }

    /// Cancels the call with this reason for the server. A modern server at a URL does not get the
    /// reason, because such a call is cancelled by closing its stream.
    pub fn cancel(self, reason: &str) {
        self.canceller.cancel(reason);
    }
}

impl fmt::Debug for RelayCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayCall")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
