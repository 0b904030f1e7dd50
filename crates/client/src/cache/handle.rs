//! The cache, as applications have it.

use std::{fmt, sync::Arc, time::Duration};

use turnbuckle_base::lock::Mutex;

use super::store::Store;

/// How many results are kept. A host has tens of servers with some lists and resources each.
const MAX_ENTRIES: usize = 1024;

/// How many bytes of results are kept: what a handful of large resources take.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Results that servers say may be kept for a while: lists, resources, and what a server can do.
///
/// Every [`Client`](crate::Client) has one and keeps in it what servers of 2026-07-28 allow, for as
/// long as they allow; a notification of a change makes the result go at once. Give several clients
/// clones of one to let them share it, or one of its own limits:
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_client::{Cache, Client};
///
/// let cache = Cache::bounded(10_000, 64 * 1024 * 1024)
///     // Sessions say nothing about keeping; a list may be half a minute old all the same.
///     .default_ttl(Duration::from_secs(30))
///     // A server that is away for a while is not missed by those who only read.
///     .stale_on_error(Duration::from_secs(600));
/// let client = Client::new("my-app", "0.3.0").cache(cache.clone());
/// # let _ = client;
/// ```
///
/// What a server calls private is for the connection that fetched it, and for others with the same
/// [`Connect::caller`](crate::Connect::caller). What it calls public is for every connection to the
/// same URL. The results of a process are for the connection to that process.
///
/// [`Call::fresh`](crate::Call::fresh) and [`List::fresh`](crate::List::fresh) ask the server in any
/// case.
#[derive(Clone)]
pub struct Cache {
    pub(super) store: Arc<Mutex<Store>>,
    pub(super) default_ttl: Option<Duration>,
    pub(super) stale_on_error: Duration,
}

impl Cache {
    /// An empty cache for a thousand results of sixteen megabytes in all.
    pub fn new() -> Self {
        Self::bounded(MAX_ENTRIES, MAX_BYTES)
    }

    /// An empty cache for this many results, and this many bytes of them.
    pub fn bounded(entries: usize, bytes: usize) -> Self {
        Self {
            store: Arc::new(Mutex::new(Store::new(entries, bytes))),
            default_ttl: None,
            stale_on_error: Duration::ZERO,
        }
    }

    /// Takes results for fresh for so long where the server does not say, as no server of a session
    /// does. Without this they are not kept. What other clones do is not changed.
    pub fn default_ttl(mut self, ttl: Duration) -> Self {
        self.default_ttl = Some(ttl);
        self
    }

    /// Gives a result that was fresh until so long ago when the server cannot be asked: it does not
    /// answer, or fails inside. A refusal is a refusal. What other clones do is not changed.
    pub fn stale_on_error(mut self, at_most: Duration) -> Self {
        self.stale_on_error = at_most;
        self
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.store.lock().clear();
    }

    /// How many results are kept, fresh and stale.
    pub fn len(&self) -> usize {
        self.store.lock().len()
    }

    /// Whether none are kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("len", &self.len())
            .field("default_ttl", &self.default_ttl)
            .field("stale_on_error", &self.stale_on_error)
            .finish_non_exhaustive()
    }
}
