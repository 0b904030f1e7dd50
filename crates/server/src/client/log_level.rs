//! The log level of a session.

use std::sync::atomic::{AtomicU8, Ordering};

use turnbuckle_protocol::LoggingLevel;

/// The least severe log messages that a session wants; not set until the client sends
/// `logging/setLevel`.
#[derive(Debug, Default)]
pub(crate) struct SessionLevel(AtomicU8);

impl SessionLevel {
    pub(crate) fn set(&self, level: LoggingLevel) {
        // 0 means that no level is set.
        self.0.store(level as u8 + 1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<LoggingLevel> {
        let place = usize::from(self.0.load(Ordering::Relaxed)).checked_sub(1)?;
        LoggingLevel::ALL.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_kept_and_none_is_the_first() {
        let kept = SessionLevel::default();
        assert_eq!(kept.get(), None);
        for level in LoggingLevel::ALL {
            kept.set(level);
            assert_eq!(kept.get(), Some(level));
        }
    }

    #[test]
    fn levels_grow_with_severity() {
        assert!(LoggingLevel::ALL.is_sorted());
    }
}
