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
pub(crate) struct CancelFlag(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_set: AtomicBool,
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

    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(flag) = &self.0 {
            flag.set();
        }
    }
}
