//! The answer to a modern `subscriptions/listen` as a stream of notifications.
//!
//! The stream itself is the listener. No code runs for it while nothing changes; a change wakes the
//! connection, which then takes the notifications that are due.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use turnbuckle_transport::{Held, http::sse};

use super::{
    body::{HttpBody, StreamBody},
    keep_alive::KeepAlive,
    site::Site,
};
use crate::engine::Subscription;

struct ListenBody {
    subscription: Subscription,
    keep_alive: KeepAlive,
}

/// Makes the answer to a `subscriptions/listen` request.
pub(super) fn stream(subscription: Subscription, site: &Arc<Site>) -> HttpBody {
    HttpBody::stream(ListenBody {
        subscription,
        keep_alive: KeepAlive::new(site.settings.keep_alive),
    })
}

impl StreamBody for ListenBody {
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = Vec::new();
        let take = |message: &[u8]| sse::Frame::of(message).append_to(&mut events);
        match self.subscription.poll_messages(context, take) {
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Ready(Some(())) | Poll::Pending => {
                self.keep_alive.poll_piece(context, events, Held::default())
            }
        }
    }
}
