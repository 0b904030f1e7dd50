//! The table of outgoing requests that wait for answers.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use turnbuckle_protocol::{Id, IdRef};

use super::{Deadline, Ids, Overdue};
use crate::progress::Monotonic;

/// How many outgoing requests may wait for answers on one connection.
///
/// An entry takes about a hundred bytes, so a full table takes about a megabyte. No reasonable caller
/// has eight thousand requests open at one peer.
pub const MAX_PENDING: usize = 8192;

/// Outgoing requests by id, each with a payload that receives the answer.
///
/// The table generates the ids, so each id is used once. The id of a request is also its progress
/// token, which must be unique as well, even after the request was answered and only its task
/// continues.
///
/// The table has no clock: the caller sleeps until [`next_deadline`](Self::next_deadline) and then
/// calls [`expire`](Self::expire).
///
/// ```
/// use std::time::{Duration, Instant};
/// use turnbuckle_session::requests::{Deadline, RequestTable};
///
/// let now = Instant::now();
/// let mut table = RequestTable::new();
/// let id = table.insert("the caller", Deadline::after(Duration::from_secs(5)), now)?;
/// assert_eq!(table.complete(&id.as_ref()), Some("the caller"));
/// assert_eq!(table.complete(&id.as_ref()), None); // a second answer goes nowhere
/// # Ok::<(), turnbuckle_session::requests::Full<&str>>(())
/// ```
#[derive(Debug)]
pub struct RequestTable<T> {
    ids: Ids,
    limit: usize,
    pending: BTreeMap<u64, Pending<T>>,
    /// Only contains requests with a deadline.
    due: BTreeSet<(Instant, u64)>,
}

#[derive(Debug)]
struct Pending<T> {
    payload: T,
    deadline: Deadline,
    sent: Instant,
    due: Option<(Instant, Overdue)>,
    progress: Monotonic,
}

/// The effect of a progress notification.
#[derive(Debug, PartialEq, Eq)]
pub enum Progressed<'a, T> {
    /// The value has grown: the deadline was renewed, and the report is for this payload.
    News(&'a mut T),
    /// The value has not grown: drop the report.
    Stale,
    /// No waiting request has this token: drop the report.
    Unknown,
}

/// A request that exceeded its deadline.
#[derive(Debug, PartialEq, Eq)]
pub struct Expired<T> {
    /// The id, for `notifications/cancelled`.
    pub id: Id,
    /// The payload.
    pub payload: T,
    /// The limit that it exceeded.
    pub overdue: Overdue,
}

/// The table is full; contains the payload.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{limit} requests already wait for an answer on this connection: let some finish first")]
pub struct Full<T> {
    /// The number of requests that wait, which is the limit.
    pub limit: usize,
    /// The payload.
    pub payload: T,
}

impl<T> Default for RequestTable<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> RequestTable<T> {
    /// Creates an empty table for at most [`MAX_PENDING`] requests, with integer ids.
    pub const fn new() -> Self {
        Self::with_ids(Ids::new())
    }

    /// Creates an empty table with ids from `ids`.
    pub const fn with_ids(ids: Ids) -> Self {
        Self {
            ids,
            limit: MAX_PENDING,
            pending: BTreeMap::new(),
            due: BTreeSet::new(),
        }
    }

    /// Sets the limit on requests.
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Registers a request that is sent now, and returns its id.
    ///
    /// # Errors
    /// [`Full`] if the limit on requests is reached.
    pub fn insert(&mut self, payload: T, deadline: Deadline, now: Instant) -> Result<Id, Full<T>> {
        if self.pending.len() >= self.limit {
            return Err(Full {
                limit: self.limit,
                payload,
            });
        }
        let number = self.ids.next_number();
        let due = deadline.due(now, now);
        self.due.extend(due.map(|(at, _)| (at, number)));
        let progress = Monotonic::new();
        self.pending.insert(
            number,
            Pending {
                payload,
                deadline,
                sent: now,
                due,
                progress,
            },
        );
        Ok(self.ids.id(number))
    }

    /// Returns whether a request waits for an answer with this id.
    pub fn contains(&self, id: &IdRef<'_>) -> bool {
        let number = self.ids.number(id);
        number.is_some_and(|number| self.pending.contains_key(&number))
    }

    /// Returns whether a request had this id, even if it does not wait any more.
    pub fn has_issued(&self, id: &IdRef<'_>) -> bool {
        self.ids.has_issued(id)
    }

    /// Removes the request of an answer. Returns `None` if no request waits for it: the answer is late,
    /// a duplicate, or has an invented id. Ignore such an answer.
    pub fn complete(&mut self, id: &IdRef<'_>) -> Option<T> {
        let number = self.ids.number(id)?;
        let pending = self.pending.remove(&number)?;
        if let Some((at, _)) = pending.due {
            self.due.remove(&(at, number));
        }
        Some(pending.payload)
    }

    /// Removes a request whose answer is not needed any more. If it returns `Some`, send the peer
    /// `notifications/cancelled`; a later answer has an unknown id.
    pub fn cancel(&mut self, id: &IdRef<'_>) -> Option<T> {
        self.complete(id)
    }

    /// Handles a progress notification. If the value has grown, the deadline of its request is renewed.
    pub fn progress(
        &mut self,
        token: &IdRef<'_>,
        progress: f64,
        now: Instant,
    ) -> Progressed<'_, T> {
        let Some(number) = self.ids.number(token) else {
            return Progressed::Unknown;
        };
        let Some(pending) = self.pending.get_mut(&number) else {
            return Progressed::Unknown;
        };
        if !pending.progress.admit(progress) {
            return Progressed::Stale;
        }
        let renewed = pending.deadline.due(pending.sent, now);
        if let Some((at, _)) = std::mem::replace(&mut pending.due, renewed) {
            self.due.remove(&(at, number));
        }
        self.due.extend(renewed.map(|(at, _)| (at, number)));
        Progressed::News(&mut pending.payload)
    }

    /// Removes and returns the requests that are due at `now`, the longest overdue first.
    ///
    /// If the iterator is dropped early, the other requests stay in the table, still due.
    pub fn expire(&mut self, now: Instant) -> impl Iterator<Item = Expired<T>> + '_ {
        std::iter::from_fn(move || {
            let (_, number) = *self.due.first().filter(|(at, _)| *at <= now)?;
            self.due.pop_first();
            let Pending { payload, due, .. } = self.pending.remove(&number)?;
            let (_, overdue) = due?;
            Some(Expired {
                id: self.ids.id(number),
                payload,
                overdue,
            })
        })
    }

    /// Returns when the next request is due, if any has a deadline.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Removes and returns all requests, the oldest first. Use it when the connection has ended.
    pub fn drain(&mut self) -> impl Iterator<Item = (Id, T)> + use<'_, T> {
        self.due.clear();
        let ids = &self.ids;
        std::mem::take(&mut self.pending)
            .into_iter()
            .map(|(number, pending)| (ids.id(number), pending.payload))
    }

    /// Returns the number of waiting requests.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Returns whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}
