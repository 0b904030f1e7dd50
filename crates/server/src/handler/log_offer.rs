//! Whether log messages are enabled, so that the logging capability is declared.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether `tracing` events of handlers are sent to clients in this process.
static FORWARDING: AtomicBool = AtomicBool::new(false);

/// Whether `tracing` events of handlers are sent to clients.
pub(crate) fn is_forwarding() -> bool {
    FORWARDING.load(Ordering::Relaxed)
}

#[cfg(feature = "tracing-layer")]
pub(crate) fn start_forwarding() {
    FORWARDING.store(true, Ordering::Relaxed);
}

/// Whether a server offers log messages. Once they are offered, they stay offered.
#[derive(Debug, Default)]
pub(crate) struct LogOffer {
    to_all: AtomicBool,
    to_some: AtomicBool,
}

impl LogOffer {
    /// Notes that there is a layer that sends log messages, or a handler that does so and that
    /// every caller sees.
    pub(crate) fn make(&self) {
        self.to_all.store(true, Ordering::Relaxed);
    }

    /// Notes that there is a handler that sends log messages and that only some callers see.
    pub(crate) fn make_for_some(&self) {
        self.to_some.store(true, Ordering::Relaxed);
    }

    /// Whether log messages are offered to every caller.
    pub(crate) fn is_made(&self) -> bool {
        self.to_all.load(Ordering::Relaxed) || is_forwarding()
    }

    /// Whether log messages are offered to some callers.
    pub(crate) fn is_made_to_some(&self) -> bool {
        self.is_made() || self.to_some.load(Ordering::Relaxed)
    }
}
