//! Counts the usage of each caller, in a table of fixed size.
//!
//! The table has two rows, and a caller's digest selects one cell in each row. So no caller has to
//! be looked up or removed. A cell may count several callers, but the smaller one of a caller's two
//! cells is used: two callers are counted together only if they share both cells.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::CallerKey;

/// The number of cells in a row.
const CELLS: usize = 1024;

/// Two rows of cells.
pub(crate) struct CallerCells<C = AtomicUsize>(Box<[[C; CELLS]; 2]>);

impl CallerCells<AtomicUsize> {
    pub(crate) fn new() -> Self {
        Self(Box::new(
            [const { [const { AtomicUsize::new(0) }; CELLS] }; 2],
        ))
    }

    /// Takes this amount for a caller. Returns `false`, and takes nothing, if that exceeds the
    /// limit.
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

    /// The amount that a caller has taken. It may be too high if others share its cells.
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
    /// Creates cells whose numbers the owner interprets.
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
