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
/// The stream stays open: when the connection breaks or a session ends, the subscription is opened
/// again, and the stream yields a [`Change::Missed`]. The stream ends when the server or the connection
/// is gone for good; the last item is the error.
///
/// Changes are queued until they are read; repeated changes are queued once. If the queue overflows,
/// [`Change::Missed`] contains the number of lost changes.
///
/// Dropping the stream ends the subscription at the server. The stream does not keep the connection
/// open.
#[must_use = "dropping it ends the listening"]
pub struct ChangeStream {
    pub(super) link: Arc<Link>,
    pub(super) queue: Arc<ChangeQueue>,
    pub(super) wanted: SubscriptionFilter,
    /// Held to be dropped.
    pub(super) _guard: SubscriptionGuard,
}

/// A subscription at the server. Dropping it ends the subscription.
pub(super) enum SubscriptionGuard {
    /// A task that keeps a subscription open.
    Task(AbortHandle),
    /// Resources of the session, wanted by the listener with this number.
    Resources(Arc<Link>, u64, Vec<Arc<str>>),
}

impl ChangeStream {
    /// Returns the next change; an error is the last item. `None` after the end of the stream.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Change, CallError>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    /// Returns the subscriptions that the server has acknowledged: all that were requested, or the part
    /// that it supports. They may differ after the stream was opened again.
    pub fn acknowledged(&self) -> SubscriptionFilter {
        self.queue.granted()
    }

    /// Returns the subscriptions that the server does not support: those that were requested but not
    /// [acknowledged](Self::acknowledged). Read such lists and resources again from time to time.
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
