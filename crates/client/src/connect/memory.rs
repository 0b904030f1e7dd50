//! What servers were found to speak, kept for as long as this process lives.
//!
//! A verdict saves the probe when the same program is started again. It is only ever a guess: where
//! it turns out wrong the search goes on, and what it finds replaces it.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use turnbuckle_session::Verdict;

/// How many servers are remembered. A host has tens of them; the oldest go first.
const MAX_REMEMBERED: usize = 256;

/// Newest last. A list of this length is searched in less time than a process is started.
static REMEMBERED: Mutex<VecDeque<(String, Verdict)>> = Mutex::new(VecDeque::new());

/// What this server was found to speak the last time.
pub(super) fn recall(key: &str) -> Option<Verdict> {
    lock()
        .iter()
        .find(|(other, _)| other == key)
        .map(|(_, verdict)| *verdict)
}

/// Remembers what a server was found to speak.
pub(super) fn remember(key: String, verdict: Verdict) {
    let mut remembered = lock();
    remembered.retain(|(other, _)| *other != key);
    if remembered.len() == MAX_REMEMBERED {
        remembered.pop_front();
    }
    remembered.push_back((key, verdict));
}

fn lock() -> MutexGuard<'static, VecDeque<(String, Verdict)>> {
    REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::Revision;

    use super::*;

    #[test]
    fn the_newest_verdict_counts_and_the_oldest_server_is_forgotten() {
        let verdict = |revision| Verdict { revision };
        let key = |number: usize| format!("memory test {number}");
        remember(key(0), verdict(Revision::V2024_11_05));
        remember(key(0), verdict(Revision::V2025_06_18));
        assert_eq!(recall(&key(0)), Some(verdict(Revision::V2025_06_18)));
        for number in 1..=MAX_REMEMBERED {
            remember(key(number), verdict(Revision::LATEST));
        }
        assert_eq!(recall(&key(0)), None);
        assert!(recall(&key(1)).is_some());
    }
}
