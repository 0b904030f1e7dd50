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

/// Why a request was not registered.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The connection is closed.
    Closed,
    /// This many requests already wait, which is the limit.
    Full(usize),
}

/// The requests that wait for answers.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    timed: Mutex<TimedTable>,
    /// Wakes the timer if a deadline is earlier than its next wake-up.
    sooner: Notify,
    /// Notified when the clock runs again.
    released: Notify,
    /// The tokens of calls that may have become tasks.
    late: Mutex<Vec<(Id, LateSlot)>>,
    /// Notified for each answer that fits no request. Only the search for the server's revision uses
    /// it.
    stray: Notify,
}

#[derive(Debug, Default)]
struct TimedTable {
    table: RequestTable<SlotSender>,
    clock: Clock,
    /// When the timer wakes next, on the table's clock. It is not changed when requests finish, so that
    /// a typical call neither sets nor wakes a timer.
    wakes_at: Option<Instant>,
    is_closed: bool,
}

/// Pauses the clock of the connection until it is dropped.
#[derive(Debug)]
pub(crate) struct ClockHold<P: Deref<Target = PendingRequests>>(P);

impl PendingRequests {
    /// Registers a request and returns its id.
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

    /// Removes the request of an answer; `None` if no request waits for it.
    pub(crate) fn complete(&self, id: &IdRef<'_>) -> Option<SlotSender> {
        self.timed.lock().table.complete(id)
    }

    /// Records an answer that fits no request.
    pub(crate) fn note_stray(&self) {
        self.stray.notify_one();
    }

    /// Waits for an answer that fits no request.
    pub(crate) async fn stray(&self) {
        self.stray.notified().await;
    }

    /// Whether a request of this connection had this id, even if it does not wait any more. Some
    /// servers return the id, which is a number, as a string.
    #[cfg(feature = "http")]
    pub(crate) fn has_issued(&self, id: &IdRef<'_>) -> bool {
        let number = match id {
            IdRef::Text(text) => text.parse().ok().map(IdRef::Int),
            _ => None,
        };
        let timed = self.timed.lock();
        timed.table.has_issued(number.as_ref().unwrap_or(id))
    }

    /// Removes a request whose answer is not needed any more, and returns whether it was still there.
    pub(crate) fn withdraw(&self, id: &IdRef<'_>) -> bool {
        self.timed.lock().table.cancel(id).is_some()
    }

    /// Passes a progress report to its call. Returns whether a call waits for it.
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
            // progress: reports whose progress does not grow are dropped.
            Progressed::Stale => false,
        }
    }

    /// Handles a report for a request that was already answered. Only tasks can have such reports.
    fn progress_of_task(&self, token: &Id, report: ProgressNotificationParams) {
        let late = self.late.lock();
        if let Some((_, slot)) = late.iter().find(|(known, _)| known == token) {
            slot.push(report);
        }
    }

    /// Accepts reports for this token even after its request was answered.
    pub(crate) fn keep_token(&self, token: Id, slot: LateSlot) {
        self.late.lock().push((token, slot));
    }

    /// Stops accepting reports for this token.
    pub(crate) fn drop_token(&self, token: &Id) {
        self.late.lock().retain(|(known, _)| known != token);
    }

    /// Pauses the clock while the server waits for the client.
    pub(crate) fn hold(&self) -> ClockHold<&Self> {
        self.timed.lock().clock.hold(wall());
        ClockHold(self)
    }

    /// The same for a hold that outlives a borrow.
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
                // The clock may be paused during this sleep, so check it again.
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => released.await,
            }
        }
    }

    /// Limits the time of a future, by the connection's clock. Returns `None` if the time was over
    /// first.
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

    /// Rejects new requests, and fails those that wait because the connection is closed.
    pub(crate) fn close(&self) {
        let mut timed = self.timed.lock();
        timed.is_closed = true;
        let waiting: Vec<_> = timed.table.drain().collect();
        drop(timed);
        // Dropping a sender wakes the task that waits, which must not happen under the lock.
        drop(waiting);
    }

    /// Fails all waiting requests, because their session has expired.
    #[cfg(feature = "http")]
    pub(crate) fn end_session(&self, reason: &'static str) {
        let waiting: Vec<_> = self.timed.lock().table.drain().collect();
        for (_, filler) in waiting {
            filler.fill(RequestOutcome::SessionOver(reason));
        }
    }

    /// Fails requests whose deadline has passed, for as long as it is polled.
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

    /// Fails overdue requests and returns when to check again.
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

/// The current time by the runtime's clock, which tests can pause.
fn wall() -> Instant {
    tokio::time::Instant::now().into_std()
}
