//! `ChangeStream`: the stream of changes that applications read.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use tokio::task::AbortHandle;
use turnbuckle_protocol::SubscriptionFilter;

use super::subscriptions_listen::METHOD;
use crate::{
    error::CallError,
    link::Link,
    subscription::{self, Change, ChangeQueue, NextChange},
};

/// A stream of changes at a server. Made by [`Connection::listen`](crate::Connection::listen).
///
/// It stays open: when the connection breaks or a session ends, the subscription is opened again,
/// and a [`Change::Missed`] reports it. It ends when the server or the connection is gone for good;
/// the last item is the error.
///
/// Changes are queued while the reader is busy; repeated ones are queued once. If the queue
/// overflows, [`Change::Missed`] has the number of lost changes.
///
/// Dropping it ends the subscription at the server. It does not keep the connection open.
#[must_use = "dropping it ends the listening"]
pub struct ChangeStream {
    pub(super) link: Arc<Link>,
    pub(super) queue: Arc<ChangeQueue>,
    pub(super) wanted: SubscriptionFilter,
    /// Held for its drop.
    pub(super) _guard: SubscriptionGuard,
}

/// The subscription at the server. Dropping it ends it.
pub(super) enum SubscriptionGuard {
    /// A task that keeps a subscription open.
    Task(AbortHandle),
    /// Resources of the session, wanted by the listener of this number.
    Resources(Arc<Link>, u64, Vec<Arc<str>>),
}

impl ChangeStream {
    /// The next change; an error is the last item.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Change, CallError>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    /// The subscriptions that the server has acknowledged: all that were asked for, or the part
    /// that it supports. They may differ after the stream was opened again.
    pub fn acknowledged(&self) -> SubscriptionFilter {
        self.queue.granted()
    }

    /// The subscriptions that the server does not support: what was asked for and is not
    /// [acknowledged](Self::acknowledged). Look at such lists and resources from time to time.
    pub fn refused(&self) -> SubscriptionFilter {
        subscription::refused(&self.wanted, &self.queue.granted())
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Option<Result<Change, CallError>>> {
        Poll::Ready(match ready!(self.queue.poll(context)) {
            NextChange::Change(change) => Some(Ok(change)),
            NextChange::Failed(error) => Some(Err(error)),
            NextChange::Closed => Some(Err(self.link.closed(METHOD))),
            NextChange::Over => None,
        })
    }
}

impl Stream for ChangeStream {
    type Item = Result<Change, CallError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(context)
    }
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        match self {
            Self::Task(task) => task.abort(),
            Self::Resources(link, listener, resources) => {
                for uri in resources {
                    link.desired.release(uri, *listener);
                }
            }
        }
    }
}

impl fmt::Debug for ChangeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeStream")
            .field("server", self.link.server())
            .field("acknowledged", &self.acknowledged())
            .finish_non_exhaustive()
    }
}
