//! Resources that changed a moment ago.
//!
//! A client can subscribe at one replica and listen at another. What it subscribed to and the changes
//! travel on different ways, so a change can arrive at the other replica before the subscription. That
//! replica remembers which resources changed, and tells the client when it hears of the subscription.

use std::{
    collections::VecDeque,
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use tokio::time::Instant;

/// How long a change is remembered: longer than a subscription takes from one replica to another.
const REMEMBERED: Duration = Duration::from_mins(1);

/// How many are remembered. With more, each resource may have changed.
const MAX_REMEMBERED: usize = 4096;

/// Resources that changed, the last one at the end.
#[derive(Default)]
pub(super) struct RecentChanges {
    /// Until when each is remembered, and the hash of its URI. Two with the same hash cost a notification that says too much.
    changes: VecDeque<(Instant, u64)>,
    hashes: RandomState,
    /// Until when each resource may have changed.
    all_until: Option<Instant>,
}

impl RecentChanges {
    /// The resource at this URI changed.
    pub(super) fn add(&mut self, uri: &str, now: Instant) {
        while self.changes.front().is_some_and(|(until, _)| *until <= now) {
            self.changes.pop_front();
        }
        let hash = self.hashes.hash_one(uri);
        let until = now + REMEMBERED;
        // A resource that changes all the time does not displace the others.
        self.changes.retain(|(_, known)| *known != hash);
        if self.changes.len() >= MAX_REMEMBERED
            && let Some((until, _)) = self.changes.pop_front()
        {
            self.all_until = self.all_until.max(Some(until));
        }
        self.changes.push_back((until, hash));
    }

    /// Anything may have changed.
    pub(super) fn add_all(&mut self, now: Instant) {
        self.all_until = self.all_until.max(Some(now + REMEMBERED));
    }

    /// Whether the resource at this URI may have changed a moment ago.
    pub(super) fn has(&self, uri: &str, now: Instant) -> bool {
        if self.all_until.is_some_and(|until| until > now) {
            return true;
        }
        let hash = self.hashes.hash_one(uri);
        let mut changes = self.changes.iter();
        changes.any(|(until, known)| *known == hash && *until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_remembered_for_a_while() {
        let (mut recent, now) = (RecentChanges::default(), Instant::now());
        recent.add("note://a", now);
        assert!(recent.has("note://a", now));
        assert!(!recent.has("note://b", now));
        assert!(!recent.has("note://a", now + REMEMBERED));
        recent.add("note://b", now + REMEMBERED);
        assert_eq!(recent.changes.len(), 1, "what is over is forgotten");
    }

    #[test]
    fn what_had_no_room_may_have_changed() {
        let (mut recent, now) = (RecentChanges::default(), Instant::now());
        for number in 0..MAX_REMEMBERED {
            recent.add(&format!("note://{number}"), now);
            recent.add("note://often", now);
        }
        assert_eq!(recent.changes.len(), MAX_REMEMBERED);
        let later = now + REMEMBERED / 2;
        assert!(recent.has("note://0", later), "it was forgotten too early");
        assert!(recent.has("note://another", later));
        assert!(!recent.has("note://another", now + REMEMBERED));
    }

    #[test]
    fn after_a_gap_everything_may_have_changed() {
        let (mut recent, now) = (RecentChanges::default(), Instant::now());
        recent.add_all(now);
        assert!(recent.has("note://a", now));
        assert!(!recent.has("note://a", now + REMEMBERED));
    }
}
