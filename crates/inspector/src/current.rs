//! The exchange of the current tokio task, to which its messages are assigned.

use std::{cell::Cell, future::Future};

tokio::task_local! {
    /// The exchange that this tokio task runs, and its round.
    static CURRENT: (u64, Cell<usize>);
}

/// The exchange that this tokio task runs, and its round.
pub(super) fn current() -> Option<(u64, usize)> {
    CURRENT
        .try_with(|(exchange, round)| (*exchange, round.get()))
        .ok()
}

/// Runs work as part of an exchange: messages that it sends are shown with the exchange.
pub(super) fn for_exchange<F: Future>(n: u64, work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope((n, Cell::new(1)), work)
}

/// Starts the next round of the exchange.
pub(super) fn begin_round(round: usize) {
    let _ = CURRENT.try_with(|(_, current)| current.set(round));
}
