//! Whether the roots of a session are being looked at.

use std::sync::atomic::{AtomicU8, Ordering};

/// Whether a session's roots are being looked at.
#[derive(Debug, Default)]
pub(crate) struct RootsWatch(AtomicU8);

const IDLE: u8 = 0;
const LOOKING: u8 = 1;
/// They changed again meanwhile.
const LOOKING_AGAIN: u8 = 2;

impl RootsWatch {
    /// Whether the caller has to begin fetching. Changes during a fetch count as one.
    pub(super) fn begin(&self) -> bool {
        let next = |now| Some(if now == IDLE { LOOKING } else { LOOKING_AGAIN });
        let before = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        before == Ok(IDLE)
    }

    /// Whether nothing has changed meanwhile; then the next change begins a new fetch.
    pub(super) fn end(&self) -> bool {
        let next = |now| Some(if now == LOOKING_AGAIN { LOOKING } else { IDLE });
        let before = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        before == Ok(LOOKING)
    }

    /// The fetch was given up.
    pub(super) fn give_up(&self) {
        self.0.store(IDLE, Ordering::Release);
    }
}
