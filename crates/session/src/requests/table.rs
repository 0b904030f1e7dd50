//! The table of outgoing requests that wait for their answer.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use turnbuckle_protocol::{Id, IdRef};

use super::{Deadline, Ids, Overdue};
use crate::progress::Monotonic;

/// How many requests one side may have waiting on one connection.
///
/// An entry costs some hundred bytes, so a full table costs about a megabyte; a caller that has
/// eight thousand questions open at one peer has lost count of them.
pub const MAX_PENDING: usize = 8192;

/// Outgoing requests, by id, with what waits for each answer.
///
/// It gives out the ids itself, so each id is used once. The id of a request is its progress token
/// as well: unique for the same reason, also after the request is done and only its task lives on.
///
/// The table keeps no clock: the caller sleeps until [`next_deadline`](Self::next_deadline) and
/// then calls [`expire`](Self::expire).
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
    /// Only requests that are due at some time are in here.
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
    /// It is news: the deadline has moved, and this is whom to tell.
    News(&'a mut T),
    /// It does not go beyond what was already reported: drop it.
    Stale,
    /// Nothing that waits has this token: drop it.
    Unknown,
}

/// A request that ran out of time.
#[derive(Debug, PartialEq, Eq)]
pub struct Expired<T> {
    /// Its id, for `notifications/cancelled`.
    pub id: Id,
    /// The value that waited for the answer.
    pub payload: T,
    /// The limit it ran into.
    pub overdue: Overdue,
}

/// The table is full; the payload comes back.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{limit} requests already wait for an answer on this connection: let some finish first")]
pub struct Full<T> {
    /// The number of requests that wait.
    pub limit: usize,
    /// The value that would have waited for the answer.
    pub payload: T,
}

impl<T> Default for RequestTable<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> RequestTable<T> {
    /// An empty table of at most [`MAX_PENDING`] requests with integer ids.
    pub const fn new() -> Self {
        Self::with_ids(Ids::new())
    }

    /// An empty table that takes its ids from `ids`.
    pub const fn with_ids(ids: Ids) -> Self {
        Self {
            ids,
            limit: MAX_PENDING,
            pending: BTreeMap::new(),
            due: BTreeSet::new(),
        }
    }

    /// Holds at most `limit` requests.
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Enters a request that is sent now and gives the id to send it with.
    ///
    /// # Errors
    /// [`Full`] if as many requests wait as the table may hold.
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

    /// Whether a request waits for an answer under this id.
    pub fn contains(&self, id: &IdRef<'_>) -> bool {
        let number = self.ids.number(id);
        number.is_some_and(|number| self.pending.contains_key(&number))
    }

    /// Takes out the request that an answer is for. `None` for an answer to nothing that waits: a
    /// late one, a second one, or one with an invented id. It is to be ignored.
    pub fn complete(&mut self, id: &IdRef<'_>) -> Option<T> {
        let number = self.ids.number(id)?;
        let pending = self.pending.remove(&number)?;
        if let Some((at, _)) = pending.due {
            self.due.remove(&(at, number));
        }
        Some(pending.payload)
    }

    /// Removes a request whose answer is no longer wanted. `Some` if the peer should be told with
    /// `notifications/cancelled`; an answer that still comes has an unknown id.
    pub fn cancel(&mut self, id: &IdRef<'_>) -> Option<T> {
        self.complete(id)
    }

    /// Takes a progress notification: what reports more than before has its deadline renewed.
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

    /// Takes out the requests that are due at `now`, the longest overdue first.
    ///
    /// Dropping the iterator early leaves the rest in the table, still due.
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

    /// When the next request is due, if any ever is.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Takes out everything, oldest first: for a connection that has ended.
    pub fn drain(&mut self) -> impl Iterator<Item = (Id, T)> + use<'_, T> {
        self.due.clear();
        let ids = &self.ids;
        std::mem::take(&mut self.pending)
            .into_iter()
            .map(|(number, pending)| (ids.id(number), pending.payload))
    }

    /// How many requests wait.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}
