//! How long a request may take: a timeout that progress renews, and a maximum that it does not.

use std::time::{Duration, Instant};

/// How long a request may take without an answer or progress, unless its caller sets another time.
///
/// A minute: longer than nearly every tool takes, and shorter than users wait for a screen that does
/// not change.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

/// How long a request may take in total, however much progress it reports.
///
/// An hour: a peer that always reports progress must not block its caller forever, and longer work
/// should be a task.
pub const MAX_TOTAL_TIME: Duration = Duration::from_hours(1);

/// How long one request may take.
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_session::requests::Deadline;
///
/// let patient = Deadline::after(Duration::from_secs(300)).with_maximum(Duration::from_secs(900));
/// let listening = Deadline::never();
/// # let _ = (patient, listening);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    rule: Option<Rule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    timeout: Duration,
    maximum: Duration,
}

impl Default for Deadline {
    fn default() -> Self {
        Self::after(DEFAULT_TIMEOUT)
    }
}

impl Deadline {
    /// The deadline passes `timeout` after the request was sent or last reported progress, but no later
    /// than [`MAX_TOTAL_TIME`] or `timeout`, whichever is longer.
    pub fn after(timeout: Duration) -> Self {
        Self {
            rule: Some(Rule {
                timeout,
                maximum: MAX_TOTAL_TIME.max(timeout),
            }),
        }
    }

    /// The deadline never passes. For requests that stay open, such as `subscriptions/listen`.
    pub const fn never() -> Self {
        Self { rule: None }
    }

    /// Limits the total time to `maximum`, whatever the progress.
    pub fn with_maximum(self, maximum: Duration) -> Self {
        let capped = |rule: Rule| Rule {
            timeout: rule.timeout.min(maximum),
            maximum,
        };
        Self {
            rule: self.rule.map(capped),
        }
    }

    /// Returns when a request is due that was sent at `sent` and last showed progress at `seen`, and
    /// which limit applies then. `None` for never, and for times beyond the range of the clock.
    pub(super) fn due(self, sent: Instant, seen: Instant) -> Option<(Instant, Overdue)> {
        let rule = self.rule?;
        let silent = seen
            .checked_add(rule.timeout)
            .map(|at| (at, Overdue::Silent(rule.timeout)));
        let total = sent
            .checked_add(rule.maximum)
            .map(|at| (at, Overdue::Total(rule.maximum)));
        match (silent, total) {
            (Some(silent), Some(total)) if total.0 < silent.0 => Some(total),
            (silent, total) => silent.or(total),
        }
    }
}

/// Which limit a request exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overdue {
    /// No answer and no progress for this long.
    Silent(Duration),
    /// No answer for this long, although there was progress.
    Total(Duration),
}

impl std::fmt::Display for Overdue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Silent(limit) => write!(f, "no answer within {limit:?}"),
            Self::Total(limit) => {
                write!(f, "no answer within {limit:?}, although there was progress")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn without_progress_the_timeout_counts_from_sending() {
        let sent = Instant::now();
        let due = Deadline::after(secs(10)).due(sent, sent);
        assert_eq!(due, Some((sent + secs(10), Overdue::Silent(secs(10)))));
    }

    #[test]
    fn progress_renews_the_timeout_up_to_the_maximum() {
        let sent = Instant::now();
        let deadline = Deadline::after(secs(10)).with_maximum(secs(25));
        let due = |seen| deadline.due(sent, sent + secs(seen)).unwrap();
        assert_eq!(due(9), (sent + secs(19), Overdue::Silent(secs(10))));
        assert_eq!(due(15), (sent + secs(25), Overdue::Silent(secs(10))));
        assert_eq!(due(16), (sent + secs(25), Overdue::Total(secs(25))));
        assert_eq!(due(9000), (sent + secs(25), Overdue::Total(secs(25))));
    }

    #[test]
    fn a_timeout_longer_than_the_usual_maximum_is_kept() {
        let sent = Instant::now();
        let long = MAX_TOTAL_TIME * 3;
        assert_eq!(
            Deadline::after(long).due(sent, sent).unwrap().0,
            sent + long
        );
    }

    #[test]
    fn a_maximum_shorter_than_the_timeout_shortens_it() {
        let sent = Instant::now();
        let due = Deadline::after(secs(60))
            .with_maximum(secs(5))
            .due(sent, sent);
        assert_eq!(due, Some((sent + secs(5), Overdue::Silent(secs(5)))));
    }

    #[test]
    fn times_beyond_the_clock_are_never_due() {
        let sent = Instant::now();
        assert_eq!(Deadline::after(Duration::MAX).due(sent, sent), None);
        assert_eq!(
            Deadline::never().with_maximum(secs(1)).due(sent, sent),
            None
        );
    }
}
