//! States of calls that were used: what is spent here is not taken again.

use std::collections::{BTreeSet, HashSet};

use turnbuckle_base::lock::Mutex;

use crate::{BoxFuture, StoreError};

/// How many spent states memory holds: a million, which is 280 a second for the hour in which they
/// would be taken, in less than 150 MB.
pub const MAX_SPENT: usize = 1_000_000;

/// Whether a state may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spend {
    /// It is used now, for the first time.
    Now,
    /// It was used before.
    Before,
}

/// Remembers which states were used, so that none is used twice.
///
/// Replicas that share their keys must share this too, or a state can be used once on each.
pub trait SpentStates: Send + Sync + 'static {
    /// Uses a state, known by the bytes of its id, and remembers it until it expires by itself. Of
    /// several that use the same state at the same time exactly one is told [`Spend::Now`].
    /// `expires` and `now` are in seconds since 1970.
    ///
    /// # Errors
    /// If the store cannot tell. The state is refused then.
    fn spend<'a>(
        &'a self,
        id: &'a [u8],
        expires: u64,
        now: u64,
    ) -> BoxFuture<'a, Result<Spend, StoreError>>;
}

/// Spent states of one process, up to [`MAX_SPENT`].
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use turnbuckle_store::{MemorySpent, Spend, SpentStates};
///
/// let spent = MemorySpent::default();
/// assert_eq!(spent.spend(b"id", 60, 0).await?, Spend::Now);
/// assert_eq!(spent.spend(b"id", 60, 1).await?, Spend::Before);
/// # Ok::<(), turnbuckle_store::StoreError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct MemorySpent {
    limit: usize,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    ids: HashSet<Box<[u8]>>,
    /// By the time at which they expire.
    by_expiry: BTreeSet<(u64, Box<[u8]>)>,
}

impl MemorySpent {
    /// Holds so many states. When it is full of states that have not expired, further ones are
    /// refused: to forget one would be to take it twice.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            spent: Mutex::default(),
        }
    }

    fn spend_now(&self, id: &[u8], expires: u64, now: u64) -> Result<Spend, StoreError> {
        let mut spent = self.spent.lock();
        spent.forget_expired(now);
        if spent.ids.contains(id) {
            return Ok(Spend::Before);
        }
        if spent.ids.len() >= self.limit {
            let full = format!(
                "it holds {} spent states and none has expired; share a larger store, or let states \
                 expire sooner",
                self.limit
            );
            return Err(StoreError::new("memory", full));
        }
        spent.ids.insert(id.into());
        spent.by_expiry.insert((expires, id.into()));
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
            self.ids.remove(&id);
        }
    }
}

impl SpentStates for MemorySpent {
    fn spend<'a>(
        &'a self,
        id: &'a [u8],
        expires: u64,
        now: u64,
    ) -> BoxFuture<'a, Result<Spend, StoreError>> {
        Box::pin(std::future::ready(self.spend_now(id, expires, now)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_store_takes_nothing_until_something_has_expired() {
        let spent = MemorySpent::with_limit(2);
        assert_eq!(spent.spend_now(b"a", 10, 0).unwrap(), Spend::Now);
        assert_eq!(spent.spend_now(b"b", 20, 0).unwrap(), Spend::Now);
        let full = spent.spend_now(b"c", 20, 10).unwrap_err().to_string();
        assert!(full.contains("2 spent states"), "{full}");
        assert_eq!(spent.spend_now(b"b", 20, 10).unwrap(), Spend::Before);
        assert_eq!(spent.spend_now(b"c", 20, 11).unwrap(), Spend::Now);
        let inside = spent.spent.lock();
        assert_eq!((inside.ids.len(), inside.by_expiry.len()), (2, 2));
    }
}
