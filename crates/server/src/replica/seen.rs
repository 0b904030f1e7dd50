//! Recognizes messages that have arrived already, so that repeated and replayed messages are
//! dropped.

use std::collections::{HashSet, VecDeque};

use turnbuckle_session::round::seal::Nonce;

/// How many messages are remembered: a few minutes at a thousand per second.
const MAX_SEEN: usize = 1 << 17;

/// How long after its deadline a message is still accepted, in milliseconds. The clocks of replicas
/// may differ by this much.
const SKEW_MS: u64 = 60_000;

/// The messages that have arrived.
#[derive(Default)]
pub(super) struct Seen {
    nonces: HashSet<Nonce>,
    order: VecDeque<(u64, Nonce)>,
}

impl Seen {
    /// Whether a message arrives for the first time and before its deadline.
    pub(super) fn is_new(&mut self, nonce: Nonce, until_ms: u64, now_ms: u64) -> bool {
        let until = until_ms.saturating_add(SKEW_MS);
        while let Some((over, oldest)) = self.order.front()
            && (*over < now_ms || self.order.len() >= MAX_SEEN)
        {
            self.nonces.remove(oldest);
            self.order.pop_front();
        }
        if until < now_ms || !self.nonces.insert(nonce) {
            return false;
        }
        self.order.push_back((until, nonce));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_taken_once_and_in_time() {
        let mut seen = Seen::default();
        assert!(seen.is_new([1; 24], 1000, 500));
        assert!(!seen.is_new([1; 24], 1000, 500));
        assert!(!seen.is_new([1; 24], 1000, 61_000));
        assert!(seen.is_new([2; 24], 1000, 61_000));
        assert!(!seen.is_new([3; 24], 1000, 61_001));
        assert!(seen.is_new([4; 24], 100_000, 61_001));
        assert_eq!(seen.order.len(), 1, "what is over is forgotten");
    }
}
