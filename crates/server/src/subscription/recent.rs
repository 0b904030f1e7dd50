//! Recently changed resources.
//!
//! A client can subscribe at one replica and listen at another. Subscriptions and changes travel to
//! that replica separately, so a change can arrive before the subscription. The replica therefore
//! remembers which resources changed recently, and notifies the client when it learns of the
//! subscription.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use tokio::time::Instant;

/// How long a change is remembered: longer than a subscription takes from one replica to another.
const REMEMBERED: Duration = Duration::from_mins(1);

/// How many changes are remembered. If there are more, every resource counts as changed.
const MAX_REMEMBERED: usize = 4096;

/// Recently changed resources.
#[derive(Default)]
pub(super) struct RecentChanges {
    /// The time until which each change is remembered, by the hash of its URI. If two URIs have the
    /// same hash, a client may get an unnecessary notification.
    changes: HashMap<u64, Instant>,
    hashes: RandomState,
    /// The time until which every resource counts as changed.
    all_until: Option<Instant>,
}

impl RecentChanges {
    /// Notes that the resource at this URI changed.
    pub(super) fn add(&mut self, uri: &str, now: Instant) {
        let hash = self.hashes.hash_one(uri);
        // A resource that changes all the time does not displace others.
        if self.changes.len() >= MAX_REMEMBERED && !self.changes.contains_key(&hash) {
            self.changes.retain(|_, until| *until > now);
            if self.changes.len() >= MAX_REMEMBERED {
                self.changes.clear();
                self.add_all(now);
            }
        }
        self.changes.insert(hash, now + REMEMBERED);
    }

    /// Notes that anything may have changed.
    pub(super) fn add_all(&mut self, now: Instant) {
        self.all_until = self.all_until.max(Some(now + REMEMBERED));
    }

    /// Whether the resource at this URI may have changed recently.
    pub(super) fn has(&self, uri: &str, now: Instant) -> bool {
        if self.all_until.is_some_and(|until| until > now) {
            return true;
        }
        let until = self.changes.get(&self.hashes.hash_one(uri));
        until.is_some_and(|until| *until > now)
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
    }

    #[test]
    fn what_is_over_makes_room() {
        let (mut recent, now) = (RecentChanges::default(), Instant::now());
        for number in 0..MAX_REMEMBERED {
            recent.add(&format!("note://{number}"), now);
        }
        let later = now + REMEMBERED;
        recent.add("note://late", later);
        assert_eq!(recent.changes.len(), 1, "what is over is forgotten");
        assert!(!recent.has("note://another", later));
    }

    #[test]
    fn what_had_no_room_may_have_changed() {
        let (mut recent, now) = (RecentChanges::default(), Instant::now());
        for number in 0..MAX_REMEMBERED {
            recent.add(&format!("note://{number}"), now);
            recent.add("note://often", now);
        }
        assert!(recent.changes.len() <= MAX_REMEMBERED);
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
