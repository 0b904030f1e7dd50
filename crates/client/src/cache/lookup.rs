//! How calls use the cache of their connection.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use turnbuckle_protocol::{Meta, meta::key};

use super::{
    Cache, ConnectionCache,
    connection::Credentials,
    hint::Hint,
    store::{CachedRequest, Kept, Key},
};
use crate::error::CallError;

/// The members of a request's `_meta` that do not affect its answer.
const INDIFFERENT: [&str; 5] = [
    key::TRACEPARENT,
    key::TRACESTATE,
    key::BAGGAGE,
    key::LOG_LEVEL,
    key::PROGRESS_TOKEN,
];

/// Whether a result may come from the cache, and how old it may be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Freshness {
    /// The result is never cached.
    #[default]
    Uncached,
    /// As old as the server allows, or a cached result up to this much older if the server cannot
    /// be reached.
    Allowed(Option<Duration>),
    /// The server is asked, and its answer is cached. A cached result up to this much older is used if
    /// the server cannot be reached.
    Fresh(Option<Duration>),
}

impl Freshness {
    /// The same, but the server is always asked.
    pub(crate) fn fresh(self) -> Self {
        match self {
            Self::Uncached => Self::Uncached,
            Self::Allowed(stale) | Self::Fresh(stale) => Self::Fresh(stale),
        }
    }

    /// The same, but a result up to this much older is used if the server cannot be reached.
    pub(crate) fn stale_on_error(self, at_most: Duration) -> Self {
        match self {
            Self::Uncached => Self::Uncached,
            Self::Allowed(_) => Self::Allowed(Some(at_most)),
            Self::Fresh(_) => Self::Fresh(Some(at_most)),
        }
    }
}

/// The request of one result that may be cached.
pub(crate) struct Lookup<'a> {
    connection: &'a ConnectionCache,
    cache: &'a Cache,
    request: CachedRequest,
    freshness: Freshness,
    epoch: u64,
    asked_with: Credentials,
}

impl<'a> Lookup<'a> {
    /// Prepares a lookup for a request. Returns `None` if its result must not be cached.
    pub(crate) fn new(
        connection: &'a ConnectionCache,
        method: &str,
        params: &str,
        meta: Option<&Meta>,
        freshness: Freshness,
    ) -> Option<Self> {
        if matches!(freshness, Freshness::Uncached) {
            return None;
        }
        let cache = connection.cache.as_ref()?;
        let mut params = params.to_owned();
        let mut meta = meta.cloned().unwrap_or_default();
        meta.remove(&INDIFFERENT);
        if !meta.is_empty() {
            params.push('\n');
            params.push_str(&serde_json::to_string(&meta).ok()?);
        }
        Some(Self {
            connection,
            cache,
            request: CachedRequest {
                method: method.into(),
                params: params.into(),
            },
            freshness,
            epoch: cache.store.lock().epoch(),
            asked_with: connection.credentials(),
        })
    }

    /// Returns a cached result that is fresh, unless the server is to be asked.
    pub(crate) fn found(&self) -> Option<Box<RawValue>> {
        if matches!(self.freshness, Freshness::Fresh(_)) {
            return None;
        }
        self.copy(|kept| kept.is_fresh)
    }

    /// Stores an answer, if its hint allows that.
    pub(crate) fn keep(self, result: &RawValue) {
        let Some(hint) = Hint::of(result, self.cache.default_ttl) else {
            return;
        };
        // Another user may have signed in meanwhile; then it is unknown for whom the answer was made.
        if !self.asked_with.are_those_of(self.connection.credentials()) {
            return;
        }
        let key = Key {
            scope: self.connection.scopes().named(hint.scope),
            request: self.request,
        };
        let server = &self.connection.server;
        let asked = (self.epoch, now());
        self.cache
            .store
            .lock()
            .keep(key, server, result, hint, asked);
    }

    /// Returns a cached result, fresh or stale, for a request that failed with a temporary error.
    pub(crate) fn instead_of(&self, error: &CallError, server: &str) -> Option<Box<RawValue>> {
        if !error.is_passing() {
            return None;
        }
        let (Freshness::Allowed(own) | Freshness::Fresh(own)) = self.freshness else {
            return None;
        };
        let at_most = own.unwrap_or(self.cache.stale_on_error);
        let copy = self.copy(|kept| !at_most.is_zero() && kept.stale_for <= at_most)?;
        tracing::warn!(
            server,
            method = &*self.request.method,
            %error,
            "using an older cached result, because the server could not be asked"
        );
        Some(copy)
    }

    fn copy(&self, serves: impl Fn(&Kept) -> bool) -> Option<Box<RawValue>> {
        let now = now();
        let mut store = self.cache.store.lock();
        let scopes = self.connection.scopes();
        let kept = scopes.both().into_iter().find_map(|scope| {
            let key = Key {
                scope: Arc::clone(scope),
                request: self.request.clone(),
            };
            store.find(&key, now).filter(&serves)
        })?;
        drop(store);
        Some((*kept.result).to_owned())
    }
}

/// The current time by the runtime's clock, which tests can pause.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
