//! Counts the usage of each caller, in a table of fixed size.
//!
//! A caller has a place in each of two rows by its digest, so that there is nothing to look up and
//! nothing to forget: two callers count for each other only if they share both of their cells.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::CallerKey;

/// Cells of a row.
const CELLS: usize = 1024;

/// Two rows of cells.
pub(crate) struct CallerCells<C = AtomicUsize>(Box<[[C; CELLS]; 2]>);

impl CallerCells<AtomicUsize> {
    pub(crate) fn new() -> Self {
        Self(Box::new(
            [const { [const { AtomicUsize::new(0) }; CELLS] }; 2],
        ))
    }

    /// Takes so much for a caller; false, and nothing is taken, if that is more than the limit.
    pub(crate) fn take(&self, caller: CallerKey, amount: usize, limit: usize) -> bool {
        let mut is_over = true;
        for cell in self.of(caller) {
            let before = cell.fetch_add(amount, Ordering::Relaxed);
            is_over &= before.saturating_add(amount) > limit;
        }
        if is_over {
            self.give_back(caller, amount);
        }
        !is_over
    }

    pub(crate) fn give_back(&self, caller: CallerKey, amount: usize) {
        for cell in self.of(caller) {
            cell.fetch_sub(amount, Ordering::Relaxed);
        }
    }

    /// How much a caller has taken, at most.
    pub(crate) fn used(&self, caller: CallerKey) -> usize {
        let used = self.of(caller).map(|cell| cell.load(Ordering::Relaxed));
        used[0].min(used[1])
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        let mut cells = self.0.iter().flatten();
        cells.all(|cell| cell.load(Ordering::Relaxed) == 0)
    }
}

impl CallerCells<AtomicU64> {
    /// Cells that count as their owner likes.
    pub(crate) fn of_times() -> Self {
        Self(Box::new(
            [const { [const { AtomicU64::new(0) }; CELLS] }; 2],
        ))
    }
}

impl<C> CallerCells<C> {
    /// The two cells of a caller.
    pub(crate) fn of(&self, caller: CallerKey) -> [&C; 2] {
        let [first, second] = caller.cells(CELLS);
        [&self.0[0][first], &self.0[1][second]]
    }
}
