//! The table behind a cache, with limits on entries and bytes. The results that were not used for the
//! longest time are removed first.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::value::RawValue;

use super::hint::Hint;

/// The request of a cached result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CachedRequest {
    pub(super) method: Box<str>,
    /// Everything that affects the answer, as JSON; for a resource, its URI.
    pub(super) params: Box<str>,
}

/// A request, and the scope of the callers that share its result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) scope: Arc<str>,
    pub(super) request: CachedRequest,
}

#[derive(Debug)]
struct CacheEntry {
    /// The server of the result: its notifications remove the entry.
    server: Arc<str>,
    result: Arc<RawValue>,
    fresh_until: Instant,
    /// When it was last used, as a count of uses.
    used: u64,
    bytes: usize,
}

/// The table of cached results.
#[derive(Debug)]
pub(super) struct Store {
    entries: HashMap<Arc<Key>, CacheEntry>,
    by_use: BTreeMap<u64, Arc<Key>>,
    uses: u64,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
    /// How often results were invalidated. The answer to a request from an earlier epoch is not stored.
    epoch: u64,
}

/// A result that was found.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) result: Arc<RawValue>,
    /// How long ago the result expired; zero while it is fresh.
    pub(super) stale_for: Duration,
    pub(super) is_fresh: bool,
}

impl Store {
    pub(super) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            entries: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            bytes: 0,
            max_entries,
            max_bytes,
            epoch: 0,
        }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Finds the result of a key, fresh or not.
    pub(super) fn find(&mut self, key: &Key, now: Instant) -> Option<Kept> {
        let (owned, _) = self.entries.get_key_value(key)?;
        let owned = owned.clone();
        let entry = self.entries.get_mut(key)?;
        self.by_use.remove(&entry.used);
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(self.uses, owned);
        Some(Kept {
            result: entry.result.clone(),
            stale_for: now.saturating_duration_since(entry.fresh_until),
            is_fresh: now < entry.fresh_until,
        })
    }

    /// Stores a result that was received now, if nothing was invalidated since it was requested.
    pub(super) fn keep(
        &mut self,
        key: Key,
        server: &Arc<str>,
        result: &RawValue,
        hint: Hint,
        (epoch, now): (u64, Instant),
    ) {
        self.remove(&key);
        let bytes = result.get().len() + key.request.params.len() + key.scope.len();
        let Some(fresh_until) = now.checked_add(hint.ttl) else {
            return;
        };
        if epoch != self.epoch || bytes > self.max_bytes || self.max_entries == 0 {
            return;
        }
        while self.entries.len() >= self.max_entries || self.bytes + bytes > self.max_bytes {
            let Some((_, oldest)) = self.by_use.first_key_value() else {
                break;
            };
            let oldest = oldest.clone();
            self.remove(&oldest);
        }
        self.uses += 1;
        let key = Arc::new(key);
        self.by_use.insert(self.uses, key.clone());
        self.bytes += bytes;
        let entry = CacheEntry {
            server: server.clone(),
            result: Arc::from(result.to_owned()),
            fresh_until,
            used: self.uses,
            bytes,
        };
        self.entries.insert(key, entry);
    }

    /// Removes results that a server has declared out of date, and returns how many were removed.
    pub(super) fn forget(
        &mut self,
        server: &str,
        is_meant: impl Fn(&CachedRequest) -> bool,
    ) -> usize {
        self.epoch += 1;
        let meant: Vec<Arc<Key>> = self
            .entries
            .iter()
            .filter(|(key, entry)| *entry.server == *server && is_meant(&key.request))
            .map(|(key, _)| key.clone())
            .collect();
        for key in &meant {
            self.remove(key);
        }
        meant.len()
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) {
        self.epoch += 1;
        self.entries.clear();
        self.by_use.clear();
        self.bytes = 0;
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_use.remove(&entry.used);
            self.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::CacheScope;

    use super::*;

    const TTL: Duration = Duration::from_secs(10);

    fn key(params: &str) -> Key {
        Key {
            scope: "s".into(),
            request: CachedRequest {
                method: "m".into(),
                params: params.into(),
            },
        }
    }

    fn keep(store: &mut Store, params: &str, text: &str, now: Instant) {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let hint = Hint {
            ttl: TTL,
            scope: CacheScope::Private,
        };
        let epoch = store.epoch();
        store.keep(key(params), &"server".into(), &raw, hint, (epoch, now));
    }

    // caching: fresh while now < received + ttl.
    #[test]
    fn a_copy_is_fresh_until_its_time_is_up() {
        let mut store = Store::new(10, 1000);
        let start = Instant::now();
        keep(&mut store, "a", "1", start);
        assert!(store.find(&key("b"), start).is_none());
        let just_before = start + Duration::from_millis(9_999);
        assert!(store.find(&key("a"), just_before).unwrap().is_fresh);
        let later = store.find(&key("a"), start + TTL * 2).unwrap();
        assert!(!later.is_fresh && later.stale_for == TTL);
        assert!(!store.find(&key("a"), start + TTL).unwrap().is_fresh);
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_goes_first() {
        let now = Instant::now();
        let mut store = Store::new(2, 1000);
        keep(&mut store, "a", "1", now);
        keep(&mut store, "b", "2", now);
        assert!(store.find(&key("a"), now).is_some());
        keep(&mut store, "c", "3", now);
        assert!(store.find(&key("b"), now).is_none());
        assert!(store.find(&key("a"), now).is_some() && store.find(&key("c"), now).is_some());
        let mut narrow = Store::new(10, 12);
        keep(&mut narrow, "a", "\"1234\"", now);
        keep(&mut narrow, "b", "\"1234\"", now);
        assert_eq!((narrow.len(), narrow.bytes), (1, 8));
        keep(&mut narrow, "c", "\"12345678901234567890\"", now);
        assert_eq!(narrow.len(), 1);
        keep(&mut narrow, "b", "\"1\"", now);
        assert_eq!((narrow.len(), narrow.bytes, narrow.by_use.len()), (1, 5, 1));
    }

    #[test]
    fn what_was_asked_for_before_a_change_is_not_kept_after_it() {
        let now = Instant::now();
        let mut store = Store::new(10, 1000);
        keep(&mut store, "a", "1", now);
        let epoch = store.epoch();
        assert_eq!(store.forget("other", |_| true), 0);
        assert_eq!(store.forget("server", |request| &*request.params == "a"), 1);
        let hint = Hint {
            ttl: TTL,
            scope: CacheScope::Private,
        };
        let old = RawValue::from_string("1".to_owned()).unwrap();
        store.keep(key("a"), &"server".into(), &old, hint, (epoch, now));
        assert_eq!(store.len(), 0);
    }
}
