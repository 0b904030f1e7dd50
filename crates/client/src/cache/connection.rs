//! The part of the cache that one connection uses: its keys, and invalidation by notifications.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};
#[cfg(feature = "http")]
use std::{
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
};

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{CacheScope, ClientCapabilities, Revision};

use super::Cache;
use crate::notifications::ServerNotification;

/// Numbers the connections, to distinguish those to processes.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// Hashes credentials, so that they need not be stored. The key is random, so that nobody can search
/// for other credentials with the same digest.
#[cfg(feature = "http")]
static DIGEST: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The cache of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionCache {
    /// `None` if nothing is cached.
    pub(super) cache: Option<Cache>,
    /// The server. Its notifications invalidate all its results, whatever their scope.
    pub(super) server: Arc<str>,
    number: u64,
    caller: OnceLock<Arc<str>>,
    credentials: Mutex<Credentials>,
    /// The scope of results that all callers of the same server share.
    public: OnceLock<Arc<str>>,
}

/// The credentials that authorize the requests of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Credentials {
    /// How often the credentials have changed; 0 before the first request with credentials.
    changes: u64,
    digest: u64,
}

impl Credentials {
    /// Whether a request that was made under these credentials was authorized by `now`.
    pub(super) fn are_those_of(self, now: Self) -> bool {
        // The first credentials are found while the first request is already being sent.
        self == now || (self.changes == 0 && now.changes == 1)
    }
}

#[derive(Debug)]
pub(super) struct Scopes {
    public: Arc<str>,
    private: Arc<str>,
}

impl ConnectionCache {
    /// Creates the part of a cache for a connection to this URL, or without a URL to a process.
    pub(crate) fn new(cache: Option<Cache>, url: Option<String>) -> Self {
        let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        // Each process is a server of its own, even if another was started by the same command.
        let server = url.unwrap_or_else(|| format!("connection {number}"));
        Self {
            cache,
            server: server.into(),
            number,
            caller: OnceLock::new(),
            credentials: Mutex::default(),
            public: OnceLock::new(),
        }
    }

    /// Records the revision and the client's capabilities, before anything is cached. The capabilities
    /// are part of each modern request and may change the answer.
    pub(crate) fn meet(&self, revision: Revision, offered: &ClientCapabilities) {
        let offered = serde_json::to_string(offered).unwrap_or_default();
        let public = format!("{}\n{revision}\n{offered}", self.server);
        let _ = self.public.set(public.into());
    }

    /// Sets the name of the caller, before anything is cached.
    pub(crate) fn set_caller(&self, caller: Arc<str>) {
        // The first name is that of the caller who opens the connection; it is kept.
        let _ = self.caller.set(caller);
    }

    /// Records the credentials of a request that is being sent.
    #[cfg(feature = "http")]
    pub(crate) fn set_credentials(&self, credentials: &[u8]) {
        let digest = DIGEST.hash_one(credentials);
        let mut known = self.credentials.lock();
        if known.changes == 0 || known.digest != digest {
            known.changes += 1;
            known.digest = digest;
        }
    }

    /// The credentials of the last request.
    pub(super) fn credentials(&self) -> Credentials {
        *self.credentials.lock()
    }

    /// The scopes of the current caller.
    ///
    /// caching: private results MUST NOT be shared across authorization contexts, so each token has its
    /// own scope. A caller with a name declares to be one authorization context, whatever its tokens.
    pub(super) fn scopes(&self) -> Scopes {
        let public = self.public.get().unwrap_or(&self.server);
        let private = match (self.caller.get(), self.credentials()) {
            (Some(caller), _) => format!("{public}\ncaller {caller}"),
            (None, Credentials { changes: 0, .. }) => {
                format!("{public}\nconnection {}", self.number)
            }
            (None, Credentials { digest, .. }) => format!("{public}\ntoken {digest:x}"),
        };
        Scopes {
            public: Arc::clone(public),
            private: private.into(),
        }
    }

    /// caching: a notification makes the results that it names stale at once.
    pub(crate) fn forget_changed(&self, news: &ServerNotification) {
        match news {
            ServerNotification::ToolsChanged => self.forget(|method, _| method == "tools/list"),
            ServerNotification::PromptsChanged => self.forget(|method, _| method == "prompts/list"),
            ServerNotification::ResourcesChanged => self.forget(|method, _| {
                matches!(method, "resources/list" | "resources/templates/list")
            }),
            // An update may name a part of a resource that was read, or a resource of which a part was
            // read.
            ServerNotification::ResourceUpdated { uri, .. } => self.forget(|method, params| {
                let read = params.split('\n').next().unwrap_or_default();
                method == "resources/read" && (read.starts_with(&**uri) || uri.starts_with(read))
            }),
            _ => 0,
        };
    }

    /// Forgets all results of this server. Notifications may have been lost, so any result may be
    /// stale.
    pub(crate) fn forget_unheard(&self) {
        self.forget(|_, _| true);
    }

    /// Removes results of this server by their method and params, and returns how many were removed.
    pub(crate) fn forget(&self, is_meant: impl Fn(&str, &str) -> bool) -> usize {
        let Some(cache) = &self.cache else {
            return 0;
        };
        let mut store = cache.store.lock();
        store.forget(&self.server, |request| {
            is_meant(&request.method, &request.params)
        })
    }
}

impl Scopes {
    /// The scopes to look for a result in: first the private one.
    pub(super) fn both(&self) -> [&Arc<str>; 2] {
        [&self.private, &self.public]
    }

    /// The scope to store a result in.
    pub(super) fn named(&self, scope: CacheScope) -> Arc<str> {
        match scope {
            CacheScope::Public => self.public.clone(),
            _ => self.private.clone(),
        }
    }
}
