//! The memory budget for messages in flight, in total and for each caller.
//!
//! The budget is charged for a body while it arrives, and for the parsed values of a request until
//! the request is answered. For a small message this is a single addition while less than half of
//! the memory is in use; beyond that, small messages are counted for each caller, too.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::future::BoxFuture;
use turnbuckle_transport::Limits;

use super::{memory_budget::MemoryBudget, usage_counter::UsageCounter};
use crate::quota::{CallerCells, CallerKey};

/// 16 KiB: a message of up to this length that has arrived at once is charged only to the common
/// budget.
pub(crate) const SMALL_BYTES: usize = 16 * 1024;

/// 64 KiB: parsing a longer message may take milliseconds, so it is parsed where it delays no other
/// call.
#[cfg(feature = "http")]
pub(crate) const LARGE_BYTES: usize = 64 * 1024;

/// 1024 nodes: a message with more nodes does not count as small, however short it is.
const SMALL_NODES: usize = 1024;

/// An eighth of the budget is reserved for small messages: calls, answers and cancellations of
/// callers that send nothing large.
const KEPT_FOR_SMALL: usize = 8;

/// Once half of the budget is in use, the small messages of one caller may use a quarter of that
/// caller's limit. So one caller with slow small calls cannot use up the second half.
const SMALL_OF_CALLER: usize = 4;

/// There is not enough memory for a message at the moment.
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

/// The memory for messages, and how much of it is in use.
pub(crate) struct Budget {
    limits: MemoryBudget,
    /// How many copies of a message exist while it is served.
    copies: usize,
    /// The memory that all messages use together.
    usage: UsageCounter,
    callers: CallerCells,
    /// The memory that the small messages of each caller use, as far as it is counted.
    small_of_callers: CallerCells,
    /// Limits how many large messages are parsed at the same time.
    #[cfg(feature = "http")]
    pub(crate) parsers: Arc<tokio::sync::Semaphore>,
}

impl Budget {
    pub(crate) fn new(limits: MemoryBudget, copies: usize) -> Self {
        #[cfg(feature = "http")]
        let parsers = {
            // Half of the cores are reserved for other work.
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            Arc::new(tokio::sync::Semaphore::new((cores / 2).max(1)))
        };
        Self {
            limits,
            copies,
            usage: UsageCounter::new(),
            callers: CallerCells::new(),
            small_of_callers: CallerCells::new(),
            #[cfg(feature = "http")]
            parsers,
        }
    }

    /// Charges for a message that has arrived, and for its parsed values. `paid` is the charge that
    /// was made while it arrived, if any.
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

    /// Charges for a small message.
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

    /// Starts a charge for a message that is not small, or that arrives in parts.
    pub(crate) fn of_caller(self: &Arc<Self>, caller: CallerKey) -> Charge {
        Charge {
            budget: Arc::clone(self),
            bytes: 0,
            payer: ChargedTo::Caller(caller),
        }
    }

    /// Takes from the common budget, and returns how much of it is in use now.
    fn take(&self, bytes: usize, limit: usize) -> Result<usize, OverBudget> {
        let taken = self.usage.take(bytes, limit);
        taken.ok_or(OverBudget::Total(self.limits.total))
    }

    fn take_of(&self, caller: CallerKey, bytes: usize) -> Result<(), OverBudget> {
        if self.callers.take(caller, bytes, self.limits.per_caller) {
            return Ok(());
        }
        Err(OverBudget::Caller(self.limits.per_caller))
    }

    /// Must be called when the bytes of a rejected message are given back: a waiter that checked
    /// before that saw less room than there is.
    #[cold]
    fn refused(&self, over: OverBudget) -> OverBudget {
        self.usage.wake_waiting();
        over
    }

    /// Returns how many bytes all messages use now.
    pub(crate) fn used(&self) -> usize {
        self.usage.used()
    }

    /// Checks that the budget has room for a message of this size.
    fn has_room(&self, caller: CallerKey, bytes: usize) -> Result<(), OverBudget> {
        let limit = self.limit_of_large();
        if self.usage.used().saturating_add(bytes) > limit {
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

    /// Ready when the budget has room for a message of this size. If the message is larger than
    /// half of the budget, it waits for half, or for the part that small messages always leave
    /// free: while small messages use no more than half of the budget, no waiter is woken when they
    /// end.
    pub(crate) fn poll_room(
        &self,
        caller: CallerKey,
        bytes: usize,
        context: &Context<'_>,
    ) -> Poll<()> {
        // The usual case: no large message is in flight.
        if self.usage.used() <= self.limits.per_caller / 2 {
            return Poll::Ready(());
        }
        let beside_small = self.limit_of_large() - self.limits.total / 2;
        let half = self.limits.per_caller.min(self.limit_of_large()) / 2;
        let bytes = bytes.min(half).min(beside_small);
        self.usage
            .poll(context, || self.has_room(caller, bytes).is_ok())
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("limits", &self.limits)
            .field("usage", &self.usage)
            .finish_non_exhaustive()
    }
}

/// The memory charged for a message. Dropping it gives the memory back.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
    payer: ChargedTo,
}

/// What is charged in addition to the common budget.
#[derive(Clone, Copy, Debug)]
enum ChargedTo {
    /// Nothing else.
    All,
    /// The share of this caller for small messages.
    SmallOf(CallerKey),
    /// The limit of this caller.
    Caller(CallerKey),
}

impl Charge {
    /// Checks in advance that this many bytes can be charged.
    #[cfg(feature = "http")]
    pub(crate) fn check(&self, bytes: usize) -> Result<(), OverBudget> {
        match self.payer {
            ChargedTo::Caller(caller) => self.budget.has_room(caller, bytes),
            ChargedTo::All | ChargedTo::SmallOf(_) => Ok(()),
        }
    }

    /// Increases the charge to this many bytes.
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

    /// Reduces the charge to this many bytes.
    #[cfg(feature = "http")]
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let Some(less) = self.bytes.checked_sub(bytes) else {
            return;
        };
        self.give_back(less);
        self.bytes = bytes;
        if !matches!(self.payer, ChargedTo::All) {
            self.budget.usage.wake_waiting();
        }
    }

    fn give_back(&self, bytes: usize) {
        self.budget.usage.give_back(bytes);
        match self.payer {
            ChargedTo::All => {}
            ChargedTo::SmallOf(caller) => self.budget.small_of_callers.give_back(caller, bytes),
            ChargedTo::Caller(caller) => self.budget.callers.give_back(caller, bytes),
        }
    }

    /// Whether this is the charge for a small message.
    pub(crate) fn is_small(&self) -> bool {
        matches!(self.payer, ChargedTo::All | ChargedTo::SmallOf(_))
    }

    /// Keeps the charge until the response has been made.
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
        self.budget.usage.wake_waiting();
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
        // The last eighth is reserved for small messages.
        let small = budget.small(100, || key("bob")).unwrap();
        let refused = budget.small(1, || key("bob")).unwrap_err();
        assert_eq!(refused, OverBudget::Total(800));
        drop((one, two, small));
        assert_eq!(budget.usage.used(), 0);
        assert!(budget.callers.is_empty());
    }

    #[test]
    fn the_small_messages_of_one_caller_leave_room_for_those_of_others() {
        let budget = budget(800, 500);
        let small = |id: &str| budget.small(10, || key(id));
        let first = std::iter::from_fn(|| small("ada").ok());
        let held: Vec<Charge> = first.take(100).collect();
        // Half of the total, and a quarter of the caller's limit.
        assert_eq!(held.len(), 40 + 12);
        assert_eq!(small("ada").unwrap_err(), OverBudget::Caller(125));
        let other = small("eve").expect("there is room for others");
        assert_eq!(budget.usage.used(), 530);
        drop((held, other));
        assert_eq!(budget.usage.used(), 0);
        assert!(budget.callers.is_empty() && budget.small_of_callers.is_empty());
        // Large messages are not counted with the small messages of the same caller.
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
        assert_eq!(budget.usage.waiting(), 1);
        drop(held);
        assert_eq!(budget.usage.waiting(), 0);
        assert!(budget.poll_room(key("ada"), 500, &context).is_ready());
    }

    #[test]
    fn small_messages_never_hold_up_a_large_one() {
        let budget = budget(800, 700);
        // Half of the total. No waiter is woken when these end, so nothing may wait for them.
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
            assert_eq!(budget.usage.waiting(), 0, "{name}: {over}");
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
        assert_eq!(budget.usage.waiting(), 0);
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
