//! A modern `subscriptions/listen` as a stream: nothing but what the hub has for it.
//!
//! The stream itself is the listener. Nothing runs for it while nothing changes; a change wakes the
//! connection, which then takes what is due.

use std::{
    future::Future as _,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::Sleep;
use turnbuckle_transport::http::sse;

use super::{body::BodyKind, service::Site};
use crate::engine::Subscription;

pub(super) struct ListenBody {
    subscription: Subscription,
    keep_alive: Duration,
    quiet: Pin<Box<Sleep>>,
}

/// The answer to a listen request.
pub(super) fn kind(subscription: Subscription, site: &Arc<Site>) -> BodyKind {
    let keep_alive = site.settings.keep_alive;
    BodyKind::Listen(Box::new(ListenBody {
        subscription,
        keep_alive,
        quiet: Box::pin(tokio::time::sleep(keep_alive)),
    }))
}

impl ListenBody {
    pub(super) fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = Vec::new();
        let take = |message: &[u8]| sse::Frame::of(message).append_to(&mut events);
        match self.subscription.poll_messages(context, take) {
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(())) => {}
            Poll::Pending if self.quiet.as_mut().poll(context).is_pending() => {
                return Poll::Pending;
            }
            Poll::Pending => events.extend_from_slice(sse::KEEP_ALIVE),
        }
        let until = tokio::time::Instant::now() + self.keep_alive;
        self.quiet.as_mut().reset(until);
        // Whoever is given bytes comes back for more, and finds the timer then.
        Poll::Ready(Some(events.into()))
    }
}
