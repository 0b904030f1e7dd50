//! The delays between attempts to subscribe again, and the number of attempts.

use std::time::Duration;

use turnbuckle_base::jitter;

/// How long to wait before the second attempt: doubled after each failure, up to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How often in a row it may fail. With the waits above that is some three minutes, in which a
/// server restarts or a network comes back.
const MAX_FAILURES: u32 = 12;

/// Attempts in a row that came to nothing.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// It worked.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// After a failure: how long to wait; `None` if another attempt is useless.
    pub(super) fn next(&mut self) -> Option<Duration> {
        self.next_with(jitter::random())
    }

    /// The same with the randomness given, so that many clients of a server that restarts do not
    /// come back at once.
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
