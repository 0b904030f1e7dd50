//! The memory that messages in flight may take, of everybody together and of one caller.
//!
//! Bodies pay while they arrive, and requests for the values that are made of them until they are
//! answered. What a small message takes is counted with one addition. Callers are counted in two
//! tables of cells, in which each has a place by its digest, so that there is nothing to look up and
//! nothing to forget: two callers pay for each other only if they share both of their cells.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use futures_core::future::BoxFuture;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::Limits;

use crate::client::CallerKey;

/// 64 MiB: with what the process takes otherwise it stays under 256 MB while everybody sends the
/// largest messages.
const TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// 40 MiB: one message of the largest size with the most values fits, and two callers do not take
/// all there is.
const CALLER_BYTES: usize = 40 * 1024 * 1024;

/// 16 KiB: a message of this length that has arrived at once pays only to the common budget.
pub(crate) const SMALL_BYTES: usize = 16 * 1024;

/// 64 KiB: what is larger may take milliseconds to parse, and is parsed where nobody else waits.
#[cfg(feature = "http")]
pub(crate) const LARGE_BYTES: usize = 64 * 1024;

/// 1024 nodes: a message of more pays for them, however small it is.
const SMALL_NODES: usize = 1024;

/// An eighth of the budget is kept for small messages: calls, answers and cancellations of those who
/// send nothing large.
const KEPT_FOR_SMALL: usize = 8;

/// Cells of a table of callers.
const CELLS: usize = 1024;

/// How much memory messages may take while they are read, parsed and served.
///
/// ```
/// use turnbuckle_server::{MemoryBudget, Server};
///
/// let mib = 1024 * 1024;
/// let budget = MemoryBudget::default().with_total(512 * mib).with_per_caller(128 * mib);
/// let server = Server::new("images", "1.0.0").memory_budget(budget);
/// # server.build().unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryBudget {
    /// Bytes of all messages together; 64 MiB unless set. An eighth is kept for messages of up to
    /// 16 KiB.
    pub total: usize,
    /// Bytes of the messages of one caller; 40 MiB unless set. A caller whom nobody knows is the
    /// address that it calls from.
    pub per_caller: usize,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self {
            total: TOTAL_BYTES,
            per_caller: CALLER_BYTES,
        }
    }
}

impl MemoryBudget {
    /// Sets how many bytes all messages together may take.
    pub fn with_total(mut self, bytes: usize) -> Self {
        self.total = bytes;
        self
    }

    /// Sets how many bytes the messages of one caller may take.
    pub fn with_per_caller(mut self, bytes: usize) -> Self {
        self.per_caller = bytes;
        self
    }
}

/// There is no memory for a message now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OverBudget {
    #[error(
        "the server has no memory for this message now ({0} bytes for all messages in flight): try \
         again, or raise `MemoryBudget::total`"
    )]
    Total(usize),
    #[error(
        "your messages in flight take more than {0} bytes: wait for answers, or raise \
         `MemoryBudget::per_caller`"
    )]
    Caller(usize),
}

/// What is left of the memory for messages.
pub(crate) struct Budget {
    limits: MemoryBudget,
    used: AtomicUsize,
    callers: Box<[[AtomicUsize; CELLS]; 2]>,
    /// Those who wait until something was given back.
    waiting: Mutex<Vec<Waker>>,
    /// Large messages that are parsed at the same time.
    #[cfg(feature = "http")]
    pub(crate) parsers: Arc<tokio::sync::Semaphore>,
}

impl Budget {
    pub(crate) fn new(limits: MemoryBudget) -> Self {
        #[cfg(feature = "http")]
        let parsers = {
            // Half of the cores are left to everybody else.
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            Arc::new(tokio::sync::Semaphore::new((cores / 2).max(1)))
        };
        Self {
            limits,
            used: AtomicUsize::new(0),
            callers: Box::new([const { [const { AtomicUsize::new(0) }; CELLS] }; 2]),
            waiting: Mutex::default(),
            #[cfg(feature = "http")]
            parsers,
        }
    }

    /// Pays for a message that has arrived and for its values: from what was paid while it arrived,
    /// or at once.
    pub(crate) fn message(
        self: &Arc<Self>,
        paid: Option<Charge>,
        bytes: usize,
        nodes: usize,
        caller: impl FnOnce() -> CallerKey,
    ) -> Result<Charge, OverBudget> {
        let all = bytes.saturating_add(Limits::bytes_of_nodes(nodes));
        let mut charge = match paid {
            Some(charge) => charge,
            None if bytes <= SMALL_BYTES && nodes <= SMALL_NODES => return self.small(all),
            None => self.of_caller(caller()),
        };
        charge.grow_to(all)?;
        Ok(charge)
    }

    /// Pays for a small message.
    fn small(self: &Arc<Self>, bytes: usize) -> Result<Charge, OverBudget> {
        self.take(bytes, self.limits.total)?;
        Ok(Charge {
            budget: Arc::clone(self),
            bytes,
            caller: None,
        })
    }

    /// Begins to pay for a message that is not small, or comes bit by bit.
    pub(crate) fn of_caller(self: &Arc<Self>, caller: CallerKey) -> Charge {
        Charge {
            budget: Arc::clone(self),
            bytes: 0,
            caller: Some(caller),
        }
    }

    fn take(&self, bytes: usize, limit: usize) -> Result<(), OverBudget> {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) <= limit {
            return Ok(());
        }
        self.give_back(bytes);
        Err(OverBudget::Total(self.limits.total))
    }

    fn take_of(&self, caller: CallerKey, bytes: usize) -> Result<(), OverBudget> {
        let mut is_over = true;
        for (cells, cell) in self.callers.iter().zip(caller.cells(CELLS)) {
            let before = cells[cell].fetch_add(bytes, Ordering::Relaxed);
            is_over &= before.saturating_add(bytes) > self.limits.per_caller;
        }
        if is_over {
            self.give_back_of(caller, bytes);
            return Err(OverBudget::Caller(self.limits.per_caller));
        }
        Ok(())
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn give_back_of(&self, caller: CallerKey, bytes: usize) {
        for (cells, cell) in self.callers.iter().zip(caller.cells(CELLS)) {
            cells[cell].fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Whether a message of this size would be paid for now.
    fn has_room(&self, caller: CallerKey, bytes: usize) -> Result<(), OverBudget> {
        let limit = self.limit_of_large();
        if self.used.load(Ordering::Relaxed).saturating_add(bytes) > limit {
            return Err(OverBudget::Total(self.limits.total));
        }
        let tables = self.callers.iter().zip(caller.cells(CELLS));
        let mut used = tables.map(|(cells, cell)| cells[cell].load(Ordering::Relaxed));
        if used.all(|used| used.saturating_add(bytes) > self.limits.per_caller) {
            return Err(OverBudget::Caller(self.limits.per_caller));
        }
        Ok(())
    }

    fn limit_of_large(&self) -> usize {
        self.limits.total - self.limits.total / KEPT_FOR_SMALL
    }

    /// Ready when a message of this size would be paid for. One that is larger than half of the
    /// budget waits for half of it.
    pub(crate) fn poll_room(
        &self,
        caller: CallerKey,
        bytes: usize,
        context: &Context<'_>,
    ) -> Poll<()> {
        // The usual case: nobody has sent anything large.
        if self.used.load(Ordering::Relaxed) <= self.limits.per_caller / 2 {
            return Poll::Ready(());
        }
        let least = self.limits.per_caller.min(self.limit_of_large()) / 2;
        let bytes = bytes.min(least);
        if self.has_room(caller, bytes).is_ok() {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting.lock();
        let is_known = |known: &Waker| known.will_wake(context.waker());
        if !waiting.iter().any(is_known) {
            waiting.push(context.waker().clone());
        }
        drop(waiting);
        // What was given back meanwhile woke nobody.
        match self.has_room(caller, bytes) {
            Ok(()) => Poll::Ready(()),
            Err(_) => Poll::Pending,
        }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("limits", &self.limits)
            .field("used", &self.used)
            .finish_non_exhaustive()
    }
}

/// What a message has paid. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
    /// Who pays, if it is not only the common budget.
    caller: Option<CallerKey>,
}

impl Charge {
    /// Says at once if so many bytes will not be paid for.
    pub(crate) fn check(&self, bytes: usize) -> Result<(), OverBudget> {
        match self.caller {
            Some(caller) => self.budget.has_room(caller, bytes),
            None => Ok(()),
        }
    }

    /// Pays until so many bytes are paid for.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), OverBudget> {
        let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) else {
            return Ok(());
        };
        let Some(caller) = self.caller else {
            self.budget.take(more, self.budget.limits.total)?;
            self.bytes = bytes;
            return Ok(());
        };
        self.budget.take_of(caller, more)?;
        if let Err(over) = self.budget.take(more, self.budget.limit_of_large()) {
            self.budget.give_back_of(caller, more);
            return Err(over);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Gives back what is over this.
    #[cfg(feature = "http")]
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let Some(less) = self.bytes.checked_sub(bytes) else {
            return;
        };
        self.budget.give_back(less);
        if let Some(caller) = self.caller {
            self.budget.give_back_of(caller, less);
        }
        self.bytes = bytes;
    }

    /// Whether this message is small.
    pub(crate) fn is_small(&self) -> bool {
        self.caller.is_none()
    }

    /// Pays for as long as a response is being made.
    pub(crate) fn hold<T: 'static>(self, running: BoxFuture<'static, T>) -> BoxFuture<'static, T> {
        Box::pin(async move {
            let output = running.await;
            drop(self);
            output
        })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
        let Some(caller) = self.caller else {
            return;
        };
        self.budget.give_back_of(caller, self.bytes);
        let waiting = std::mem::take(&mut *self.budget.waiting.lock());
        waiting.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Caller;

    fn budget(total: usize, per_caller: usize) -> Arc<Budget> {
        let limits = MemoryBudget::default();
        Arc::new(Budget::new(
            limits.with_total(total).with_per_caller(per_caller),
        ))
    }

    fn key(id: &str) -> CallerKey {
        CallerKey::of(&Caller::new(id))
    }

    #[test]
    fn what_was_paid_comes_back() {
        let budget = budget(800, 500);
        let mut one = budget.of_caller(key("ada"));
        one.grow_to(400).unwrap();
        one.grow_to(300).unwrap();
        assert_eq!(one.grow_to(501), Err(OverBudget::Caller(500)));
        one.grow_to(500).unwrap();
        let mut two = budget.of_caller(key("eve"));
        assert_eq!(two.check(201), Err(OverBudget::Total(800)));
        assert_eq!(two.grow_to(201), Err(OverBudget::Total(800)));
        two.grow_to(200).unwrap();
        // The last eighth is for small ones.
        let small = budget.small(100).unwrap();
        assert_eq!(budget.small(1).unwrap_err(), OverBudget::Total(800));
        drop((one, two, small));
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
        let cells = budget.callers.iter().flatten();
        assert!(
            cells
                .into_iter()
                .all(|cell| cell.load(Ordering::Relaxed) == 0)
        );
    }

    #[test]
    fn who_waits_for_room_is_woken_when_there_is_some() {
        let budget = budget(8000, 1000);
        let mut held = budget.of_caller(key("ada"));
        held.grow_to(600).unwrap();
        let context = Context::from_waker(Waker::noop());
        assert!(budget.poll_room(key("eve"), 500, &context).is_ready());
        assert!(budget.poll_room(key("ada"), 500, &context).is_pending());
        assert_eq!(budget.waiting.lock().len(), 1);
        drop(held);
        assert_eq!(budget.waiting.lock().len(), 0);
        assert!(budget.poll_room(key("ada"), 500, &context).is_ready());
    }

    #[test]
    fn every_refusal_names_its_setting() {
        for (over, setting) in [
            (OverBudget::Total(1), "`MemoryBudget::total`"),
            (OverBudget::Caller(1), "`MemoryBudget::per_caller`"),
        ] {
            assert!(over.to_string().contains(setting), "{over}");
        }
    }
}
