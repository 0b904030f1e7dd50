//! The current time, in seconds as in tokens.

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// How far our clock and that of an issuer or a client may differ, in seconds. Synchronised clocks
/// differ by less than a second; a minute tolerates the others.
pub(super) const CLOCK_SKEW: u64 = 60;

/// Returns the time in seconds since 1970.
#[derive(Clone)]
pub(super) struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    pub(super) fn new(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(clock))
    }

    pub(super) fn now(&self) -> u64 {
        let since = (self.0)().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(SystemTime::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
