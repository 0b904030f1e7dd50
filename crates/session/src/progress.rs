//! Progress values, which must grow, and the rate of progress reports.

/// The highest progress value of one request so far. It decides whether the next value is allowed.
///
/// A sender checks values before it sends `notifications/progress`, and a receiver before it accepts
/// one.
///
/// ```
/// use turnbuckle_session::progress::Monotonic;
///
/// let mut progress = Monotonic::new();
/// let sent: Vec<f64> =
///     [0.0, 1.5, 1.5, 1.0, f64::NAN, 2.0].into_iter().filter(|value| progress.admit(*value)).collect();
/// assert_eq!(sent, [0.0, 1.5, 2.0]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Monotonic {
    highest: Option<f64>,
}

impl Monotonic {
    /// Creates an instance without a value.
    pub const fn new() -> Self {
        Self { highest: None }
    }

    /// Returns whether `value` is greater than all values before it. If so, it is the new highest
    /// value.
    ///
    /// The first value may be any finite number. Infinities and NaN are never admitted, because JSON
    /// cannot express them.
    pub fn admit(&mut self, value: f64) -> bool {
        // progress: the value MUST increase with each notification.
        let grows = value.is_finite() && self.highest.is_none_or(|highest| value > highest);
        if grows {
            self.highest = Some(value);
        }
        grows
    }

    /// Returns the last admitted value.
    pub const fn highest(&self) -> Option<f64> {
        self.highest
    }
}

/// Whether a report may be sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It may be sent.
    Due,
    /// There were too many reports recently.
    TooSoon,
}

/// Reduces the progress reports of one request to a given rate.
///
/// The values must grow, as for [`Monotonic`]. A report that comes too soon is held back and replaced
/// by a newer one. The last report is never lost if the caller [takes](Self::take_waiting) the one that
/// is held back at the end. The caller measures the time.
///
/// ```
/// use turnbuckle_session::progress::{Coalesced, Pace};
///
/// let mut reports = Coalesced::default();
/// assert_eq!(reports.offer(1.0, "one", Pace::Due), Some("one"));
/// assert_eq!(reports.offer(2.0, "two", Pace::TooSoon), None);
/// assert_eq!(reports.offer(3.0, "three", Pace::TooSoon), None);
/// assert_eq!(reports.take_waiting(), Some("three"));
/// ```
#[derive(Debug)]
pub struct Coalesced<R> {
    last: Monotonic,
    waiting: Option<R>,
}

impl<R> Default for Coalesced<R> {
    fn default() -> Self {
        Self {
            last: Monotonic::new(),
            waiting: None,
        }
    }
}

impl<R> Coalesced<R> {
    /// Adds a report, and returns it if it should be sent now.
    pub fn offer(&mut self, progress: f64, report: R, pace: Pace) -> Option<R> {
        if !self.last.admit(progress) {
            return None;
        }
        match pace {
            Pace::Due => {
                self.waiting = None;
                Some(report)
            }
            Pace::TooSoon => {
                self.waiting = Some(report);
                None
            }
        }
    }

    /// Returns whether a report is held back.
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Removes and returns the report that is held back, to be sent now.
    pub fn take_waiting(&mut self) -> Option<R> {
        self.waiting.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_goes_on_replaces_one_that_waits() {
        let mut reports = Coalesced::default();
        assert_eq!(reports.offer(1.0, 1, Pace::TooSoon), None);
        assert_eq!(reports.offer(2.0, 2, Pace::Due), Some(2));
        assert!(!reports.is_waiting());
        assert_eq!(reports.offer(2.0, 3, Pace::Due), None);
        assert_eq!(reports.offer(1.5, 4, Pace::TooSoon), None);
        assert_eq!(reports.take_waiting(), None);
    }

    #[test]
    fn the_first_value_may_be_zero_or_less() {
        assert!(Monotonic::new().admit(0.0));
        assert!(Monotonic::new().admit(-3.0));
    }

    #[test]
    fn equal_and_falling_values_are_dropped_and_leave_no_trace() {
        let mut progress = Monotonic::new();
        assert!(progress.admit(10.0));
        assert!(!progress.admit(10.0));
        assert!(!progress.admit(9.9));
        assert_eq!(progress.highest(), Some(10.0));
        assert!(progress.admit(10.000_001));
    }

    #[test]
    fn minus_zero_after_zero_is_not_progress() {
        let mut progress = Monotonic::new();
        assert!(progress.admit(0.0));
        assert!(!progress.admit(-0.0));
    }

    #[test]
    fn what_json_cannot_write_is_never_admitted() {
        let mut progress = Monotonic::new();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!progress.admit(value));
        }
        assert_eq!(progress.highest(), None);
        assert!(progress.admit(1.0));
    }
}
