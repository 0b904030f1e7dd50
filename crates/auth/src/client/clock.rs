//! The current time, as it is written in tokens.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp(pub(crate) u64);

impl Timestamp {
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self(since.unwrap_or_default().as_secs())
    }

    pub(crate) fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time.as_secs()))
    }
}
