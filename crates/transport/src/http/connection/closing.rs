//! Notifies all connections that the server is stopping.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// A notification that is sent once and received by every connection, including later ones.
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

    /// Whether the server is stopping. This is cheap enough to be checked at every poll, unlike a
    /// future.
    pub(super) fn is_said(&self) -> bool {
        self.is_said.load(Ordering::SeqCst)
    }

    /// Returns a future that is woken when the server stops. Check [`is_said`](Self::is_said) after the
    /// first poll, because it may already be stopping.
    pub(super) fn notified(&self) -> Notified<'_> {
        self.notify.notified()
    }

    /// Waits until the server is stopping.
    pub(super) async fn heard(&self) {
        let mut notified = std::pin::pin!(self.notified());
        notified.as_mut().enable();
        if !self.is_said() {
            notified.await;
        }
    }
}
