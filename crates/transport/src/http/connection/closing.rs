//! The word to all connections that the server is stopping.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Said once, heard by every connection, those of later included.
#[derive(Debug, Default)]
pub(in crate::http) struct Closing {
    is_said: AtomicBool,
    notify: Notify,
}

impl Closing {
    pub(in crate::http) fn say(&self) {
        self.is_said.store(true, Ordering::SeqCst);
        self.notify.notify_waiters();
    }

    /// Whether it was said. Cheap enough to be asked at every turn, unlike a future.
    pub(super) fn is_said(&self) -> bool {
        self.is_said.load(Ordering::SeqCst)
    }

    /// Wakes who polls it when it is said. Ask [`is_said`](Self::is_said) after the first poll:
    /// it may have been said before.
    pub(super) fn notified(&self) -> Notified<'_> {
        self.notify.notified()
    }

    /// Waits until it is said.
    pub(super) async fn heard(&self) {
        let mut notified = std::pin::pin!(self.notified());
        notified.as_mut().enable();
        if !self.is_said() {
            notified.await;
        }
    }
}
