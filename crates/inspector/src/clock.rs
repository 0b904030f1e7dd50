//! Times in the form that the page uses.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serializer;

/// Milliseconds since the epoch, with a fraction.
pub(super) fn now() -> f64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    milliseconds(since)
}

/// A duration in milliseconds, rounded to microseconds.
pub(super) fn milliseconds(span: Duration) -> f64 {
    (span.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// Writes a time as JavaScript would: `3` and not `3.0`, which the page would show with its digits, like
/// numbers in messages.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a whole number of milliseconds is far from the bounds"
)]
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field as it is"
)]
pub(super) fn plain<S: Serializer>(time: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if time.fract() == 0.0 {
        return serializer.serialize_i64(*time as i64);
    }
    serializer.serialize_f64(*time)
}

/// The same for an optional time.
#[expect(clippy::ref_option, reason = "serde gives the field as it is")]
pub(super) fn plain_or_none<S: Serializer>(
    time: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => plain(time, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_written_as_the_page_would_write_them() {
        for (time, wanted) in [(3.0, "3"), (0.0, "0"), (0.001, "0.001"), (12.5, "12.5")] {
            let mut text = Vec::new();
            let mut writer = serde_json::Serializer::new(&mut text);
            super::plain(&time, &mut writer).expect("a number can be written");
            assert_eq!(text, wanted.as_bytes());
        }
    }
}
