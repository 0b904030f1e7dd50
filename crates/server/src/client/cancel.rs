//! Cancellation, seen from inside a handler.
//!
//! A cancelled call is dropped: most handlers need nothing more. [`Cancelled`](crate::Cancelled)
//! is for work that a drop does not reach, such as a blocking thread or a remote job.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

#[derive(Clone, Debug, Default)]
pub(crate) struct CancelFlag(Arc<FlagState>);

#[derive(Debug, Default)]
struct FlagState {
    is_set: AtomicBool,
    /// The call has ended by itself.
    is_done: AtomicBool,
    changed: Notify,
}

impl CancelFlag {
    pub(crate) fn set(&self) {
        self.0.is_set.store(true, Ordering::Release);
        self.0.changed.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Acquire)
    }

    /// Whether the call is neither cancelled nor done.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_set() && !self.0.is_done.load(Ordering::Acquire)
    }

    pub(crate) async fn wait(&self) {
        loop {
            let changed = self.0.changed.notified();
            if self.is_set() {
                return;
            }
            changed.await;
        }
    }
}

/// Sets the flag when the exchange is dropped before its end.
pub(crate) struct CancelOnDrop(Option<CancelFlag>);

impl CancelOnDrop {
    pub(crate) fn new(flag: Option<CancelFlag>) -> Self {
        Self(flag)
    }

    /// The exchange has come to its end.
    pub(crate) fn disarm(mut self) {
        if let Some(flag) = self.0.take() {
            flag.0.is_done.store(true, Ordering::Release);
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(flag) = &self.0 {
            flag.set();
        }
    }
}
