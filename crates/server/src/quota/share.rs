//! An amount with a limit in total and a limit for each caller.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{CallerCells, CallerKey};

/// A quarter of its quota is the most that one caller may take at once if others have to make room
/// for it.
#[cfg(feature = "http")]
const LARGEST_PART: usize = 4;

/// A limited amount, and how much of it is taken.
pub(crate) struct Quota {
    total: usize,
    per_caller: usize,
    used: AtomicUsize,
    callers: CallerCells,
}

/// The amount exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The limit for all callers together, which would be exceeded.
    Total(usize),
    /// The limit for this caller, which would be exceeded.
    Caller(usize),
}

impl Quota {
    pub(crate) fn new(total: usize, per_caller: usize) -> Arc<Self> {
        Arc::new(Self {
            total,
            per_caller,
            used: AtomicUsize::new(0),
            callers: CallerCells::new(),
        })
    }

    /// Creates a share for a caller, with nothing in it yet.
    pub(crate) fn share(self: &Arc<Self>, caller: CallerKey) -> Share {
        Share {
            quota: Arc::clone(self),
            caller,
            amount: 0,
        }
    }

    /// The amount that all callers have taken.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Half of the amount that one caller may take.
    pub(crate) fn half_of_caller(&self) -> usize {
        self.total.min(self.per_caller) / 2
    }

    /// Checks that the amount is a small part of one caller's quota. A larger amount is not worth
    /// ending the work of others for.
    #[cfg(feature = "http")]
    pub(crate) fn check_part(&self, amount: usize) -> Result<(), Over> {
        let largest = self.total.min(self.per_caller) / LARGEST_PART;
        if amount > largest {
            return Err(Over::Caller(largest));
        }
        Ok(())
    }

    /// Checks that this amount is left for a caller.
    #[cfg(feature = "http")]
    pub(crate) fn has_room(self: &Arc<Self>, caller: CallerKey, amount: usize) -> Result<(), Over> {
        self.share(caller).add(amount)
    }

    fn take(&self, caller: CallerKey, amount: usize, of: Part) -> Result<(), Over> {
        let (total, per_caller) = match of {
            Part::Whole => (self.total, self.per_caller),
            Part::Half => (self.total / 2, self.per_caller / 2),
        };
        if !self.callers.take(caller, amount, per_caller) {
            return Err(Over::Caller(per_caller));
        }
        let before = self.used.fetch_add(amount, Ordering::Relaxed);
        if before.saturating_add(amount) <= total {
            return Ok(());
        }
        self.give_back(caller, amount);
        Err(Over::Total(total))
    }

    fn give_back(&self, caller: CallerKey, amount: usize) {
        self.used.fetch_sub(amount, Ordering::Relaxed);
        self.callers.give_back(caller, amount);
    }
}

/// How much of a quota may be taken.
#[derive(Clone, Copy)]
enum Part {
    Whole,
    /// Half of it; the other half is reserved for more important things.
    Half,
}

/// The amount that a caller has taken. Dropping it gives the amount back.
pub(crate) struct Share {
    quota: Arc<Quota>,
    caller: CallerKey,
    amount: usize,
}

impl Share {
    /// Takes this amount in addition.
    pub(crate) fn add(&mut self, amount: usize) -> Result<(), Over> {
        self.quota.take(self.caller, amount, Part::Whole)?;
        self.amount += amount;
        Ok(())
    }

    /// Takes this amount in addition, for something optional: only if at most half of the quota is
    /// taken then.
    pub(crate) fn add_spare(&mut self, amount: usize) -> Result<(), Over> {
        self.quota.take(self.caller, amount, Part::Half)?;
        self.amount += amount;
        Ok(())
    }

    /// Gives back this amount.
    pub(crate) fn give_back(&mut self, amount: usize) {
        let amount = amount.min(self.amount);
        self.quota.give_back(self.caller, amount);
        self.amount -= amount;
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Share").field(&self.amount).finish()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.quota.give_back(self.caller, self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_leaves_something_to_the_others() {
        let (ada, eve) = (CallerKey::digest("ada"), CallerKey::digest("eve"));
        let quota = Quota::new(5, 3);
        let (mut one, mut two) = (quota.share(ada), quota.share(eve));
        assert_eq!(one.add(2), Ok(()));
        assert_eq!(one.add(2), Err(Over::Caller(3)));
        assert_eq!(one.add(1), Ok(()));
        assert_eq!(two.add(3), Err(Over::Total(5)));
        assert_eq!(two.add(2), Ok(()));
        one.give_back(2);
        assert_eq!(two.add(1), Ok(()));
        drop((one, two));
        assert_eq!(quota.used.load(Ordering::Relaxed), 0);
        assert!(quota.callers.is_empty());
    }
}
