//! Whether clients may be sent log messages.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether events of handlers are sent to clients at all in this process.
static FORWARDING: AtomicBool = AtomicBool::new(false);

/// Whether events of handlers are sent to clients.
pub(crate) fn is_forwarding() -> bool {
    FORWARDING.load(Ordering::Relaxed)
}

#[cfg(feature = "tracing-layer")]
pub(crate) fn start_forwarding() {
    FORWARDING.store(true, Ordering::Relaxed);
}

/// Whether a server offers log messages. What was once offered stays so.
#[derive(Debug, Default)]
pub(crate) struct LogOffer(AtomicBool);

impl LogOffer {
    /// There is a handler or a layer that sends log messages.
    pub(crate) fn make(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_made(&self) -> bool {
        self.0.load(Ordering::Relaxed) || is_forwarding()
    }
}
