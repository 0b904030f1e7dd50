//! The cancellation of a call, as the handler sees it.
//!
//! A cancelled call is dropped, and most handlers need nothing more.
//! [`Cancelled`](crate::Cancelled) is for work that does not stop when the handler is dropped, such
//! as a blocking thread or a remote job.

use std::{
    cell::RefCell,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

#[derive(Clone, Debug, Default)]
pub(crate) struct CancelFlag(Arc<FlagState>);

#[derive(Debug, Default)]
struct FlagState {
    is_set: AtomicBool,
    /// The call has ended without being cancelled.
    is_done: AtomicBool,
    changed: Notify,
    reason: OnceLock<Arc<str>>,
}

thread_local! {
    /// The reason for the cancellation of the future that is being dropped on this thread.
    static DROPPED_BECAUSE: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

impl CancelFlag {
    /// Sets the flag, with the reason that the client gave.
    pub(crate) fn set_because(&self, reason: Option<&str>) {
        if let Some(reason) = reason {
            let _ = self.0.reason.set(reason.into());
        }
        self.set();
    }

    /// The reason that the client gave.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.0.reason.get().map(AsRef::as_ref)
    }

    /// Drops what this flag cancelled. Flags that are set by this drop get the same reason.
    pub(crate) fn drop_cancelled<T>(&self, cancelled: T) {
        let reason = self.0.reason.get().cloned();
        let before = DROPPED_BECAUSE.replace(reason);
        drop(cancelled);
        DROPPED_BECAUSE.set(before);
    }

    /// The reason for the cancellation of the future that is being dropped on this thread, if the
    /// client gave one.
    pub(crate) fn dropped_because() -> Option<Arc<str>> {
        DROPPED_BECAUSE.with_borrow(Clone::clone)
    }

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

/// Sets the flag if the exchange is dropped before its end.
pub(crate) struct CancelOnDrop(Option<CancelFlag>);

impl CancelOnDrop {
    pub(crate) fn new(flag: Option<CancelFlag>) -> Self {
        Self(flag)
    }

    /// Marks that the exchange has ended, so that dropping it does not cancel.
    pub(crate) fn disarm(mut self) {
        if let Some(flag) = self.0.take() {
            flag.0.is_done.store(true, Ordering::Release);
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(flag) = &self.0 {
            let reason = CancelFlag::dropped_because();
            flag.set_because(reason.as_deref());
        }
    }
}
