//! The detected revisions of servers, kept while this process runs.
//!
//! A known revision saves the probe when the same program is started again, or the same URL is
//! connected to again. It is only a guess: if it is wrong, the search continues, and its result
//! replaces the guess.

use std::collections::VecDeque;

use turnbuckle_base::lock::Mutex;
use turnbuckle_session::DetectedRevision;

/// How many servers are remembered. A host has tens of servers; the oldest are removed first.
const MAX_REMEMBERED: usize = 256;

/// The newest is last. Searching a list of this length takes less time than starting a process.
static REMEMBERED: Mutex<VecDeque<(String, KnownServer)>> = Mutex::new(VecDeque::new());

/// The result of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownServer {
    pub(super) detected: DetectedRevision,
    /// Whether the server uses HTTP+SSE.
    pub(super) by_events: bool,
}

/// Returns the result of the last probe.
pub(super) fn recall(key: &str) -> Option<KnownServer> {
    REMEMBERED
        .lock()
        .iter()
        .find(|(other, _)| other == key)
        .map(|(_, known)| *known)
}

/// Stores the result of a probe.
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
