//! The detected revisions of servers, kept while this process runs.
//!
//! A known revision saves the probe when the same program is started again, or the same URL
//! connected to. It is only ever a guess: where
//! it turns out wrong the search goes on, and what it finds replaces it.

use std::collections::VecDeque;

use turnbuckle_base::lock::Mutex;
use turnbuckle_session::DetectedRevision;

/// How many servers are remembered. A host has tens of them; the oldest go first.
const MAX_REMEMBERED: usize = 256;

/// Newest last. A list of this length is searched in less time than a process is started.
static REMEMBERED: Mutex<VecDeque<(String, KnownServer)>> = Mutex::new(VecDeque::new());

/// The result of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownServer {
    pub(super) detected: DetectedRevision,
    /// Whether its answers come by a stream of events (HTTP+SSE).
    pub(super) by_events: bool,
}

/// The revision that was detected the last time.
pub(super) fn recall(key: &str) -> Option<KnownServer> {
    REMEMBERED
        .lock()
        .iter()
        .find(|(other, _)| other == key)
        .map(|(_, known)| *known)
}

/// Remembers what a server was found to speak.
pub(super) fn remember(key: String, known: KnownServer) {
    let mut remembered = REMEMBERED.lock();
    remembered.retain(|(other, _)| *other != key);
    if remembered.len() == MAX_REMEMBERED {
        remembered.pop_front();
    }
    remembered.push_back((key, known));
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::Revision;

    use super::*;

    #[test]
    fn the_newest_verdict_counts_and_the_oldest_server_is_forgotten() {
        let detected = |revision| KnownServer {
            detected: DetectedRevision { revision },
            by_events: false,
        };
        let key = |number: usize| format!("memory test {number}");
        remember(key(0), detected(Revision::V2024_11_05));
        remember(key(0), detected(Revision::V2025_06_18));
        assert_eq!(recall(&key(0)), Some(detected(Revision::V2025_06_18)));
        for number in 1..=MAX_REMEMBERED {
            remember(key(number), detected(Revision::LATEST));
        }
        assert_eq!(recall(&key(0)), None);
        assert!(recall(&key(1)).is_some());
    }
}
