//! Used `requestState`s, so that each is accepted only once.

use std::collections::{BTreeSet, HashMap};

use turnbuckle_base::lock::Mutex;

use crate::{BoxFuture, StoreError};

/// How many used states are kept in memory: 70 per second for the hour in which they would be
/// accepted, in some forty megabytes.
pub const MAX_USED_STATES: usize = 250_000;

/// How many states of one owner are kept: a tenth of all, or 7 per second.
pub const MAX_USED_STATES_PER_OWNER: usize = 25_000;

/// Whether a state may be used, returned by [`UsedStates::claim`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateClaim {
    /// The state was not used before, and is now marked as used.
    FirstUse,
    /// The state was used before.
    AlreadyUsed,
    /// The state is not accepted, because its owner has used too many states that have not expired yet.
    TooMany {
        /// The most used states of one owner.
        limit: usize,
    },
}

/// One use of a state.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StateUse<'a> {
    /// The bytes of the state's id.
    pub id: &'a [u8],
    /// The owner for quotas: a number that is the same for the same caller within one process.
    pub owner: u64,
    /// When the state expires, in seconds since 1970.
    pub expires: u64,
    /// The current time, in seconds since 1970.
    pub now: u64,
}

impl<'a> StateUse<'a> {
    /// Makes a use of a state.
    pub fn new(id: &'a [u8], owner: u64, expires: u64, now: u64) -> Self {
        Self {
            id,
            owner,
            expires,
            now,
        }
    }
}

/// Remembers which states were used, so that each is accepted only once.
///
/// Replicas that share their keys must share this too, or a state can be used once on each.
pub trait UsedStates: Send + Sync + 'static {
    /// Marks a state as used, until it expires. If several callers use the same state at the same
    /// time, exactly one gets [`StateClaim::FirstUse`].
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be used. The state must then be refused.
    fn claim<'a>(&'a self, used: StateUse<'a>) -> BoxFuture<'a, Result<StateClaim, StoreError>>;
}

/// Used states of one process, up to [`MAX_USED_STATES`], and up to [`MAX_USED_STATES_PER_OWNER`]
/// of one owner.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use turnbuckle_store::{MemoryUsedStates, StateClaim, UsedStates, StateUse};
///
/// let used_states = MemoryUsedStates::default();
/// let ada = 7;
/// assert_eq!(used_states.claim(StateUse::new(b"id", ada, 60, 0)).await?, StateClaim::FirstUse);
/// assert_eq!(used_states.claim(StateUse::new(b"id", ada, 60, 1)).await?, StateClaim::AlreadyUsed);
/// # Ok::<(), turnbuckle_store::StoreError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct MemoryUsedStates {
    limit: usize,
    limit_per_owner: usize,
    used: Mutex<UsedTable>,
}

#[derive(Debug, Default)]
struct UsedTable {
    /// Each state's owner.
    ids: HashMap<Box<[u8]>, u64>,
    /// How many states each owner has used.
    owners: HashMap<u64, usize>,
    /// Ordered by the time at which they expire.
    by_expiry: BTreeSet<(u64, Box<[u8]>)>,
}

impl MemoryUsedStates {
    /// Makes a store that holds this many states, at most a tenth of them of one owner. When it is
    /// full of states that have not expired, further ones are refused: a forgotten state could be
    /// used twice.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            limit_per_owner: limit.div_ceil(10),
            used: Mutex::default(),
        }
    }

    /// Sets how many states of one owner it holds.
    pub fn with_limit_per_owner(mut self, limit: usize) -> Self {
        self.limit_per_owner = limit;
        self
    }

    fn claim_now(&self, used: StateUse<'_>) -> Result<StateClaim, StoreError> {
        let mut used_states = self.used.lock();
        used_states.forget_expired(used.now);
        if used_states.ids.contains_key(used.id) {
            return Ok(StateClaim::AlreadyUsed);
        }
        let limit = self.limit_per_owner;
        if used_states.owners.get(&used.owner).copied().unwrap_or(0) >= limit {
            return Ok(StateClaim::TooMany { limit });
        }
        if used_states.ids.len() >= self.limit {
            let full = format!(
                "it holds {} used states and none has expired: share a larger store, let states expire \
                 sooner, or raise `MemoryUsedStates::with_limit`",
                self.limit
            );
            return Err(StoreError::new("memory", full));
        }
        *used_states.owners.entry(used.owner).or_default() += 1;
        used_states.ids.insert(used.id.into(), used.owner);
        used_states.by_expiry.insert((used.expires, used.id.into()));
        Ok(StateClaim::FirstUse)
    }
}

impl Default for MemoryUsedStates {
    fn default() -> Self {
        Self::with_limit(MAX_USED_STATES)
    }
}

impl UsedTable {
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

impl UsedStates for MemoryUsedStates {
    fn claim<'a>(&'a self, used: StateUse<'a>) -> BoxFuture<'a, Result<StateClaim, StoreError>> {
        Box::pin(std::future::ready(self.claim_now(used)))
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
        let used_states = MemoryUsedStates::with_limit(2);
        let claim =
            |id: &[u8], owner, expires, now| used_states.claim_now(used(id, owner, expires, now));
        assert_eq!(claim(b"a", 1, 10, 0).unwrap(), StateClaim::FirstUse);
        assert_eq!(claim(b"b", 2, 20, 0).unwrap(), StateClaim::FirstUse);
        let full = claim(b"c", 3, 20, 10).unwrap_err().to_string();
        assert!(full.contains("2 used states"), "{full}");
        assert_eq!(claim(b"b", 2, 20, 10).unwrap(), StateClaim::AlreadyUsed);
        assert_eq!(claim(b"c", 3, 20, 11).unwrap(), StateClaim::FirstUse);
        let inside = used_states.used.lock();
        let counts = (
            inside.ids.len(),
            inside.by_expiry.len(),
            inside.owners.len(),
        );
        assert_eq!(counts, (2, 2, 2));
    }

    #[test]
    fn one_owner_cannot_fill_it_for_the_others() {
        let used_states = MemoryUsedStates::with_limit(10).with_limit_per_owner(2);
        for id in [b"a", b"b"] {
            assert_eq!(
                used_states.claim_now(used(id, 1, 10, 0)).unwrap(),
                StateClaim::FirstUse
            );
        }
        let refused = used_states.claim_now(used(b"c", 1, 10, 0)).unwrap();
        assert_eq!(refused, StateClaim::TooMany { limit: 2 });
        assert_eq!(
            used_states.claim_now(used(b"c", 2, 10, 0)).unwrap(),
            StateClaim::FirstUse
        );
        assert_eq!(
            used_states.claim_now(used(b"d", 1, 20, 11)).unwrap(),
            StateClaim::FirstUse
        );
    }
}
