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

/// Tells connections apart that nothing else does.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// Identifies credentials without keeping them. The key is random, so that other credentials with
/// the same digest cannot be searched for.
#[cfg(feature = "http")]
static DIGEST: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The cache of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionCache {
    /// `None` if nothing is kept.
    pub(super) cache: Option<Cache>,
    /// The server, whose notifications count for all its results.
    pub(super) server: Arc<str>,
    number: u64,
    caller: OnceLock<Arc<str>>,
    credentials: Mutex<Credentials>,
    /// The scope of results that are shared by all callers of the same server.
    public: OnceLock<Arc<str>>,
}

/// With what requests are authorized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Credentials {
    /// How often they have changed; 0 before the first request with credentials.
    changes: u64,
    digest: u64,
}

impl Credentials {
    /// Whether what was asked for while these held was asked for with `now`.
    pub(super) fn are_those_of(self, now: Self) -> bool {
        // The first are found while the first request is on its way.
        self == now || (self.changes == 0 && now.changes == 1)
    }
}

#[derive(Debug)]
pub(super) struct Scopes {
    public: Arc<str>,
    private: Arc<str>,
}

impl ConnectionCache {
    /// The part of a cache for a connection to this URL, or to a process of its own.
    pub(crate) fn new(cache: Option<Cache>, url: Option<String>) -> Self {
        let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        // A process is a server of its own, also where another was started the same way.
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

    /// Settles what is spoken, before anything is kept. What a client can do is a part of each
    /// modern request, and may change the answer.
    pub(crate) fn meet(&self, revision: Revision, offered: &ClientCapabilities) {
        let offered = serde_json::to_string(offered).unwrap_or_default();
        let public = format!("{}\n{revision}\n{offered}", self.server);
        let _ = self.public.set(public.into());
    }

    /// Names who calls, before anything is kept.
    pub(crate) fn set_caller(&self, caller: Arc<str>) {
        // The first to say it is who opens the connection.
        let _ = self.caller.set(caller);
    }

    /// A request is sent with these credentials.
    #[cfg(feature = "http")]
    pub(crate) fn set_credentials(&self, credentials: &[u8]) {
        let digest = DIGEST.hash_one(credentials);
        let mut known = self.credentials.lock();
        if known.changes == 0 || known.digest != digest {
            known.changes += 1;
            known.digest = digest;
        }
    }

    /// With what the last request was authorized.
    pub(super) fn credentials(&self) -> Credentials {
        *self.credentials.lock()
    }

    /// The scopes for who calls now.
    ///
    /// caching: what is private MUST NOT be shared across authorization contexts: another token,
    /// another cache. Who calls by name vouches for being one, whatever the tokens.
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

    /// caching: a notification makes what it tells of stale at once.
    pub(crate) fn forget_changed(&self, news: &ServerNotification) {
        match news {
            ServerNotification::ToolsChanged => self.forget(|method, _| method == "tools/list"),
            ServerNotification::PromptsChanged => self.forget(|method, _| method == "prompts/list"),
            ServerNotification::ResourcesChanged => self.forget(|method, _| {
                matches!(method, "resources/list" | "resources/templates/list")
            }),
            // An update may name a part of a resource, or a whole of which a part was read.
            ServerNotification::ResourceUpdated { uri, .. } => self.forget(|method, params| {
                let read = params.split('\n').next().unwrap_or_default();
                method == "resources/read" && (read.starts_with(&**uri) || uri.starts_with(read))
            }),
            _ => 0,
        };
    }

    /// Notifications may have been lost, so that none came says nothing any more.
    pub(crate) fn forget_unheard(&self) {
        self.forget(|_, _| true);
    }

    /// Forgets results of this server by their method and params, and says how many there were.
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
    /// Where a result is looked for: among one's own first.
    pub(super) fn both(&self) -> [&Arc<str>; 2] {
        [&self.private, &self.public]
    }

    /// Where a result is kept.
    pub(super) fn named(&self, scope: CacheScope) -> Arc<str> {
        match scope {
            CacheScope::Public => self.public.clone(),
            _ => self.private.clone(),
        }
    }
}
