//! Whether a server at a URL can be reached, judged by the last requests.

use std::sync::atomic::{AtomicU64, Ordering};

/// The results of attempts to reach a server. Only the last attempt counts: the answer to an older
/// attempt may be noticed after a newer attempt has failed, and says nothing about the current state.
#[derive(Debug, Default)]
pub(super) struct Reachability {
    /// How many attempts have begun.
    begun: AtomicU64,
    /// How many attempts had begun when one failed; 0 while the server can be reached.
    failed_at: AtomicU64,
}

/// The number of an attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttemptNumber(u64);

impl Reachability {
    /// Begins an attempt.
    pub(super) fn begin(&self) -> AttemptNumber {
        AttemptNumber(self.begun.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Records that the server answered this attempt.
    pub(super) fn answered(&self, attempt: AttemptNumber) {
        let failed_at = self.failed_at.load(Ordering::Relaxed);
        if failed_at != 0 && failed_at < attempt.0 {
            // A failure that was recorded meanwhile is kept.
            let _ =
                self.failed_at
                    .compare_exchange(failed_at, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Records that the server cannot be reached.
    pub(super) fn failed(&self) {
        let begun = self.begun.load(Ordering::Relaxed);
        // Of two concurrent failures, the later one counts.
        self.failed_at.fetch_max(begun.max(1), Ordering::Relaxed);
    }

    /// Whether the last attempt to reach the server failed.
    pub(super) fn is_down(&self) -> bool {
        self.failed_at.load(Ordering::Relaxed) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::Reachability;

    #[test]
    fn an_older_answer_says_nothing_about_a_server_that_failed_since() {
        let reachability = Reachability::default();
        let older = reachability.begin();
        let _newer = reachability.begin();
        reachability.failed();
        reachability.answered(older);
        assert!(reachability.is_down());
        let newest = reachability.begin();
        reachability.answered(newest);
        assert!(!reachability.is_down());
    }

    #[test]
    fn a_failure_before_the_first_attempt_counts() {
        let reachability = Reachability::default();
        reachability.failed();
        assert!(reachability.is_down());
        let _first = reachability.begin();
        let second = reachability.begin();
        reachability.answered(second);
        assert!(!reachability.is_down());
    }
}
