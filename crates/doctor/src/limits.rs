//! Time limits, so that examining a server that hangs ends too.

use std::time::Duration;

/// The time limits of one run. The others are parts of the total.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// For the whole run.
    pub(crate) total: Duration,
    /// For the first answer of a server that has just been started, or has been asleep.
    pub(crate) opening: Duration,
    /// For each later answer.
    pub(crate) probe: Duration,
    /// For waiting for messages that should not come: an answer to a notification, or more on a closed stream.
    pub(crate) silence: Duration,
    /// For a program to end after its input was closed, and again after SIGTERM.
    pub(crate) ending: Duration,
}

/// The longest wait for the first answer: `npx` and `uvx` download packages, and hosts wait 10 to 60 s.
const MAX_OPENING: Duration = Duration::from_secs(15);

/// The longest wait for an answer that needs no work.
const MAX_PROBE: Duration = Duration::from_secs(5);

/// The longest wait for messages that should not come. A longer one would prove little more.
const MAX_SILENCE: Duration = Duration::from_millis(250);

/// The longest wait for a program to end: hosts wait this long before SIGTERM.
const MAX_ENDING: Duration = Duration::from_secs(2);

/// The longest run, an hour: a longer limit means "as long as it takes".
const MAX_TOTAL: Duration = Duration::from_hours(1);

impl Limits {
    /// The limits of a run that may take `total`: the opening gets a fifth of it, a probe a twelfth.
    pub(crate) fn of(total: Duration) -> Self {
        let total = total.min(MAX_TOTAL);
        Self {
            total,
            opening: (total / 5).min(MAX_OPENING),
            probe: (total / 12).min(MAX_PROBE),
            silence: (total / 100).min(MAX_SILENCE),
            ending: (total / 20).min(MAX_ENDING),
        }
    }
}

/// Answers that take longer than this are noticeably slow.
pub(crate) const SLOW: Duration = Duration::from_secs(1);

/// From start to the first answer: the shortest time that clients wait.
pub(crate) const SLOW_START: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    /// A stdio server that never answers is asked twice on one process and once on another.
    #[test]
    fn a_hanging_server_is_diagnosed_within_the_time() {
        for seconds in [2, 10, 60, 600] {
            let limits = Limits::of(Duration::from_secs(seconds));
            let hanging = limits.probe + limits.opening * 2 + limits.ending * 4;
            assert!(hanging < limits.total, "{limits:?}");
        }
    }
}
