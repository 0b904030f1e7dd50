//! The memory budget for messages in flight, in total and for each caller.
//!
//! Bodies pay while they arrive, and requests for the values that are made of them until they are
//! answered. What a small message takes is counted with one addition, while less than half of the
//! memory is in use; beyond that, small messages are counted by caller too.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::future::BoxFuture;
use turnbuckle_transport::Limits;

use super::{memory_budget::MemoryBudget, room::Room};
use crate::quota::{CallerCells, CallerKey};

/// 16 KiB: a message of this length that has arrived at once pays only to the common budget.
pub(crate) const SMALL_BYTES: usize = 16 * 1024;

/// 64 KiB: what is larger may take milliseconds to parse, and is parsed where it delays no other call.
#[cfg(feature = "http")]
pub(crate) const LARGE_BYTES: usize = 64 * 1024;

/// 1024 nodes: a message of more pays for them, however small it is.
const SMALL_NODES: usize = 1024;

/// An eighth of the budget is kept for small messages: calls, answers and cancellations of those who
/// send nothing large.
const KEPT_FOR_SMALL: usize = 8;

/// Once half of the budget is in use, the small messages of one caller may take a quarter of what one
/// caller may take. So the slow small calls of one caller never take the last half from all others.
const SMALL_OF_CALLER: usize = 4;

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
    /// How often a message is there while it is served.
    copies: usize,
    /// What all messages take together.
    room: Room,
    callers: CallerCells,
    /// What the small messages of each caller have taken, where they are counted.
    small_of_callers: CallerCells,
    /// Large messages that are parsed at the same time.
    #[cfg(feature = "http")]
    pub(crate) parsers: Arc<tokio::sync::Semaphore>,
}

impl Budget {
    pub(crate) fn new(limits: MemoryBudget, copies: usize) -> Self {
        #[cfg(feature = "http")]
        let parsers = {
            // Half of the cores are left to everybody else.
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            Arc::new(tokio::sync::Semaphore::new((cores / 2).max(1)))
        };
        Self {
            limits,
            copies,
            room: Room::new(),
            callers: CallerCells::new(),
            small_of_callers: CallerCells::new(),
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
        let text = bytes.saturating_mul(self.copies);
        let all = text.saturating_add(Limits::bytes_of_nodes(nodes));
        let mut charge = match paid {
            Some(charge) => charge,
            None if bytes <= SMALL_BYTES && nodes <= SMALL_NODES => return self.small(all, caller),
            None => self.of_caller(caller()),
        };
        charge.grow_to(all)?;
        Ok(charge)
    }

    /// Pays for a small message.
    fn small(
        self: &Arc<Self>,
        bytes: usize,
        caller: impl FnOnce() -> CallerKey,
    ) -> Result<Charge, OverBudget> {
        let taken = self.take(bytes, self.limits.total);
        let used = taken.map_err(|over| self.refused(over))?;
        let mut charge = Charge {
            budget: Arc::clone(self),
            bytes,
            payer: ChargedTo::All,
        };
        if used > self.limits.total / 2 {
            let (caller, limit) = (caller(), self.limits.per_caller / SMALL_OF_CALLER);
            if !self.small_of_callers.take(caller, bytes, limit) {
                drop(charge);
                return Err(self.refused(OverBudget::Caller(limit)));
            }
            charge.payer = ChargedTo::SmallOf(caller);
        }
        Ok(charge)
    }

    /// Begins to pay for a message that is not small, or comes bit by bit.
    pub(crate) fn of_caller(self: &Arc<Self>, caller: CallerKey) -> Charge {
        Charge {
            budget: Arc::clone(self),
            bytes: 0,
            payer: ChargedTo::Caller(caller),
        }
    }

    /// Takes from what is there for all, and gives how much of it is taken now.
    fn take(&self, bytes: usize, limit: usize) -> Result<usize, OverBudget> {
        let taken = self.room.take(bytes, limit);
        taken.ok_or(OverBudget::Total(self.limits.total))
    }

    fn take_of(&self, caller: CallerKey, bytes: usize) -> Result<(), OverBudget> {
        if self.callers.take(caller, bytes, self.limits.per_caller) {
            return Ok(());
        }
        Err(OverBudget::Caller(self.limits.per_caller))
    }

    /// Call this when the bytes of a refused message are given back: one that looked before saw less
    /// room than there is.
    #[cold]
    fn refused(&self, over: OverBudget) -> OverBudget {
        self.room.wake_waiting();
        over
    }

    /// How many bytes all messages take now.
    pub(crate) fn used(&self) -> usize {
        self.room.used()
    }

    /// Whether a message of this size would be paid for now.
    fn has_room(&self, caller: CallerKey, bytes: usize) -> Result<(), OverBudget> {
        let limit = self.limit_of_large();
        if self.room.used().saturating_add(bytes) > limit {
            return Err(OverBudget::Total(self.limits.total));
        }
        if self.callers.used(caller).saturating_add(bytes) > self.limits.per_caller {
            return Err(OverBudget::Caller(self.limits.per_caller));
        }
        Ok(())
    }

    fn limit_of_large(&self) -> usize {
        self.limits.total - self.limits.total / KEPT_FOR_SMALL
    }

    /// Ready when a message of this size would be paid for. One that is larger than half of the
    /// budget waits for half of it, or for what small messages always leave: while they take no more
    /// than half, the end of a small message wakes nothing.
    pub(crate) fn poll_room(
        &self,
        caller: CallerKey,
        bytes: usize,
        context: &Context<'_>,
    ) -> Poll<()> {
        // The usual case: nothing large has been sent.
        if self.room.used() <= self.limits.per_caller / 2 {
            return Poll::Ready(());
        }
        let beside_small = self.limit_of_large() - self.limits.total / 2;
        let half = self.limits.per_caller.min(self.limit_of_large()) / 2;
        let bytes = bytes.min(half).min(beside_small);
        self.room
            .poll(context, || self.has_room(caller, bytes).is_ok())
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("limits", &self.limits)
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}

/// What a message has paid. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
    payer: ChargedTo,
}

/// Who pays, beside the common budget.
#[derive(Clone, Copy, Debug)]
enum ChargedTo {
    /// The common budget alone.
    All,
    /// This caller, for small messages.
    SmallOf(CallerKey),
    /// This caller.
    Caller(CallerKey),
}

impl Charge {
    /// Says at once if so many bytes will not be paid for.
    pub(crate) fn check(&self, bytes: usize) -> Result<(), OverBudget> {
        match self.payer {
            ChargedTo::Caller(caller) => self.budget.has_room(caller, bytes),
            ChargedTo::All | ChargedTo::SmallOf(_) => Ok(()),
        }
    }

    /// Pays until so many bytes are paid for.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), OverBudget> {
        let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) else {
            return Ok(());
        };
        let ChargedTo::Caller(caller) = self.payer else {
            self.budget.take(more, self.budget.limits.total)?;
            self.bytes = bytes;
            return Ok(());
        };
        let taken = self.budget.take_of(caller, more);
        taken.map_err(|over| self.budget.refused(over))?;
        if let Err(over) = self.budget.take(more, self.budget.limit_of_large()) {
            self.budget.callers.give_back(caller, more);
            return Err(self.budget.refused(over));
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
        self.give_back(less);
        self.bytes = bytes;
        if !matches!(self.payer, ChargedTo::All) {
            self.budget.room.wake_waiting();
        }
    }

    fn give_back(&self, bytes: usize) {
        self.budget.room.give_back(bytes);
        match self.payer {
            ChargedTo::All => {}
            ChargedTo::SmallOf(caller) => self.budget.small_of_callers.give_back(caller, bytes),
            ChargedTo::Caller(caller) => self.budget.callers.give_back(caller, bytes),
        }
    }

    /// Whether this message is small.
    pub(crate) fn is_small(&self) -> bool {
        matches!(self.payer, ChargedTo::All | ChargedTo::SmallOf(_))
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
        self.give_back(self.bytes);
        if matches!(self.payer, ChargedTo::All) {
            return;
        }
        self.budget.room.wake_waiting();
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;
    use crate::Caller;

    fn budget(total: usize, per_caller: usize) -> Arc<Budget> {
        let limits = MemoryBudget::default();
        let limits = limits.with_total(total).with_per_caller(per_caller);
        Arc::new(Budget::new(limits, 1))
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
        let small = budget.small(100, || key("bob")).unwrap();
        let refused = budget.small(1, || key("bob")).unwrap_err();
        assert_eq!(refused, OverBudget::Total(800));
        drop((one, two, small));
        assert_eq!(budget.room.used(), 0);
        assert!(budget.callers.is_empty());
    }

    #[test]
    fn the_small_messages_of_one_caller_leave_room_for_those_of_others() {
        let budget = budget(800, 500);
        let small = |id: &str| budget.small(10, || key(id));
        let first = std::iter::from_fn(|| small("ada").ok());
        let held: Vec<Charge> = first.take(100).collect();
        // Half of all, and a quarter of what one caller may take.
        assert_eq!(held.len(), 40 + 12);
        assert_eq!(small("ada").unwrap_err(), OverBudget::Caller(125));
        let other = small("eve").expect("there is room for others");
        assert_eq!(budget.room.used(), 530);
        drop((held, other));
        assert_eq!(budget.room.used(), 0);
        assert!(budget.callers.is_empty() && budget.small_of_callers.is_empty());
        // Large messages do not take what is there for small ones of the same caller.
        let mut large = budget.of_caller(key("ada"));
        large.grow_to(500).unwrap();
        assert!(small("ada").is_ok());
    }

    #[test]
    fn who_waits_for_room_is_woken_when_there_is_some() {
        let budget = budget(8000, 1000);
        let mut held = budget.of_caller(key("ada"));
        held.grow_to(600).unwrap();
        let context = Context::from_waker(Waker::noop());
        assert!(budget.poll_room(key("eve"), 500, &context).is_ready());
        assert!(budget.poll_room(key("ada"), 500, &context).is_pending());
        assert_eq!(budget.room.waiting(), 1);
        drop(held);
        assert_eq!(budget.room.waiting(), 0);
        assert!(budget.poll_room(key("ada"), 500, &context).is_ready());
    }

    #[test]
    fn small_messages_never_hold_up_a_large_one() {
        let budget = budget(800, 700);
        // Half of all. The end of these wakes nothing, so nothing may wait for it.
        let small = budget.small(400, || key("bob")).unwrap();
        let context = Context::from_waker(Waker::noop());
        assert!(budget.poll_room(key("ada"), 800, &context).is_ready());
        drop(small);
    }

    #[test]
    fn every_refusal_wakes_those_who_may_have_seen_its_bytes() {
        let budget = budget(800, 500);
        let mut held = budget.of_caller(key("ada"));
        held.grow_to(500).unwrap();
        let mut other = budget.of_caller(key("eve"));
        let refusals: [(_, &mut dyn FnMut() -> OverBudget); 4] = [
            ("of a small one", &mut || {
                budget.small(301, || key("bob")).unwrap_err()
            }),
            ("of one caller's small ones", &mut || {
                budget.small(126, || key("bob")).unwrap_err()
            }),
            ("of a large one", &mut || other.grow_to(201).unwrap_err()),
            ("of one caller's large ones", &mut || {
                held.grow_to(501).unwrap_err()
            }),
        ];
        let context = Context::from_waker(Waker::noop());
        for (name, refuse) in refusals {
            let looked = budget.poll_room(key("joe"), 250, &context);
            assert!(looked.is_pending(), "{name}");
            let over = refuse();
            assert_eq!(budget.room.waiting(), 0, "{name}: {over}");
        }
    }

    #[cfg(feature = "http")]
    #[test]
    fn a_message_that_turns_out_smaller_wakes_those_who_wait() {
        let budget = budget(8000, 1000);
        let mut held = budget.of_caller(key("ada"));
        held.grow_to(600).unwrap();
        let context = Context::from_waker(Waker::noop());
        assert!(budget.poll_room(key("ada"), 500, &context).is_pending());
        held.shrink_to(100);
        assert_eq!(budget.room.waiting(), 0);
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
