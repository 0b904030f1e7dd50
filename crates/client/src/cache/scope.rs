//! For whom a result is kept.

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
use turnbuckle_protocol::CacheScope;

use crate::link::Link;

/// Tells connections apart that nothing else does.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// Tells credentials apart without keeping them. Its key is random, so that nobody can look for
/// others with the same digest.
#[cfg(feature = "http")]
static DIGEST: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// For whom the results of one connection are.
#[derive(Debug)]
pub(crate) struct Scoped {
    number: u64,
    server: OnceLock<Arc<str>>,
    caller: OnceLock<Arc<str>>,
    credentials: Mutex<Credentials>,
    public: OnceLock<Arc<str>>,
}

/// With what requests are authorized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Credentials {
    /// How often they were others than before; 0 while there are none.
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

impl Default for Scoped {
    fn default() -> Self {
        Self {
            number: CONNECTIONS.fetch_add(1, Ordering::Relaxed),
            server: OnceLock::new(),
            caller: OnceLock::new(),
            credentials: Mutex::default(),
            public: OnceLock::new(),
        }
    }
}

impl Scoped {
    /// The server, whose notifications count for all its results.
    pub(super) fn server(&self, link: &Link) -> &Arc<str> {
        self.server.get_or_init(|| {
            // A process is a server of its own, also where another was started the same way.
            let url = link.wire.url();
            url.unwrap_or_else(|| format!("connection {}", self.number))
                .into()
        })
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

    /// The scopes of a connection whose server is known, for who calls now.
    ///
    /// caching: what is private MUST NOT be shared across authorization contexts: another token,
    /// another cache. Who calls by name vouches for being one, whatever the tokens.
    pub(super) fn of(&self, link: &Link) -> Scopes {
        let public = self.public.get_or_init(|| {
            let server = self.server(link);
            let revision = link.revision();
            // What a client can do is a part of each modern request, and may change the answer.
            let offer = serde_json::to_string(&link.profile.capabilities(revision));
            format!("{server}\n{revision}\n{}", offer.unwrap_or_default()).into()
        });
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
            CacheScope::Private => self.private.clone(),
        }
    }
}
