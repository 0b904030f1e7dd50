//! Proofs that were used, so that none is used twice (RFC 9449, 11.1).

use std::collections::HashSet;

use turnbuckle_base::lock::Mutex;

/// Proofs that are remembered in one period. Each costs some forty bytes, so two periods cost eighty
/// megabytes at the most. Only those whose token and signature are good are counted.
const MAX_PROOFS: usize = 1_000_000;

/// The proofs of this period and of the one before.
#[derive(Debug)]
pub(super) struct Replay {
    periods: Mutex<Periods>,
    /// Seconds.
    period: u64,
    max: usize,
}

#[derive(Debug, Default)]
struct Periods {
    number: u64,
    current: HashSet<[u8; 32]>,
    previous: HashSet<[u8; 32]>,
}

/// Whether a proof was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    First,
    Again,
    /// It cannot be told, because there are too many.
    Crowded,
}

impl Replay {
    /// A proof is good for `window` seconds before and after the time that it names, so it must be
    /// remembered for twice as long.
    pub(super) fn new(window: u64) -> Self {
        Self {
            periods: Mutex::default(),
            period: window.saturating_mul(2).max(1),
            max: MAX_PROOFS,
        }
    }

    /// Notes that a proof is used.
    pub(super) fn note(&self, proof: [u8; 32], now: u64) -> Use {
        let mut periods = self.periods.lock();
        periods.move_to(now / self.period);
        if periods.previous.contains(&proof) || periods.current.contains(&proof) {
            return Use::Again;
        }
        if periods.current.len() >= self.max {
            return Use::Crowded;
        }
        periods.current.insert(proof);
        Use::First
    }
}

impl Periods {
    fn move_to(&mut self, number: u64) {
        if number <= self.number {
            // A clock that went back opens nothing.
            return;
        }
        let current = std::mem::take(&mut self.current);
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
            assert_eq!(replay.note(proof, start), Use::First, "{start}");
            for later in [0, 1, 299, 300, 599, 600] {
                let now = start + later;
                assert_eq!(replay.note(proof, now), Use::Again, "{start} + {later}");
            }
        }
    }

    #[test]
    fn what_is_remembered_is_bounded_and_forgotten() {
        let replay = Replay {
            max: 2,
            ..Replay::new(300)
        };
        assert_eq!(replay.note([1; 32], 0), Use::First);
        assert_eq!(replay.note([2; 32], 0), Use::First);
        assert_eq!(replay.note([3; 32], 0), Use::Crowded);
        assert_eq!(replay.note([3; 32], 600), Use::First);
        assert_eq!(replay.note([1; 32], 5000), Use::First);
    }
}
