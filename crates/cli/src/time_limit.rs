//! The time limit of a command. The clock is paused while the user answers a question.

use std::{
    cell::Cell,
    future::Future,
    rc::Rc,
    time::{Duration, Instant},
};

use tokio::sync::Notify;

/// A time limit that can be paused. Clones share the same clock.
#[derive(Clone)]
pub(crate) struct TimeLimit(Rc<Clock>);

struct Clock {
    /// When the time runs out; `None` if that is later than the clock can represent.
    due: Cell<Option<Instant>>,
    stopped: Cell<Option<Instant>>,
    changed: Notify,
}

impl TimeLimit {
    pub(crate) fn new(limit: Duration) -> Self {
        Self(Rc::new(Clock {
            due: Cell::new(Instant::now().checked_add(limit)),
            stopped: Cell::new(None),
            changed: Notify::new(),
        }))
    }

    /// Pauses the clock while waiting for the user.
    pub(crate) async fn stopped<T>(&self, wait: impl Future<Output = T>) -> T {
        self.0.stopped.set(Some(Instant::now()));
        self.0.changed.notify_one();
        let outcome = wait.await;
        if let (Some(since), Some(due)) = (self.0.stopped.take(), self.0.due.get()) {
            self.0.due.set(due.checked_add(since.elapsed()));
        }
        self.0.changed.notify_one();
        outcome
    }

    /// Ready when the time has run out.
    pub(crate) async fn exhausted(&self) {
        loop {
            let (None, Some(due)) = (self.0.stopped.get(), self.0.due.get()) else {
                self.0.changed.notified().await;
                continue;
            };
            tokio::select! {
                () = tokio::time::sleep_until(due.into()) => return,
                () = self.0.changed.notified() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_time_of_a_person_does_not_count() {
        let limit = TimeLimit::new(Duration::from_millis(40));
        let started = Instant::now();
        let person = limit.stopped(tokio::time::sleep(Duration::from_millis(80)));
        tokio::select! {
            () = limit.exhausted() => panic!("it ran out while the user was asked"),
            () = person => {}
        }
        limit.exhausted().await;
        assert!(started.elapsed() >= Duration::from_millis(119));
    }

    #[tokio::test]
    async fn a_time_beyond_the_clock_never_runs_out() {
        let limit = TimeLimit::new(Duration::MAX);
        let soon = Duration::from_millis(10);
        let waited = tokio::time::timeout(soon, limit.exhausted()).await;
        assert!(waited.is_err());
    }
}
