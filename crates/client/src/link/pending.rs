//! The requests of one connection that wait for their answers, and the timer that ends the wait.

use std::time::Instant;

use tokio::sync::Notify;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{Id, IdRef, ProgressNotificationParams};
use turnbuckle_session::{
    RequestTable,
    requests::{Deadline, Expired, Progressed},
};

#[cfg(feature = "http")]
use super::race::First;
use super::{
    clock::Clock,
    race::race,
    slot::{Filler, Outcome},
};

/// Why a request was not entered.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Nothing is sent on this connection any more.
    Closed,
    /// This many wait already.
    Full(usize),
}

/// The requests that wait.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    inner: Mutex<Inner>,
    /// Tells the timer that something is due earlier than it sleeps.
    sooner: Notify,
    /// Tells others that the clock goes again.
    released: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    table: RequestTable<Filler>,
    clock: Clock,
    /// When the timer wakes by itself, on the table's clock. It is left where it is when requests
    /// finish, so that in the common case a call neither sets nor wakes a timer.
    wakes_at: Option<Instant>,
    is_closed: bool,
}

/// The clock of the connection is held for as long as this lives.
#[derive(Debug)]
pub(crate) struct Held<'a>(&'a Pending);

impl Pending {
    /// Enters a request and gives its id.
    pub(crate) fn enter(&self, filler: Filler, deadline: Deadline) -> Result<Id, Refused> {
        let mut inner = self.inner.lock();
        if inner.is_closed {
            return Err(Refused::Closed);
        }
        let now = inner.clock.at(wall());
        let id = match inner.table.insert(filler, deadline, now) {
            Ok(id) => id,
            Err(full) => return Err(Refused::Full(full.limit)),
        };
        let due = inner.table.next_deadline();
        let is_sooner = due.is_some_and(|due| inner.wakes_at.is_none_or(|at| due < at));
        if is_sooner {
            inner.wakes_at = due;
            drop(inner);
            self.sooner.notify_one();
        }
        Ok(id)
    }

    /// Takes out the request an answer is for; `None` if none waits for it.
    pub(crate) fn complete(&self, id: &IdRef<'_>) -> Option<Filler> {
        self.inner.lock().table.complete(id)
    }

    /// Whether a request waits for an answer under this id.
    #[cfg(feature = "http")]
    pub(crate) fn is_waiting(&self, id: &IdRef<'_>) -> bool {
        self.inner.lock().table.contains(id)
    }

    /// Takes out a request that nobody waits for any longer, and says whether it was still there.
    pub(crate) fn withdraw(&self, id: &IdRef<'_>) -> bool {
        self.inner.lock().table.cancel(id).is_some()
    }

    /// Hands a progress report to the call it is for.
    pub(crate) fn progress(&self, report: ProgressNotificationParams) {
        let mut inner = self.inner.lock();
        let now = inner.clock.at(wall());
        let token = report.progress_token.0.clone();
        match inner.table.progress(&token.as_ref(), report.progress, now) {
            Progressed::News(filler) => filler.progress(report),
            // progress: reports for what is done, and ones that do not grow, are dropped.
            Progressed::Stale | Progressed::Unknown => {}
        }
    }

    /// Stops the clock while the server waits for us.
    pub(crate) fn hold(&self) -> Held<'_> {
        self.inner.lock().clock.hold(wall());
        Held(self)
    }

    /// The time on the connection's clock.
    pub(crate) fn now(&self) -> Instant {
        self.inner.lock().clock.at(wall())
    }

    /// Waits until the connection's clock shows this time.
    pub(crate) async fn sleep_until(&self, time: Instant) {
        loop {
            let released = self.released.notified();
            let due = self.inner.lock().clock.wall(time);
            match due {
                Some(at) if at <= wall() => return,
                // It may be held while this sleeps, so it is looked at again.
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => released.await,
            }
        }
    }

    /// Gives something this long, by the connection's clock; `None` if that was not enough.
    #[cfg(feature = "http")]
    pub(crate) async fn within<F: Future>(
        &self,
        time: std::time::Duration,
        work: F,
    ) -> Option<F::Output> {
        match race(work, self.sleep_until(self.now() + time)).await {
            First::Left(output) => Some(output),
            First::Right(()) => None,
        }
    }

    /// Takes no more requests; those that wait learn that the connection is closed.
    pub(crate) fn close(&self) {
        let mut inner = self.inner.lock();
        inner.is_closed = true;
        let waiting: Vec<_> = inner.table.drain().collect();
        drop(inner);
        // A filler that is dropped says so to its slot, and wakes a task: not under the lock.
        drop(waiting);
    }

    /// Ends the wait of requests whose time is up, for as long as it is polled.
    pub(crate) async fn keep_time(&self) {
        loop {
            match self.expire() {
                Some(at) => {
                    race(tokio::time::sleep_until(at.into()), self.sooner.notified()).await;
                }
                None => self.sooner.notified().await,
            }
        }
    }

    /// Ends what is due and says when to look again.
    fn expire(&self) -> Option<Instant> {
        let mut inner = self.inner.lock();
        let now = inner.clock.at(wall());
        let expired: Vec<Expired<Filler>> = inner.table.expire(now).collect();
        inner.wakes_at = inner.table.next_deadline();
        let next = inner.wakes_at.and_then(|at| inner.clock.wall(at));
        drop(inner);
        for Expired {
            payload, overdue, ..
        } in expired
        {
            payload.fill(Outcome::Overdue(overdue));
        }
        next
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.inner.lock().clock.release(wall());
        self.0.sooner.notify_one();
        self.0.released.notify_waiters();
    }
}

/// The time by the runtime's clock, which tests can stop.
fn wall() -> Instant {
    tokio::time::Instant::now().into_std()
}
