//! The position of an event stream when it broke, and when to reconnect.

use std::time::Duration;

use turnbuckle_transport::http::{
    client::{HeaderMap, HeaderValue},
    sse::Event,
};

use super::header_name::LAST_EVENT_ID;

/// How long to wait before reconnecting if the server does not say. The wait doubles after each failed
/// attempt, up to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The shortest wait, even if the server asks to reconnect at once: a stream that ends as soon as it
/// has begun must not keep both ends busy.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);

/// The longest wait that a server may request. A longer one would mean never.
const LONGEST_RETRY: Duration = Duration::from_mins(10);

/// How often in a row reconnecting may fail: with the waits above, for about three minutes.
const MAX_FAILURES: u32 = 10;

/// The position of an event stream, and the failed attempts to reconnect to it.
#[derive(Debug, Default)]
pub(crate) struct Position {
    last_id: Option<HeaderValue>,
    retry: Option<Duration>,
    failures: u32,
    /// The `Retry-After` of the last refusal.
    least: Duration,
}

impl Position {
    /// Records an event.
    pub(crate) fn note(&mut self, event: &Event) {
        self.failures = 0;
        self.least = Duration::ZERO;
        if let Some(id) = &event.id {
            self.last_id = Some(id)
                .filter(|id| !id.is_empty())
                .and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok());
        }
        if let Some(retry) = event.retry {
            self.retry = Some(retry.min(LONGEST_RETRY));
        }
    }

    /// Whether the stream can be resumed.
    pub(crate) fn is_known(&self) -> bool {
        self.last_id.is_some()
    }

    /// Adds the `Last-Event-ID` header.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) {
        if let Some(id) = &self.last_id {
            headers.insert(&LAST_EVENT_ID, id.clone());
        }
    }

    /// Records how long the server asks to wait before the next attempt.
    pub(crate) fn wait_at_least(&mut self, wait: Option<Duration>) {
        self.least = wait.unwrap_or_default().min(LONGEST_RETRY);
    }

    /// Records a failed attempt. Returns `false` if there were too many.
    pub(crate) fn has_failed(&mut self) -> bool {
        self.failures += 1;
        self.failures < MAX_FAILURES
    }

    /// Records that reconnecting worked.
    pub(crate) fn has_succeeded(&mut self) {
        self.failures = 0;
    }

    /// How long to wait before reconnecting.
    pub(crate) fn wait(&self) -> Duration {
        // transports, "Resumability": the client MUST wait as long as `retry` says.
        let least = self.retry.unwrap_or(FIRST_WAIT).max(SHORTEST_WAIT);
        let doubled = least.saturating_mul(1 << self.failures.min(10));
        let wait = if self.failures == 0 {
            least
        } else {
            doubled.min(LONGEST_WAIT).max(least)
        };
        let wait = wait.max(self.least);
        wait + jitter(wait / 4)
    }
}

/// A random duration below `most`, so that the clients of a server that restarts do not all reconnect
/// at once.
pub(crate) fn jitter(most: Duration) -> Duration {
    let millis = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
    let random = turnbuckle_base::jitter::random();
    Duration::from_millis(random.checked_rem(millis).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: Option<&str>, retry: Option<u64>) -> Event {
        Event {
            id: id.map(str::to_owned),
            retry: retry.map(Duration::from_millis),
            ..Event::default()
        }
    }

    #[test]
    fn the_servers_wait_is_kept_and_grows_only_in_vain() {
        let mut position = Position::default();
        position.note(&event(Some("a"), Some(200)));
        assert!(position.wait() >= Duration::from_millis(200));
        assert!(position.wait() <= Duration::from_millis(250));
        assert!(position.has_failed());
        assert!(position.wait() >= Duration::from_millis(400));
        for _ in 0..MAX_FAILURES {
            position.has_failed();
        }
        assert!(!position.has_failed());
        assert!(position.wait() <= LONGEST_WAIT + LONGEST_WAIT / 4);
        position.note(&event(None, None));
        assert!(position.wait() <= Duration::from_millis(250));
    }

    #[test]
    fn an_empty_id_forgets_the_place_and_none_keeps_it() {
        let mut position = Position::default();
        assert!(!position.is_known());
        position.note(&event(Some("7"), None));
        position.note(&event(None, None));
        assert!(position.is_known());
        position.note(&event(Some(""), None));
        assert!(!position.is_known());
    }

    #[test]
    fn what_a_refusal_asks_for_is_waited() {
        let mut position = Position::default();
        position.wait_at_least(Some(Duration::from_secs(90)));
        assert!(position.wait() >= Duration::from_secs(90));
        position.note(&event(Some("7"), None));
        assert!(position.wait() < Duration::from_secs(1));
    }

    #[test]
    fn coming_back_at_once_takes_a_moment() {
        let mut position = Position::default();
        position.note(&event(Some("7"), Some(0)));
        assert!(position.wait() >= SHORTEST_WAIT);
    }

    #[test]
    fn a_wait_without_end_is_cut() {
        let mut position = Position::default();
        position.note(&event(None, Some(u64::MAX)));
        assert!(position.wait() <= LONGEST_RETRY + LONGEST_RETRY / 4);
    }
}
