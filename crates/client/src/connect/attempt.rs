//! `Connect`: the attempt to connect, which applications await.

use std::{future::IntoFuture, sync::Arc};

use futures_core::future::BoxFuture;
use turnbuckle_session::{DetectedRevision, probe::RevisionChoice};

use super::{
    Target,
    memory::{self, KnownServer},
    route::Route,
    search::Search,
};
use crate::{connection::Connection, error::ConnectError, profile::Profile};

/// An attempt to connect, made by [`Client::connect`](crate::Client::connect). It starts when it is
/// awaited, and returns a [`Connection`] or a [`ConnectError`].
///
/// # Cancel safety
/// Dropping the future ends the server's process, if one was started.
#[must_use = "nothing happens before it is awaited"]
#[derive(Debug)]
pub struct Connect {
    profile: Arc<Profile>,
    target: Target,
    name: Option<Arc<str>>,
    remembered: Option<DetectedRevision>,
    caller: Option<Arc<str>>,
}

impl Connect {
    pub(crate) fn new(profile: Arc<Profile>, target: Target) -> Self {
        Self {
            profile,
            target,
            name: None,
            remembered: None,
            caller: None,
        }
    }

    /// Sets the server's name in errors, in logs and for handlers ([`Peer::name`](crate::Peer::name)).
    /// It replaces the name that the server reports.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Connects with the revision that [`Connection::detected_revision`] returned earlier, and skips
    /// the probe. If the server has changed since then, the client detects that and probes it.
    ///
    /// Programs that this process has started before are remembered automatically; use this method for
    /// revisions that you store between runs.
    pub fn known_revision(mut self, detected: DetectedRevision) -> Self {
        self.remembered = Some(detected);
        self
    }

    /// Sets the caller on whose behalf the connection is made. All connections to the server with the
    /// same caller then share private results: see [`Cache`](crate::Cache). Callers with different
    /// rights must have different names.
    pub fn caller(mut self, caller: impl Into<Arc<str>>) -> Self {
        self.caller = Some(caller.into());
        self
    }

    async fn connect(self) -> Result<Connection, ConnectError> {
        let mut route = Route::new(self.target)?;
        let key = route.key();
        let known = key.as_deref().and_then(memory::recall);
        let remembered = self.remembered.or(known.map(|known| known.detected));
        // HTTP+SSE is only tried if legacy revisions are allowed.
        route.known(known.filter(|_| self.profile.settings.allows_legacy()));
        let search = Search {
            name: self.name,
            profile: self.profile.clone(),
        };
        let mut found = search.run(&mut route, remembered).await;
        if remembered.is_some() && route.is_http() && is_misled(&found) {
            route.known(None);
            found = search.run(&mut route, None).await;
        }
        let connection = found?;
        if let Some(caller) = self.caller {
            connection.link().cache.set_caller(caller);
        }
        // If the revision was restricted, the result says little about the server's preference: forget
        // it.
        let is_free = self.profile.settings.aim == RevisionChoice::Auto;
        if let Some(key) = key.filter(|_| is_free) {
            let known = KnownServer {
                detected: connection.detected_revision(),
                by_events: connection.uses_http_sse(),
            };
            memory::remember(key, known);
        }
        Ok(connection)
    }
}

/// Whether a search may have failed because a remembered revision is out of date.
fn is_misled(found: &Result<Connection, ConnectError>) -> bool {
    !matches!(
        found,
        Ok(_)
            | Err(ConnectError::Authorization { .. }
                | ConnectError::Unauthorized { .. }
                | ConnectError::Unreachable { .. })
    )
}

impl IntoFuture for Connect {
    type Output = Result<Connection, ConnectError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.connect())
    }
}
