//! A cache of tokens that were verified recently.

use std::{collections::HashMap, sync::Arc};

use turnbuckle_base::lock::Mutex;

/// How many tokens are cached. An entry has the claims of a token, a few kilobytes at most, so all
/// of them take some tens of megabytes. With more callers, tokens are verified more often.
const MAX_TOKENS: usize = 10_000;

/// What is known about tokens, by their digests, each until a certain time. The tokens themselves
/// are not kept.
#[derive(Debug)]
pub(super) struct Memory<T> {
    halves: Mutex<Halves<T>>,
    max: usize,
}

/// Two halves: when the newer half is full, it becomes the older one, and the old half is dropped.
#[derive(Debug)]
struct Halves<T> {
    newer: HashMap<[u8; 32], (Arc<T>, u64)>,
    older: HashMap<[u8; 32], (Arc<T>, u64)>,
}

impl<T> Memory<T> {
    pub(super) fn new() -> Self {
        Self::of(MAX_TOKENS)
    }

    fn of(max: usize) -> Self {
        let halves = Mutex::new(Halves {
            newer: HashMap::new(),
            older: HashMap::new(),
        });
        Self { halves, max }
    }

    /// Returns the cached result of a verification, if it is still valid.
    pub(super) fn recall(&self, token: &[u8; 32], now: u64) -> Option<Arc<T>> {
        let mut halves = self.halves.lock();
        if let Some((known, until)) = halves.newer.get(token) {
            return (now < *until).then(|| Arc::clone(known));
        }
        let (known, until) = halves.older.remove(token)?;
        if now >= until {
            return None;
        }
        halves.put(*token, (Arc::clone(&known), until), self.max);
        Some(known)
    }

    /// Caches a result until a time.
    pub(super) fn remember(&self, token: [u8; 32], known: Arc<T>, until: u64) {
        let mut halves = self.halves.lock();
        halves.put(token, (known, until), self.max);
    }
}

impl<T> Halves<T> {
    fn put(&mut self, token: [u8; 32], entry: (Arc<T>, u64), max: usize) {
        if self.newer.len() >= max / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(token, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_true_for_a_time_and_bounded() {
        let memory = Memory::of(4);
        let token = |n: u8| [n; 32];
        memory.remember(token(0), Arc::new(0), 10);
        assert_eq!(memory.recall(&token(0), 9).as_deref(), Some(&0));
        assert_eq!(memory.recall(&token(0), 10), None);
        for n in 1..=20 {
            memory.remember(token(n), Arc::new(n), 10);
            let halves = memory.halves.lock();
            assert!(halves.newer.len() + halves.older.len() <= 4);
        }
        assert_eq!(memory.recall(&token(20), 0).as_deref(), Some(&20));
        assert_eq!(memory.recall(&token(1), 0), None);
        // A token that is in use stays cached.
        for n in 21..=40 {
            memory.remember(token(n), Arc::new(n), 10);
            assert!(memory.recall(&token(20), 0).is_some(), "{n}");
        }
    }
}
