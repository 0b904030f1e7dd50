//! Remembers used proofs, so that each proof is accepted only once (RFC 9449, 11.1).

use std::collections::{HashMap, HashSet};

use turnbuckle_base::lock::Mutex;

/// How many proofs are remembered in one period. Each takes some forty bytes, so two periods take
/// at most eighty megabytes. Only proofs with a valid token and signature are counted.
const MAX_PROOFS: usize = 1_000_000;

/// How many proofs of one key are remembered in one period: a tenth of all, or 160 requests per
/// second. A client that sends more has to wait for the next period; other clients are not
/// affected.
pub(super) const MAX_PROOFS_OF_KEY: u32 = 100_000;

/// The proofs of this period and of the previous one.
#[derive(Debug)]
pub(super) struct Replay {
    periods: Mutex<Periods>,
    /// In seconds.
    period: u64,
    max: usize,
    max_of_key: u32,
}

#[derive(Debug, Default)]
struct Periods {
    number: u64,
    current: HashSet<[u8; 32]>,
    previous: HashSet<[u8; 32]>,
    /// The number of current proofs of each key.
    keys: HashMap<[u8; 32], u32>,
}

/// The result of checking whether a proof was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    First,
    Again,
    /// Too many proofs are remembered, so this one cannot be checked.
    Crowded,
    /// Too many proofs of this key are remembered.
    KeyCrowded,
}

impl Replay {
    /// A proof is valid for `window` seconds before and after its time, so it must be remembered
    /// for twice as long.
    pub(super) fn new(window: u64) -> Self {
        Self {
            periods: Mutex::default(),
            period: window.saturating_mul(2).max(1),
            max: MAX_PROOFS,
            max_of_key: MAX_PROOFS_OF_KEY,
        }
    }

    /// Records that a proof of a key is used.
    pub(super) fn note(&self, proof: [u8; 32], key: [u8; 32], now: u64) -> Use {
        let mut periods = self.periods.lock();
        periods.move_to(now / self.period);
        if periods.previous.contains(&proof) || periods.current.contains(&proof) {
            return Use::Again;
        }
        if periods.current.len() >= self.max {
            return Use::Crowded;
        }
        let max_of_key = self.max_of_key;
        let of_key = periods.keys.entry(key).or_default();
        if *of_key >= max_of_key {
            return Use::KeyCrowded;
        }
        *of_key += 1;
        periods.current.insert(proof);
        Use::First
    }
}

impl Periods {
    fn move_to(&mut self, number: u64) {
        if number <= self.number {
            // If the clock goes back, nothing is forgotten.
            return;
        }
        let current = std::mem::take(&mut self.current);
        self.keys = HashMap::new();
        self.previous = if number == self.number + 1 {
            current
        } else {
            HashSet::new()
        };
        self.number = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_used_once_for_as_long_as_it_is_good() {
        let replay = Replay::new(300);
        for start in [600, 1190, 100_000] {
            let proof = [u8::try_from(start % 251).unwrap(); 32];
            assert_eq!(replay.note(proof, [0; 32], start), Use::First, "{start}");
            for later in [0, 1, 299, 300, 599, 600] {
                let now = start + later;
                assert_eq!(
                    replay.note(proof, [0; 32], now),
                    Use::Again,
                    "{start} + {later}"
                );
            }
        }
    }

    #[test]
    fn what_is_remembered_is_bounded_and_forgotten() {
        let replay = Replay {
            max: 2,
            ..Replay::new(300)
        };
        assert_eq!(replay.note([1; 32], [0; 32], 0), Use::First);
        assert_eq!(replay.note([2; 32], [0; 32], 0), Use::First);
        assert_eq!(replay.note([3; 32], [0; 32], 0), Use::Crowded);
        assert_eq!(replay.note([3; 32], [0; 32], 600), Use::First);
        assert_eq!(replay.note([1; 32], [0; 32], 5000), Use::First);
    }

    #[test]
    fn one_key_does_not_take_the_memory_of_the_others() {
        let replay = Replay {
            max_of_key: 2,
            ..Replay::new(300)
        };
        let (busy, other) = ([8; 32], [9; 32]);
        assert_eq!(replay.note([1; 32], busy, 0), Use::First);
        assert_eq!(replay.note([2; 32], busy, 0), Use::First);
        assert_eq!(replay.note([3; 32], busy, 0), Use::KeyCrowded);
        assert_eq!(replay.note([4; 32], other, 0), Use::First);
        assert_eq!(replay.note([3; 32], busy, 600), Use::First);
    }
}
