//! Time limits, so that the examination of a hanging server ends too.

use std::time::Duration;

/// The bounds of one run, all of them parts of the whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// For the whole run.
    pub(crate) total: Duration,
    /// For the first answer of a server that has just been started, or has been asleep.
    pub(crate) opening: Duration,
    /// For each answer after it.
    pub(crate) probe: Duration,
    /// For what should not come: an answer to a notification, or more on a stream that was left.
    pub(crate) silence: Duration,
    /// For a program to end after its input was closed, and again after SIGTERM.
    pub(crate) ending: Duration,
}

/// 15 s for a first answer: `npx` and `uvx` fetch things; hosts wait 10 to 60 s.
const MAX_OPENING: Duration = Duration::from_secs(15);

/// 5 s for an answer that needs no work.
const MAX_PROBE: Duration = Duration::from_secs(5);

/// 250 ms of silence, about which more cannot be known.
const MAX_SILENCE: Duration = Duration::from_millis(250);

/// 2 s: what hosts give before SIGTERM.
const MAX_ENDING: Duration = Duration::from_secs(2);

/// An hour: a longer limit means "as long as it takes".
const MAX_TOTAL: Duration = Duration::from_hours(1);

impl Limits {
    /// The bounds of a run that may take `total`: the opening a fifth of it, a probe a twelfth.
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

/// 1 s: slower than this is felt.
pub(crate) const SLOW: Duration = Duration::from_secs(1);

/// 5 s from start to the first answer: the shortest that clients wait.
pub(crate) const SLOW_START: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    /// A stdio server that says nothing is asked twice on one process and once on another.
    #[test]
    fn a_hanging_server_is_diagnosed_within_the_time() {
        for seconds in [2, 10, 60, 600] {
            let limits = Limits::of(Duration::from_secs(seconds));
            let hanging = limits.probe + limits.opening * 2 + limits.ending * 4;
            assert!(hanging < limits.total, "{limits:?}");
        }
    }
}
