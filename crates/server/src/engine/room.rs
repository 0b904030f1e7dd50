//! A limited amount that is in use, and the waiters for the rest of it.
//!
//! The order of operations matters here, so `loom/` explores all orders in which threads can run this file.

use std::{
    fmt,
    sync::atomic::Ordering,
    task::{Context, Poll, Waker},
};

use super::sync::{AtomicUsize, Mutex};

/// What is in use, and who waits. Everything is relaxed: the lock of those who wait orders what matters.
pub(super) struct Room {
    used: AtomicUsize,
    /// Those who wait until something was given back.
    waiting: Mutex<Vec<Waker>>,
}

impl Room {
    pub(super) fn new() -> Self {
        Self {
            used: AtomicUsize::new(0),
            waiting: Mutex::new(Vec::new()),
        }
    }

    /// How much is in use.
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes this much, and returns how much is in use now. `None` if that were more than the limit: nothing
    /// is taken then, and [`wake_waiting`](Self::wake_waiting) must be called, because somebody may have looked
    /// at the sum for the moment that it was too large.
    pub(super) fn take(&self, amount: usize, limit: usize) -> Option<usize> {
        let before = self.used.fetch_add(amount, Ordering::Relaxed);
        let used = before.saturating_add(amount);
        if used <= limit {
            return Some(used);
        }
        self.give_back(amount);
        None
    }

    /// Gives back what was taken. Call [`wake_waiting`](Self::wake_waiting) after it if somebody may wait for
    /// this.
    pub(super) fn give_back(&self, amount: usize) {
        self.used.fetch_sub(amount, Ordering::Relaxed);
    }

    /// Wakes all who wait, so that they look again.
    pub(super) fn wake_waiting(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ready when there is room. Otherwise the task of this context is woken when it should look again.
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
        // What was given back meanwhile woke no one.
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

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room")
            .field("used", &self.used())
            .finish_non_exhaustive()
    }
}
