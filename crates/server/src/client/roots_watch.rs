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
    /// Whether somebody has to begin to look. Changes while somebody looks are one.
    pub(super) fn begin(&self) -> bool {
        let next = |now| Some(if now == IDLE { LOOKING } else { LOOKING_AGAIN });
        let before = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        before == Ok(IDLE)
    }

    /// Whether nothing has changed meanwhile; then somebody else begins next time.
    pub(super) fn end(&self) -> bool {
        let next = |now| Some(if now == LOOKING_AGAIN { LOOKING } else { IDLE });
        let before = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        before == Ok(LOOKING)
    }

    /// Nobody looks any more.
    pub(super) fn give_up(&self) {
        self.0.store(IDLE, Ordering::Release);
    }
}
