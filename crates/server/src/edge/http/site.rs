//! The state that all requests to one HTTP service share.

use std::sync::{Arc, Weak};

use http::request::Parts;
use turnbuckle_transport::http::Peer;

use super::{
    held_sessions::SAY_AGAIN, payer::Payer, protect::Protect, runs::Runs, sessions::Sessions,
    settings::HttpSettings,
};
use crate::{
    Caller,
    client::caller::Unauthenticated,
    client::{CancelFlag, HttpRequest},
    engine::Shared,
    quota::{CallerAddress, CallerKey, CountedCaller},
};

/// The path at which a router serves the service.
#[derive(Clone, Debug)]
pub(super) struct Mount {
    /// The endpoint in the form that clients use: a path, or a complete URL.
    pub(super) url: String,
    /// The path, without a slash at its end.
    pub(super) path: String,
}

impl Mount {
    pub(super) fn at(place: &str) -> Self {
        let url = place.trim_end_matches('/').to_owned();
        let path = match url.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("", |slash| &rest[slash..]).to_owned(),
            None => format!("/{}", url.trim_start_matches('/')),
        };
        let path = path.trim_end_matches('/').to_owned();
        let url = if url.contains("://") {
            url
        } else {
            path.clone()
        };
        Self { url, path }
    }
}

/// The state that all requests share.
pub(super) struct Site {
    pub(super) shared: Arc<Shared>,
    pub(super) settings: HttpSettings,
    pub(super) sessions: Sessions,
    /// Requests that were sent to other replicas and run here.
    pub(super) runs: Runs,
    pub(super) endpoint: Option<String>,
    /// The path at which the service is mounted, if it was set.
    pub(super) mount: Option<Mount>,
    /// Set when the service begins its shutdown.
    pub(super) closing: CancelFlag,
    /// The guard that identifies callers, if no layer in front of the service does.
    pub(super) guard: Option<Arc<dyn Protect>>,
    local: Caller,
}

impl Site {
    pub(super) fn open(
        shared: Arc<Shared>,
        settings: HttpSettings,
        endpoint: Option<String>,
        mount: Option<Mount>,
        guard: Option<Arc<dyn Protect>>,
    ) -> Arc<Self> {
        let site = Arc::new(Self {
            sessions: Sessions::new(&settings, shared.replicas.as_ref()),
            shared,
            runs: Runs::default(),
            settings,
            endpoint,
            mount,
            closing: CancelFlag::default(),
            guard,
            local: Caller::local().with(Unauthenticated),
        });
        if let Some(replicas) = &site.shared.replicas {
            let handler: Weak<Self> = Arc::downgrade(&site);
            replicas.add(handler);
            replicas.spawn(say_again(Arc::downgrade(&site)));
        }
        site
    }

    /// The caller against whose quotas a request counts.
    pub(super) fn key(&self, parts: &Parts) -> CallerKey {
        let found = parts.extensions.get::<Caller>();
        CallerKey::over_http(found.unwrap_or(&self.local), parts.extensions.get::<Peer>())
    }

    /// The caller against whose rates a request counts. `None` if the request comes from this
    /// machine and its caller is not identified. All callers with unknown addresses count as one.
    pub(super) fn counted(&self, parts: &Parts) -> Option<CountedCaller> {
        let is_known = parts
            .extensions
            .get::<Caller>()
            .is_some_and(|caller| caller.id().is_some());
        let peer = parts.extensions.get::<Peer>();
        let is_counted = is_known || peer.is_none_or(|peer| !peer.is_local());
        is_counted.then(|| CountedCaller {
            key: self.key(parts),
            address: peer.and_then(CallerAddress::of),
        })
    }

    /// The caller against whose quotas a session counts that this request opens.
    pub(super) fn payer(&self, parts: &Parts) -> Payer {
        Payer {
            key: self.key(parts),
            counted: self.counted(parts),
            kept: Arc::clone(&self.shared.allowances.kept),
        }
    }

    /// The id of the [`caller`](Self::caller).
    pub(super) fn caller_id<'a>(&'a self, parts: &'a Parts) -> Option<&'a str> {
        let found = parts.extensions.get::<Caller>();
        found.unwrap_or(&self.local).id()
    }

    /// The caller that a layer in front of the service has set, or the local one.
    pub(super) fn caller(&self, parts: &Parts) -> Caller {
        let found = parts.extensions.get::<Caller>();
        let caller = found.unwrap_or(&self.local).clone();
        if self.shared.context.reads_http() {
            return caller.with_http_request(HttpRequest::of(parts));
        }
        caller
    }
}

/// Regularly stores how many sessions callers with many sessions have opened, for as long as the
/// service lives. Callers with few sessions are not stored.
async fn say_again(site: Weak<Site>) {
    loop {
        tokio::time::sleep(SAY_AGAIN).await;
        let Some(site) = site.upgrade() else { return };
        site.sessions.say_again();
    }
}
