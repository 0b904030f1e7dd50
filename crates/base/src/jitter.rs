//! Random numbers that spread waits. They are not suitable for secrets.

use std::{
    cell::Cell,
    hash::{BuildHasher as _, RandomState},
};

thread_local! {
    /// The state of the sequence on this thread, if a simulation has set one.
    static SEQUENCE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A random number, used so that the many clients of a restarted server do not all come back at once.
pub fn random() -> u64 {
    match SEQUENCE.get() {
        // A hasher gets new seeds each time.
        None => RandomState::new().hash_one(0_u8),
        Some(state) => {
            let (number, next) = split_mix(state);
            SEQUENCE.set(Some(next));
            number
        }
    }
}

/// One step of SplitMix64: returns a number, and the state for the next step.
pub fn split_mix(state: u64) -> (u64, u64) {
    let next = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut number = next;
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (number ^ (number >> 31), next)
}

/// Makes the numbers random again when it is dropped.
#[must_use = "the sequence is used until this is dropped"]
#[derive(Debug)]
pub struct Seeded(());

impl Drop for Seeded {
    fn drop(&mut self) {
        SEQUENCE.set(None);
    }
}

/// Makes this thread draw the same numbers for the same seed, until the returned value is dropped. For simulations.
pub fn seed(seed: u64) -> Seeded {
    SEQUENCE.set(Some(seed));
    Seeded(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_again() {
        let numbers = || [(); 3].map(|()| random());
        let seeded = seed(1);
        let first = numbers();
        drop(seeded);
        assert_ne!(numbers(), first);
        let _seeded = seed(1);
        assert_eq!(numbers(), first);
    }
}
