//! For whom a result is kept.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use turnbuckle_protocol::CacheScope;

use crate::link::Link;

/// Tells connections apart that nothing else does.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// For whom the results of one connection are.
#[derive(Debug)]
pub(crate) struct Scoped {
    number: u64,
    server: OnceLock<Arc<str>>,
    caller: OnceLock<Arc<str>>,
    scopes: OnceLock<Scopes>,
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
            scopes: OnceLock::new(),
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

    /// The scopes of a connection whose server is known.
    pub(super) fn of(&self, link: &Link) -> &Scopes {
        self.scopes.get_or_init(|| {
            let server = self.server(link);
            let revision = link.revision();
            // What a client can do is a part of each modern request, and may change the answer.
            let offer = serde_json::to_string(&link.profile.capabilities(revision));
            let public = format!("{server}\n{revision}\n{}", offer.unwrap_or_default());
            let private = match self.caller.get() {
                Some(caller) => format!("{public}\ncaller {caller}"),
                None => format!("{public}\nconnection {}", self.number),
            };
            Scopes {
                public: public.into(),
                private: private.into(),
            }
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
            CacheScope::Private => self.private.clone(),
        }
    }
}
