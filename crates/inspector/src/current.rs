//! The exchange of the current task, to which its messages are assigned.

use std::{cell::Cell, future::Future};

tokio::task_local! {
    /// The exchange that this task is for, and its round.
    static CURRENT: (u64, Cell<usize>);
}

/// The exchange that this task is for, and its round.
pub(super) fn current() -> Option<(u64, usize)> {
    CURRENT
        .try_with(|(exchange, round)| (*exchange, round.get()))
        .ok()
}

/// Work that is part of an exchange: what it sends is shown with it.
pub(super) fn for_exchange<F: Future>(n: u64, work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope((n, Cell::new(1)), work)
}

/// The next round of it begins.
pub(super) fn begin_round(round: usize) {
    let _ = CURRENT.try_with(|(_, current)| current.set(round));
}
