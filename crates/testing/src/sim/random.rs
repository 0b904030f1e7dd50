//! Random numbers that are the same for the same seed.

use std::time::Duration;

use turnbuckle_base::jitter::split_mix;

/// A sequence of random numbers. The same seed gives the same sequence in every release.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a new, separate sequence, for a part of the simulation that runs concurrently.
    pub fn fork(&mut self) -> Self {
        Self::new(self.number())
    }

    /// Returns any number.
    pub fn number(&mut self) -> u64 {
        let (number, state) = split_mix(self.state);
        self.state = state;
        number
    }

    /// Returns a number below `bound`, or zero if the bound is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number().checked_rem(bound).unwrap_or(0)
    }

    /// Returns true in this many cases out of a thousand.
    pub fn chance(&mut self, per_mille: u16) -> bool {
        self.below(1000) < u64::from(per_mille)
    }

    /// Returns a time from zero to `longest`, in whole milliseconds.
    pub fn time(&mut self, longest: Duration) -> Duration {
        let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.below(millis.saturating_add(1)))
    }

    /// Picks one of the items.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let at = self.below(of.len() as u64);
        &of[usize::try_from(at).expect("below the length of a slice")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_in_every_release() {
        let mut random = Random::new(7);
        let first = [(); 3].map(|()| random.below(1000));
        assert_eq!(first, [487, 804, 346]);
        let mut fork = random.fork();
        assert_ne!(fork.number(), random.number());
    }
}
