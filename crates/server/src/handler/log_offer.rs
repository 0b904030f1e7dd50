//! Whether log messages are enabled, and so the logging capability declared.

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
pub(crate) struct LogOffer {
    to_all: AtomicBool,
    to_some: AtomicBool,
}

impl LogOffer {
    /// There is a layer that sends log messages, or a handler that every caller sees.
    pub(crate) fn make(&self) {
        self.to_all.store(true, Ordering::Relaxed);
    }

    /// There is a handler that sends log messages and that only some callers see.
    pub(crate) fn make_for_some(&self) {
        self.to_some.store(true, Ordering::Relaxed);
    }

    /// Whether every caller is offered log messages.
    pub(crate) fn is_made(&self) -> bool {
        self.to_all.load(Ordering::Relaxed) || is_forwarding()
    }

    /// Whether some callers are.
    pub(crate) fn is_made_to_some(&self) -> bool {
        self.is_made() || self.to_some.load(Ordering::Relaxed)
    }
}
