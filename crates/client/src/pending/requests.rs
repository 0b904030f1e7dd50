//! The requests of one connection that wait for their answers, and the timer that ends the wait.

use std::{ops::Deref, sync::Arc, time::Instant};

use tokio::sync::Notify;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{Id, IdRef, ProgressNotificationParams};
use turnbuckle_session::{
    RequestTable,
    requests::{Deadline, Expired, Progressed},
};

use super::{
    clock::Clock,
    slot::{LateSlot, RequestOutcome, SlotSender},
};
#[cfg(feature = "http")]
use crate::future::First;
use crate::future::race;

/// Why a request was not entered.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The connection is closed.
    Closed,
    /// Too many requests wait: this many.
    Full(usize),
}

/// The requests that wait.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    timed: Mutex<TimedTable>,
    /// Tells the timer that something is due earlier than it sleeps.
    sooner: Notify,
    /// Tells others that the clock goes again.
    released: Notify,
    /// The tokens of calls that may have become tasks.
    late: Mutex<Vec<(Id, LateSlot)>>,
    /// Told about each answer that fits no request. Only the search for a server listens.
    stray: Notify,
}

#[derive(Debug, Default)]
struct TimedTable {
    table: RequestTable<SlotSender>,
    clock: Clock,
    /// When the timer wakes by itself, on the table's clock. It is left where it is when requests
    /// finish, so that in the common case a call neither sets nor wakes a timer.
    wakes_at: Option<Instant>,
    is_closed: bool,
}

/// The clock of the connection is held for as long as this lives.
#[derive(Debug)]
pub(crate) struct ClockHold<P: Deref<Target = PendingRequests>>(P);

impl PendingRequests {
    /// Enters a request and gives its id.
    pub(crate) fn enter(&self, filler: SlotSender, deadline: Deadline) -> Result<Id, Refused> {
        let mut timed = self.timed.lock();
        if timed.is_closed {
            return Err(Refused::Closed);
        }
        let now = timed.clock.at(wall());
        let id = match timed.table.insert(filler, deadline, now) {
            Ok(id) => id,
            Err(full) => return Err(Refused::Full(full.limit)),
        };
        let due = timed.table.next_deadline();
        let is_sooner = due.is_some_and(|due| timed.wakes_at.is_none_or(|at| due < at));
        if is_sooner {
            timed.wakes_at = due;
            drop(timed);
            self.sooner.notify_one();
        }
        Ok(id)
    }

    /// Takes out the request an answer is for; `None` if none waits for it.
    pub(crate) fn complete(&self, id: &IdRef<'_>) -> Option<SlotSender> {
        self.timed.lock().table.complete(id)
    }

    /// Takes note of an answer that fits no request.
    pub(crate) fn note_stray(&self) {
        self.stray.notify_one();
    }

    /// Waits for an answer that fits no request.
    pub(crate) async fn stray(&self) {
        self.stray.notified().await;
    }

    /// Whether a request waits for an answer under this id.
    #[cfg(feature = "http")]
    pub(crate) fn is_waiting(&self, id: &IdRef<'_>) -> bool {
        self.timed.lock().table.contains(id)
    }

    /// Removes a request whose answer is no longer wanted, and returns whether it was still there.
    pub(crate) fn withdraw(&self, id: &IdRef<'_>) -> bool {
        self.timed.lock().table.cancel(id).is_some()
    }

    /// Hands a progress report to the call it is for. Says whether a call waits for it.
    pub(crate) fn progress(&self, report: ProgressNotificationParams) -> bool {
        let mut timed = self.timed.lock();
        let now = timed.clock.at(wall());
        let token = report.progress_token.0.clone();
        match timed.table.progress(&token.as_ref(), report.progress, now) {
            Progressed::News(filler) => {
                filler.progress(report);
                true
            }
            Progressed::Unknown => {
                drop(timed);
                self.progress_of_task(&token, report);
                false
            }
            // progress: reports that do not grow are dropped.
            Progressed::Stale => false,
        }
    }

    /// Takes a report on what is done: only a task has any.
    fn progress_of_task(&self, token: &Id, report: ProgressNotificationParams) {
        let late = self.late.lock();
        if let Some((_, slot)) = late.iter().find(|(known, _)| known == token) {
            slot.push(report);
        }
    }

    /// Takes reports for this token also when its request has been answered.
    pub(crate) fn keep_token(&self, token: Id, slot: LateSlot) {
        self.late.lock().push((token, slot));
    }

    /// No reports are wanted for this token any more.
    pub(crate) fn drop_token(&self, token: &Id) {
        self.late.lock().retain(|(known, _)| known != token);
    }

    /// Stops the clock while the server waits for us.
    pub(crate) fn hold(&self) -> ClockHold<&Self> {
        self.timed.lock().clock.hold(wall());
        ClockHold(self)
    }

    /// The same for what outlives a borrow.
    pub(crate) fn hold_shared(self: &Arc<Self>) -> ClockHold<Arc<Self>> {
        self.timed.lock().clock.hold(wall());
        ClockHold(self.clone())
    }

    /// The time on the connection's clock.
    pub(crate) fn now(&self) -> Instant {
        self.timed.lock().clock.at(wall())
    }

    /// Waits until the connection's clock shows this time.
    pub(crate) async fn sleep_until(&self, time: Instant) {
        loop {
            let released = self.released.notified();
            let due = self.timed.lock().clock.wall(time);
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
        let mut timed = self.timed.lock();
        timed.is_closed = true;
        let waiting: Vec<_> = timed.table.drain().collect();
        drop(timed);
        // A filler that is dropped says so to its slot, and wakes a task: not under the lock.
        drop(waiting);
    }

    /// Ends the wait of all requests, whose session is over.
    #[cfg(feature = "http")]
    pub(crate) fn end_session(&self, reason: &'static str) {
        let waiting: Vec<_> = self.timed.lock().table.drain().collect();
        for (_, filler) in waiting {
            filler.fill(RequestOutcome::SessionOver(reason));
        }
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
        let mut timed = self.timed.lock();
        let now = timed.clock.at(wall());
        let expired: Vec<Expired<SlotSender>> = timed.table.expire(now).collect();
        timed.wakes_at = timed.table.next_deadline();
        let next = timed.wakes_at.and_then(|at| timed.clock.wall(at));
        drop(timed);
        for Expired {
            payload, overdue, ..
        } in expired
        {
            payload.fill(RequestOutcome::Overdue(overdue));
        }
        next
    }
}

impl<P: Deref<Target = PendingRequests>> Drop for ClockHold<P> {
    fn drop(&mut self) {
        self.0.timed.lock().clock.release(wall());
        self.0.sooner.notify_one();
        self.0.released.notify_waiters();
    }
}

/// The time by the runtime's clock, which tests can stop.
fn wall() -> Instant {
    tokio::time::Instant::now().into_std()
}
