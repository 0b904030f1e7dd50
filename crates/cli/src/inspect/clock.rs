//! Times as the page has them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch, with a fraction.
pub(super) fn now() -> f64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    milliseconds(since)
}

/// A span in milliseconds, to the microsecond.
pub(super) fn milliseconds(span: Duration) -> f64 {
    (span.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
