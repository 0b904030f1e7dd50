//! `Cache`: the handle to the cache that applications have.

use std::{fmt, sync::Arc, time::Duration};

use turnbuckle_base::lock::Mutex;

use super::store::Store;

/// The default limit on the number of results. A host has tens of servers with some lists and resources
/// each.
const MAX_ENTRIES: usize = 1024;

/// The default limit on the bytes of all results: the size of a handful of large resources.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A cache of results that servers allow to be kept: lists, resources and `server/discover`.
///
/// Every [`Client`](crate::Client) has one. It keeps what servers of 2026-07-28 allow, for as long
/// as they allow; a change notification removes a result at once. Give clones of one cache to
/// several clients to share it, or set other limits:
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_client::{Cache, Client};
///
/// let cache = Cache::bounded(10_000, 64 * 1024 * 1024)
///     // Servers with sessions give no hint: accept results that are up to half a minute old.
///     .default_ttl(Duration::from_secs(30))
///     // If the server is unavailable, use results that expired up to ten minutes ago.
///     .stale_on_error(Duration::from_secs(600));
/// let client = Client::new("my-app", "0.3.0").cache(cache.clone());
/// # let _ = client;
/// ```
///
/// A private result is only used by the connection that fetched it, and by others with the same
/// [`Connect::caller`](crate::Connect::caller). A public result is used by every connection to the
/// same URL. The results of a process are only used by the connection to that process.
///
/// [`ClientCall::fresh`](crate::ClientCall::fresh) and [`List::fresh`](crate::List::fresh) bypass it.
#[derive(Clone)]
pub struct Cache {
    pub(super) store: Arc<Mutex<Store>>,
    pub(super) default_ttl: Option<Duration>,
    pub(super) stale_on_error: Duration,
}

impl Cache {
    /// Creates an empty cache with the default limits: 1024 results, 16 MiB in all.
    pub fn new() -> Self {
        Self::bounded(MAX_ENTRIES, MAX_BYTES)
    }

    /// Creates an empty cache with these limits on the number of results and their total bytes. When a
    /// limit is reached, the results that were not used for the longest time are removed.
    pub fn bounded(entries: usize, bytes: usize) -> Self {
        Self {
            store: Arc::new(Mutex::new(Store::new(entries, bytes))),
            default_ttl: None,
            stale_on_error: Duration::ZERO,
        }
    }

    /// Sets how long results are fresh if the server does not say, as servers of revisions with
    /// sessions never do. By default such results are not cached. Other clones are not affected.
    pub fn default_ttl(mut self, ttl: Duration) -> Self {
        self.default_ttl = Some(ttl);
        self
    }

    /// Returns a result that expired at most this long ago if the server does not answer or has an
    /// internal error. If the server rejects the request, that error is still returned. Other clones
    /// are not affected.
    pub fn stale_on_error(mut self, at_most: Duration) -> Self {
        self.stale_on_error = at_most;
        self
    }

    /// Removes all results, for all clients that share the cache. The next calls ask the servers.
    pub fn clear(&self) {
        self.store.lock().clear();
    }

    /// Returns the number of results, fresh and stale. Stale results stay until they are replaced or
    /// removed to make room for others.
    pub fn len(&self) -> usize {
        self.store.lock().len()
    }

    /// Whether the cache is empty.
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
