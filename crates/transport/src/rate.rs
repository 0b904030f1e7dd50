//! Rate limits.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;

/// Microseconds in a second.
const SECOND: u64 = 1_000_000;

/// A rate limit: a number of events at once, and a number per second after that.
///
/// ```
/// use turnbuckle_transport::Rate;
///
/// let rate = Rate::new(100, 10);
/// assert_eq!(rate.to_string(), "100 at once and 10 per second");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    burst: u32,
    per_second: u32,
}

impl Rate {
    /// No limit.
    pub const UNLIMITED: Self = Self {
        burst: u32::MAX,
        per_second: u32::MAX,
    };

    /// Creates a limit with this many events at once, and this many per second after that. Both are at
    /// least one.
    pub fn new(burst: u32, per_second: u32) -> Self {
        Self {
            burst: burst.max(1),
            per_second: per_second.max(1),
        }
    }

    /// Whether there is no limit.
    pub fn is_unlimited(self) -> bool {
        self.burst == u32::MAX
    }

    /// Returns how many events may happen at once.
    pub fn burst(self) -> u32 {
        self.burst
    }

    /// Returns how many events may happen per second after that.
    pub fn per_second(self) -> u32 {
        self.per_second
    }

    /// Counts one event in a cell. Returns false if it exceeds the limit. The cell contains the time of
    /// the next event at an even pace, in microseconds; `now` is in microseconds since any fixed time.
    pub fn take(self, cell: &AtomicU64, now: u64) -> bool {
        self.take_part(1, cell, now)
    }

    /// The same for one of `parts` equal parts of the rate. A part with less than one event at once
    /// allows nothing.
    pub fn take_part(self, parts: u32, cell: &AtomicU64, now: u64) -> bool {
        if self.is_unlimited() {
            return true;
        }
        let burst = self.burst / parts.max(1);
        if burst == 0 {
            return false;
        }
        let pause = SECOND / u64::from(self.per_second);
        let pause = pause.max(1).saturating_mul(u64::from(parts.max(1)));
        let ahead = pause.saturating_mul(u64::from(burst - 1));
        let next = |due: u64| {
            let due = due.max(now);
            (due - now <= ahead).then(|| due.saturating_add(pause.max(1)))
        };
        cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .is_ok()
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { burst, per_second } = self;
        write!(f, "{burst} at once and {per_second} per second")
    }
}

/// Counts events and applies a rate limit.
#[derive(Debug)]
pub struct Pacer {
    rate: Rate,
    start: Instant,
    cell: AtomicU64,
}

impl Pacer {
    /// Creates a limiter that has not counted anything yet.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            start: Instant::now(),
            cell: AtomicU64::new(0),
        }
    }

    /// Returns the rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Counts one event. Returns false if it exceeds the limit.
    pub fn take(&self, now: Instant) -> bool {
        let now = now.saturating_duration_since(self.start).as_micros();
        self.rate
            .take(&self.cell, u64::try_from(now).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_rate_make_the_whole() {
        let (rate, cells) = (Rate::new(10, 10), [const { AtomicU64::new(0) }; 3]);
        let all = |now| {
            let taken = |cell| (0..10).filter(|_| rate.take_part(3, cell, now)).count();
            cells.iter().map(taken).sum::<usize>()
        };
        assert_eq!(all(0), 9);
        assert_eq!(all(SECOND), 9);
        assert!(!rate.take_part(11, &AtomicU64::new(0), 0));
    }

    #[test]
    fn a_burst_and_then_an_even_pace() {
        let (rate, cell) = (Rate::new(3, 10), AtomicU64::new(0));
        let taken = |now| rate.take(&cell, now);
        assert_eq!([0, 0, 0, 0].map(taken), [true, true, true, false]);
        assert_eq!([99_999, 100_000, 100_001].map(taken), [false, true, false]);
        assert_eq!([10 * SECOND; 4].map(taken), [true, true, true, false]);
        let cell = AtomicU64::new(0);
        assert!((0..1000).all(|_| Rate::UNLIMITED.take(&cell, 0)));
    }
}
