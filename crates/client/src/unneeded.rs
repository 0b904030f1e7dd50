//! Limits messages of a server that nothing waits for: if there are too many, reading is slowed down.

use std::time::Duration;

use tokio::time::Instant;

/// How many messages of this kind a server may send at once.
const BURST: u32 = 1000;

/// The time after which one more of them is allowed.
const EACH: Duration = Duration::from_micros(500);

/// How many bytes of a message count as one more message, because they have to be scanned.
const BYTES_EACH: usize = 1024;

/// One message counts as at most this many. A single large answer that comes too late must not delay
/// the other answers of its server.
const MAX_UNITS: u32 = BURST / 2;

/// The shortest pause in reading: many short pauses would cost as much as they save.
const SHORTEST_WAIT: Duration = Duration::from_millis(20);

/// Counts messages that nothing waits for: answers to no request, notifications, and lines that are not
/// messages. A server that floods the client with them would take the time of all other servers. So its
/// output is not read for a while, until its buffer is full.
#[derive(Debug, Default)]
pub(crate) struct Unneeded {
    /// When all counted messages would have been allowed without a burst.
    even_at: Option<Instant>,
    waits_until: Option<Instant>,
}

impl Unneeded {
    /// Counts a message of this length.
    pub(crate) fn count(&mut self, bytes: usize) {
        let now = Instant::now();
        let units = u32::try_from(bytes / BYTES_EACH).unwrap_or(MAX_UNITS);
        let cost = EACH * (units + 1).min(MAX_UNITS);
        let even_at = self.even_at.map_or(now, |at| at.max(now)) + cost;
        self.even_at = Some(even_at);
        let wait = (even_at - now).saturating_sub(EACH * BURST);
        if !wait.is_zero() {
            self.waits_until = Some(now + wait.max(SHORTEST_WAIT));
        }
    }

    /// Returns the time until which nothing should be read, if any. Each time is returned once.
    pub(crate) fn take_wait(&mut self) -> Option<Instant> {
        self.waits_until.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_read_at_once_and_a_flood_slowly() {
        let mut unneeded = Unneeded::default();
        for _ in 0..BURST {
            unneeded.count(100);
            assert_eq!(unneeded.take_wait(), None);
        }
        let begun = Instant::now();
        for _ in 0..4000 {
            unneeded.count(100);
            if let Some(until) = unneeded.take_wait() {
                tokio::time::sleep_until(until).await;
            }
        }
        let took = begun.elapsed();
        assert!(took > Duration::from_millis(1900), "{took:?}");
        assert!(took < Duration::from_millis(2100), "{took:?}");
        // After a quiet time, no pause is needed.
        tokio::time::sleep(Duration::from_secs(2)).await;
        unneeded.count(100);
        assert_eq!(unneeded.take_wait(), None);
        // A large message counts as many messages, but a single one does not cause a pause.
        unneeded.count(4 * 1024 * 1024);
        assert_eq!(unneeded.take_wait(), None);
        unneeded.count(4 * 1024 * 1024);
        unneeded.count(usize::MAX);
        assert!(unneeded.take_wait().is_some());
    }
}
