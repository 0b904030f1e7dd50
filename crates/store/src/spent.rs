//! States of calls that were used: what is spent here is not taken again.

use std::collections::{BTreeSet, HashMap};

use turnbuckle_base::lock::Mutex;

use crate::{BoxFuture, StoreError};

/// How many spent states memory holds: 70 a second for the hour in which they would be taken, in some
/// forty megabytes.
pub const MAX_SPENT: usize = 250_000;

/// How many of one owner: a tenth of all, which is 7 a second.
pub const MAX_SPENT_PER_OWNER: usize = 25_000;

/// Whether a state may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spend {
    /// It is used now, for the first time.
    Now,
    /// It was used before.
    Before,
    /// It is not used: its owner has used so many that have not expired yet.
    TooMany {
        /// How many one owner may have used.
        limit: usize,
    },
}

/// One use of a state.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StateUse<'a> {
    /// The bytes of the state's id.
    pub id: &'a [u8],
    /// Who uses it, for quotas: the same number for the same caller, within one process.
    pub owner: u64,
    /// Until when it could be used, in seconds since 1970.
    pub expires: u64,
    /// The time, in seconds since 1970.
    pub now: u64,
}

impl<'a> StateUse<'a> {
    /// A use of a state.
    pub fn new(id: &'a [u8], owner: u64, expires: u64, now: u64) -> Self {
        Self {
            id,
            owner,
            expires,
            now,
        }
    }
}

/// Remembers which states were used, so that none is used twice.
///
/// Replicas that share their keys must share this too, or a state can be used once on each.
pub trait SpentStates: Send + Sync + 'static {
    /// Uses a state, and remembers it until it expires by itself. Of several that use the same state
    /// at the same time exactly one is told [`Spend::Now`].
    ///
    /// # Errors
    /// If the store cannot tell. The state is refused then.
    fn spend<'a>(&'a self, used: StateUse<'a>) -> BoxFuture<'a, Result<Spend, StoreError>>;
}

/// Spent states of one process, up to [`MAX_SPENT`], and up to [`MAX_SPENT_PER_OWNER`] of one owner.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use turnbuckle_store::{MemorySpent, Spend, SpentStates, StateUse};
///
/// let spent = MemorySpent::default();
/// let ada = 7;
/// assert_eq!(spent.spend(StateUse::new(b"id", ada, 60, 0)).await?, Spend::Now);
/// assert_eq!(spent.spend(StateUse::new(b"id", ada, 60, 1)).await?, Spend::Before);
/// # Ok::<(), turnbuckle_store::StoreError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct MemorySpent {
    limit: usize,
    limit_per_owner: usize,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    /// Each with its owner.
    ids: HashMap<Box<[u8]>, u64>,
    /// How many each owner has used.
    owners: HashMap<u64, usize>,
    /// By the time at which they expire.
    by_expiry: BTreeSet<(u64, Box<[u8]>)>,
}

impl MemorySpent {
    /// Holds so many states, and a tenth of them of one owner. When it is full of states that have not
    /// expired, further ones are refused: to forget one would be to take it twice.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            limit_per_owner: limit.div_ceil(10),
            spent: Mutex::default(),
        }
    }

    /// Holds so many states of one owner.
    pub fn with_limit_per_owner(mut self, limit: usize) -> Self {
        self.limit_per_owner = limit;
        self
    }

    fn spend_now(&self, used: StateUse<'_>) -> Result<Spend, StoreError> {
        let mut spent = self.spent.lock();
        spent.forget_expired(used.now);
        if spent.ids.contains_key(used.id) {
            return Ok(Spend::Before);
        }
        let limit = self.limit_per_owner;
        if spent.owners.get(&used.owner).copied().unwrap_or(0) >= limit {
            return Ok(Spend::TooMany { limit });
        }
        if spent.ids.len() >= self.limit {
            let full = format!(
                "it holds {} spent states and none has expired: share a larger store, let states expire \
                 sooner, or raise `MemorySpent::with_limit`",
                self.limit
            );
            return Err(StoreError::new("memory", full));
        }
        *spent.owners.entry(used.owner).or_default() += 1;
        spent.ids.insert(used.id.into(), used.owner);
        spent.by_expiry.insert((used.expires, used.id.into()));
        Ok(Spend::Now)
    }
}

impl Default for MemorySpent {
    fn default() -> Self {
        Self::with_limit(MAX_SPENT)
    }
}

impl Spent {
    fn forget_expired(&mut self, now: u64) {
        while let Some((expires, _)) = self.by_expiry.first()
            && *expires < now
            && let Some((_, id)) = self.by_expiry.pop_first()
        {
            let Some(owner) = self.ids.remove(&id) else {
                continue;
            };
            if let Some(count) = self.owners.get_mut(&owner) {
                *count -= 1;
                if *count == 0 {
                    self.owners.remove(&owner);
                }
            }
        }
    }
}

impl SpentStates for MemorySpent {
    fn spend<'a>(&'a self, used: StateUse<'a>) -> BoxFuture<'a, Result<Spend, StoreError>> {
        Box::pin(std::future::ready(self.spend_now(used)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(id: &[u8], owner: u64, expires: u64, now: u64) -> StateUse<'_> {
        StateUse::new(id, owner, expires, now)
    }

    #[test]
    fn a_full_store_takes_nothing_until_something_has_expired() {
        let spent = MemorySpent::with_limit(2);
        let spend = |id: &[u8], owner, expires, now| spent.spend_now(used(id, owner, expires, now));
        assert_eq!(spend(b"a", 1, 10, 0).unwrap(), Spend::Now);
        assert_eq!(spend(b"b", 2, 20, 0).unwrap(), Spend::Now);
        let full = spend(b"c", 3, 20, 10).unwrap_err().to_string();
        assert!(full.contains("2 spent states"), "{full}");
        assert_eq!(spend(b"b", 2, 20, 10).unwrap(), Spend::Before);
        assert_eq!(spend(b"c", 3, 20, 11).unwrap(), Spend::Now);
        let inside = spent.spent.lock();
        let counts = (
            inside.ids.len(),
            inside.by_expiry.len(),
            inside.owners.len(),
        );
        assert_eq!(counts, (2, 2, 2));
    }

    #[test]
    fn one_owner_cannot_fill_it_for_the_others() {
        let spent = MemorySpent::with_limit(10).with_limit_per_owner(2);
        for id in [b"a", b"b"] {
            assert_eq!(spent.spend_now(used(id, 1, 10, 0)).unwrap(), Spend::Now);
        }
        let refused = spent.spend_now(used(b"c", 1, 10, 0)).unwrap();
        assert_eq!(refused, Spend::TooMany { limit: 2 });
        assert_eq!(spent.spend_now(used(b"c", 2, 10, 0)).unwrap(), Spend::Now);
        assert_eq!(spent.spend_now(used(b"d", 1, 20, 11)).unwrap(), Spend::Now);
    }
}
