//! The delays between attempts to subscribe again, and the number of attempts.

use std::time::Duration;

use turnbuckle_base::jitter;

/// How long to wait before the second attempt. The wait doubles after each failure, up to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How often in a row subscribing may fail. With the waits above that takes about three minutes, enough
/// for a server to restart or a network to come back.
const MAX_FAILURES: u32 = 12;

/// Counts failed attempts in a row.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Records a successful attempt.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// Called after a failure. Returns how long to wait; `None` if there were too many failures.
    pub(super) fn next(&mut self) -> Option<Duration> {
        self.next_with(jitter::random())
    }

    /// The same with the given random number. The wait is random, so that the clients of a server that
    /// restarts do not all reconnect at once.
    fn next_with(&mut self, random: u64) -> Option<Duration> {
        if self.failures == MAX_FAILURES {
            return None;
        }
        let wait = (FIRST_WAIT * 2_u32.pow(self.failures)).min(LONGEST_WAIT);
        self.failures += 1;
        let jitter = u64::try_from(wait.as_millis() / 4).unwrap_or(u64::MAX);
        Some(wait + Duration::from_millis(random % jitter.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.next_with(0), Some(FIRST_WAIT));
        assert_eq!(backoff.next_with(0), Some(FIRST_WAIT * 2));
        let waits: Vec<_> = std::iter::from_fn(|| backoff.next_with(u64::MAX)).collect();
        assert_eq!(waits.len(), MAX_FAILURES as usize - 2);
        assert!(
            waits
                .iter()
                .all(|wait| *wait <= LONGEST_WAIT + LONGEST_WAIT / 4)
        );
        backoff.reset();
        assert_eq!(backoff.next_with(0), Some(FIRST_WAIT));
    }
}
