//! Comments on a quiet stream, so that proxies do not close the connection.

use std::{
    future::Future as _,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep};
use turnbuckle_transport::{Held, http::sse};

use super::body::holding;

/// A timer that ends when a stream has been quiet for too long.
pub(super) struct KeepAlive {
    pause: Duration,
    quiet: Pin<Box<Sleep>>,
}

impl KeepAlive {
    pub(super) fn new(pause: Duration) -> Self {
        Self {
            pause,
            quiet: Box::pin(sleep(pause)),
        }
    }

    /// Returns the events as the next part of the stream, or a comment if there are no events and
    /// the stream has been quiet for too long. The timer restarts with each part. What is held is
    /// dropped when the part has been sent.
    pub(super) fn poll_piece(
        &mut self,
        context: &mut Context<'_>,
        mut events: Vec<u8>,
        held: Held,
    ) -> Poll<Option<Bytes>> {
        if events.is_empty() {
            if self.quiet.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            events.extend_from_slice(sse::KEEP_ALIVE);
        }
        self.quiet.as_mut().reset(Instant::now() + self.pause);
        // The timer was reset, so it must be polled to register the waker.
        let _ = self.quiet.as_mut().poll(context);
        Poll::Ready(Some(if held.is_empty() {
            events.into()
        } else {
            holding(events, held)
        }))
    }
}

/// Appends each line as an event.
pub(super) fn append_lines(lines: &[u8], events: &mut Vec<u8>) {
    let lines = lines.split(|byte| *byte == b'\n');
    for line in lines.filter(|line| !line.is_empty()) {
        sse::Frame::of(line).append_to(events);
    }
}
