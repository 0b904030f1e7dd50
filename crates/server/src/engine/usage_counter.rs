//! A limited amount: how much is in use, and who waits for the rest.
//!
//! The order of operations matters here, so `loom/` explores all orders in which threads can run this file.

use std::{
    fmt,
    sync::atomic::Ordering,
    task::{Context, Poll, Waker},
};

use super::sync::{AtomicUsize, Mutex};

/// How much is in use, and the waiters. All atomic operations are relaxed, because the lock of the
/// waiters provides the order that matters.
pub(super) struct UsageCounter {
    used: AtomicUsize,
    /// The wakers of those who wait until something is given back.
    waiting: Mutex<Vec<Waker>>,
}

impl UsageCounter {
    pub(super) fn new() -> Self {
        Self {
            used: AtomicUsize::new(0),
            waiting: Mutex::new(Vec::new()),
        }
    }

    /// Returns how much is in use.
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes this amount, and returns how much is in use now. Returns `None` and takes nothing if
    /// that would exceed the limit. Then [`wake_waiting`](Self::wake_waiting) must be called,
    /// because a waiter may have checked while the sum was too high for a moment.
    pub(super) fn take(&self, amount: usize, limit: usize) -> Option<usize> {
        let before = self.used.fetch_add(amount, Ordering::Relaxed);
        let used = before.saturating_add(amount);
        if used <= limit {
            return Some(used);
        }
        self.give_back(amount);
        None
    }

    /// Gives back this amount. Call [`wake_waiting`](Self::wake_waiting) after it if another task
    /// may wait for it.
    pub(super) fn give_back(&self, amount: usize) {
        self.used.fetch_sub(amount, Ordering::Relaxed);
    }

    /// Wakes all waiters, so that they check again.
    pub(super) fn wake_waiting(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ready when there is room. Otherwise the task of this context is woken when it should check
    /// again.
    pub(super) fn poll(&self, context: &Context<'_>, has_room: impl Fn() -> bool) -> Poll<()> {
        if has_room() {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting.lock();
        let is_known = |known: &Waker| known.will_wake(context.waker());
        if !waiting.iter().any(is_known) {
            waiting.push(context.waker().clone());
        }
        drop(waiting);
        // Room may have been given back before the waker was registered.
        if has_room() {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.waiting.lock().len()
    }
}

impl fmt::Debug for UsageCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsageCounter")
            .field("used", &self.used())
            .finish_non_exhaustive()
    }
}
