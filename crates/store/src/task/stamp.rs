//! Points in time as numbers and as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// The milliseconds since 1970; zero for earlier times.
pub fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Formats a time as ISO 8601 text, in UTC with milliseconds.
///
/// ```
/// assert_eq!(turnbuckle_store::task::timestamp(1_785_196_800_123), "2026-07-28T00:00:00.123Z");
/// ```
pub fn timestamp(millis: u64) -> String {
    const DAY: u64 = 86_400;
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (days, second) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date of a day since 1970. Years are counted from March, so that a leap day is the last day
/// of its year, and in eras of 400 years, which all have the same length.
fn date(days: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days / ERA, days % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_come_and_go_are_counted() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(seconds * 1000), text);
        }
    }

    #[test]
    fn no_time_is_too_far_away() {
        assert!(timestamp(u64::MAX).ends_with('Z'));
        assert_eq!(millis(UNIX_EPOCH), 0);
    }
}
