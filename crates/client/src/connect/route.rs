//! How a probe opens a connection to the server, and opens a second one.

use std::sync::Arc;

#[cfg(feature = "http")]
use super::http::HttpRoute;
use super::{
    memory::KnownServer,
    target::{Dial, DialError, Place, Target},
};
use crate::{
    error::ConnectError,
    link::{Opened, open},
    profile::Profile,
};

/// How to reach a server.
pub(super) enum Route {
    Dial(Box<dyn Dial>),
    #[cfg(feature = "http")]
    Http {
        route: Box<HttpRoute>,
        label: String,
        key: String,
    },
}

impl Route {
    /// Whether the server is at a URL. Reopening then tries HTTP+SSE, and a search that failed because
    /// of a wrong memory can be repeated.
    pub(super) fn is_http(&self) -> bool {
        match self {
            Self::Dial(_) => false,
            #[cfg(feature = "http")]
            Self::Http { .. } => true,
        }
    }

    /// Whether the server can be reached a second time while the first connection is open.
    pub(super) fn can_open_second(&self) -> bool {
        match self {
            Self::Dial(dial) => dial.can_open_second(),
            #[cfg(feature = "http")]
            Self::Http { .. } => false,
        }
    }

    #[cfg_attr(
        not(feature = "http"),
        expect(clippy::unnecessary_wraps, reason = "parsing a URL can fail")
    )]
    pub(super) fn new(target: Target) -> Result<Self, ConnectError> {
        match target.0 {
            Place::Dial(dial) => Ok(Self::Dial(dial)),
            #[cfg(feature = "http")]
            Place::Http(target) => {
                let misconfigured = |source| ConnectError::Misconfigured {
                    server: target.label().into(),
                    source: Box::new(source),
                };
                let address = target.address().map_err(misconfigured)?;
                let (agent, hook) = target.agent(&address).map_err(misconfigured)?;
                let label = address.to_string();
                let key = key_of(&address);
                let route = Box::new(HttpRoute::new(agent, address, hook));
                Ok(Self::Http { route, label, key })
            }
        }
    }

    /// Starts with the transport that was detected the last time.
    pub(super) fn known(&mut self, known: Option<KnownServer>) {
        match self {
            Self::Dial(_) => {}
            #[cfg(feature = "http")]
            Self::Http { route, .. } => {
                route.try_events_first(known.is_some_and(|known| known.by_events));
            }
        }
        let _ = known;
    }

    /// The server's name in errors and logs.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Dial(dial) => dial.label(),
            #[cfg(feature = "http")]
            Self::Http { label, .. } => label.clone(),
        }
    }

    /// The key under which the server is remembered.
    pub(super) fn key(&self) -> Option<String> {
        match self {
            Self::Dial(dial) => dial.key(),
            #[cfg(feature = "http")]
            Self::Http { key, .. } => Some(key.clone()),
        }
    }

    /// Opens a connection.
    pub(super) async fn open(
        &mut self,
        server: &Arc<str>,
        profile: &Arc<Profile>,
    ) -> Result<Opened, DialError> {
        match self {
            Self::Dial(dial) => {
                let pipe = dial.dial().await?;
                Ok(open(server.clone(), profile.clone(), pipe))
            }
            #[cfg(feature = "http")]
            Self::Http { route, .. } => {
                Ok(Box::pin(route.open(server.clone(), profile.clone())).await)
            }
        }
    }

    /// Ends the server that was probed, so that two never run at once, and starts it again. Over HTTP
    /// no process ends, and HTTP+SSE is tried instead.
    pub(super) async fn reopen(
        &mut self,
        opened: &mut Opened,
        server: &Arc<str>,
        profile: &Arc<Profile>,
    ) -> Result<(), DialError> {
        #[cfg(feature = "http")]
        if matches!(self, Self::Http { .. }) {
            let none = "the server has no HTTP+SSE event stream either";
            return if Box::pin(HttpRoute::reopen(opened)).await {
                Ok(())
            } else {
                Err(DialError::Io(std::io::Error::other(none)))
            };
        }
        opened.close().await;
        *opened = self.open(server, profile).await?;
        Ok(())
    }
}

/// Two servers may differ only in their queries. A query may contain secrets, so only its digest is
/// kept. Two queries with the same digest would only share a guess.
#[cfg(feature = "http")]
fn key_of(address: &turnbuckle_transport::http::client::Address) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};

    let mut digest = DefaultHasher::new();
    address.uri().query().hash(&mut digest);
    format!("{address}#{:016x}", digest.finish())
}
