//! The settings of HTTP, with their defaults and the reasons for them.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use http::request::Parts;

use super::{cors_rules::CorsRules, extra_routes::ExtraRoutes};

/// The number of sessions that may be open. Each costs a few kilobytes, so all of them cost tens of
/// megabytes. It is more than one process can usefully serve, and limits the memory that a flood
/// can take.
const MAX_SESSIONS: usize = 10_000;

/// The number of sessions that one caller may have open: a tenth of all.
const MAX_SESSIONS_PER_CALLER: usize = 1000;

/// How long a client may take between `initialize` and `notifications/initialized`: enough for a
/// round trip and a busy client.
const INITIALIZED_WITHIN: Duration = Duration::from_mins(1);

/// The number of streams that one session may have open: those of calls, and its `GET` stream.
const MAX_STREAMS: usize = 64;

/// How long a session may be silent. It is long enough for a lunch break, and short enough that
/// sessions that clients never end do not accumulate.
const SESSION_IDLE: Duration = Duration::from_hours(1);

/// The time between comments on a quiet stream. Proxies close connections that are silent for
/// thirty seconds or a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a client may pause within a request body.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// The number of streams that are kept for a session whose client may reconnect: as many as it may
/// have open.
const REPLAY_STREAMS: usize = 64;

/// The number of events that are kept for a stream whose client may reconnect: many times what a
/// client reads between two interruptions.
const REPLAY_EVENTS: usize = 256;

/// The bytes of events that are kept for one stream, and for all ended streams of a session.
const REPLAY_BYTES: usize = 1024 * 1024;

/// How long events of a stream are kept.
const REPLAY_AGE: Duration = Duration::from_mins(5);

/// How long a client waits before it reconnects to a stream that the server closed.
const RETRY: Duration = Duration::from_secs(1);

/// How a server is reached over HTTP: accepted hosts and origins, CORS, and the limits of sessions
/// and streams. Pass it to [`Http::settings`](crate::Http::settings) or
/// [`LiveServer::http_with`](crate::LiveServer::http_with).
///
/// ```
/// use turnbuckle_server::HttpSettings;
///
/// let settings = HttpSettings::default().allow_host("mcp.example.com");
/// ```
///
/// By default only requests for loopback hosts and from loopback pages are accepted, which protects
/// local servers against web pages that the user visits (DNS rebinding).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The hosts, besides loopback, that requests may name. See [`Self::allow_host`].
    pub hosts: AllowList,
    /// The origins, besides loopback, whose pages may send requests. See [`Self::allow_origin`].
    pub origins: AllowList,
    /// Whether the server sends CORS headers, so that pages of the allowed origins may read answers.
    /// Defaults to [`Cors::Disabled`].
    pub cors: Cors,
    /// Which methods, headers and credentials pages of the allowed origins may use, if CORS is on.
    pub cors_rules: CorsRules,
    /// The number of sessions that may be open at the same time. Defaults to 10,000. A session
    /// beyond the limit replaces the longest silent session of the caller who has the most.
    pub max_sessions: usize,
    /// The number of sessions that one caller may have open at the same time. Defaults to 1000. A
    /// session beyond the limit replaces the caller's longest silent session. Callers without an
    /// identity are counted by address. Behind a proxy this is the proxy's address, unless a layer
    /// sets the caller.
    pub max_sessions_per_caller: usize,
    /// How long a client may be silent before it has sent `notifications/initialized`. Defaults to
    /// one minute.
    pub initialized_within: Duration,
    /// The number of streams that one session may have open at the same time. Defaults to 64.
    pub max_streams: usize,
    /// How long a session may be silent before it ends, with its calls that no client waits for.
    /// Defaults to one hour. The client then opens another session.
    pub session_idle: Duration,
    /// The time between comments on a quiet stream, so that proxies do not close it. Defaults to 15
    /// seconds. If a call is quiet for longer than this, it is answered with a stream.
    pub keep_alive: Duration,
    /// How long a client may pause within a request's body. Defaults to 20 seconds.
    pub body_timeout: Duration,
    /// The number of streams of one session that are kept for a client that reconnects. Defaults to
    /// 64.
    pub replay_streams: usize,
    /// The number of events of one stream that are kept for a client that reconnects. Defaults to
    /// 256.
    pub replay_events: usize,
    /// The bytes of events that are kept for one stream, and for all ended streams of a session.
    /// The newest event is kept, however large it is. Defaults to 1 MiB.
    pub replay_bytes: usize,
    /// How long events, and streams that are not read, are kept. Defaults to 5 minutes.
    pub replay_age: Duration,
    /// How long a client waits before it reconnects to a stream that the server closed. Defaults to
    /// one second.
    pub retry: Duration,
    /// Routes beside the endpoint. See [`Self::extra_routes`].
    pub extra_routes: Option<ExtraRoutes>,
    /// Finds the address from which a request comes. See [`Self::address_from`].
    pub address: Option<AddressSource>,
}

/// Finds the address of a client. Created by [`HttpSettings::address_from`].
#[derive(Clone)]
pub struct AddressSource(Arc<AddressOf>);

type AddressOf = dyn Fn(&Parts) -> Option<SocketAddr> + Send + Sync;

impl AddressSource {
    pub(super) fn of(&self, request: &Parts) -> Option<SocketAddr> {
        (self.0)(request)
    }
}

impl fmt::Debug for AddressSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AddressSource")
    }
}

/// A list of accepted hosts or origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowList {
    /// All hosts or origins. Use it only behind a proxy that checks them.
    Any,
    /// The listed ones, and those of this machine (loopback).
    These(Vec<String>),
}

/// Whether the server lets pages of other origins read its answers (CORS). Set it with
/// [`HttpSettings::cors`] or [`HttpSettings::cors_with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cors {
    /// The server sends no CORS headers, so browsers do not let pages of other origins read its
    /// answers. This is the default.
    Disabled,
    /// The server sends CORS headers, so that pages of the allowed origins may read answers.
    Enabled,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            hosts: AllowList::These(Vec::new()),
            origins: AllowList::These(Vec::new()),
            cors: Cors::Disabled,
            cors_rules: CorsRules::default(),
            max_sessions: MAX_SESSIONS,
            max_sessions_per_caller: MAX_SESSIONS_PER_CALLER,
            initialized_within: INITIALIZED_WITHIN,
            max_streams: MAX_STREAMS,
            session_idle: SESSION_IDLE,
            keep_alive: KEEP_ALIVE,
            body_timeout: BODY_TIMEOUT,
            replay_streams: REPLAY_STREAMS,
            replay_events: REPLAY_EVENTS,
            replay_bytes: REPLAY_BYTES,
            replay_age: REPLAY_AGE,
            retry: RETRY,
            extra_routes: None,
            address: None,
        }
    }
}

impl HttpSettings {
    /// Sets routes beside the endpoint, which your program answers: health, metrics. Every client
    /// that passes the checks of the host and the origin may use these routes, even if there is a
    /// guard.
    pub fn extra_routes(mut self, routes: ExtraRoutes) -> Self {
        self.extra_routes = Some(routes);
        self
    }

    /// Sets how the address of a client is found, for [rates and quotas](crate::Rates) of callers
    /// who are not identified. By default the server knows the address only if its own listener
    /// ([`Http`](crate::Http)) accepted the connection. Inside another HTTP server, all such
    /// callers count as one.
    ///
    /// In axum, serve the router with `into_make_service_with_connect_info::<SocketAddr>()`:
    ///
    /// ```
    /// # use std::net::SocketAddr;
    /// use axum::extract::ConnectInfo;
    /// use turnbuckle_server::HttpSettings;
    ///
    /// let settings = HttpSettings::default().address_from(|request| {
    ///     Some(request.extensions.get::<ConnectInfo<SocketAddr>>()?.0)
    /// });
    /// ```
    ///
    /// Behind a proxy, read the header that the proxy sets. Do this only if clients cannot reach
    /// the server without the proxy, because they could send any address. If the function returns
    /// `None`, the address of the connection is used, if it is known.
    pub fn address_from(
        mut self,
        address: impl Fn(&Parts) -> Option<SocketAddr> + Send + Sync + 'static,
    ) -> Self {
        self.address = Some(AddressSource(Arc::new(address)));
        self
    }

    /// Accepts requests for this host, besides loopback. A name without a port matches every port.
    /// Add every host under which clients reach the server; requests for others are rejected.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.add(host.into());
        self
    }

    /// Accepts requests for any host. Use it only behind a proxy that checks the `Host` header.
    pub fn allow_any_host(mut self) -> Self {
        self.hosts = AllowList::Any;
        self
    }

    /// Accepts requests from pages of this origin, such as `https://app.example.com`. Requests
    /// without an `Origin` header, which most programs send, are not affected.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.add(origin.into());
        self
    }

    /// Accepts requests from pages of any origin. Use it only for servers without anything to
    /// protect, or that identify callers in another way.
    pub fn allow_any_origin(mut self) -> Self {
        self.origins = AllowList::Any;
        self
    }

    /// Sends CORS headers, so that pages of the allowed origins may read answers, and answers
    /// preflight requests. Add the origins with [`allow_origin`](Self::allow_origin).
    pub fn cors(mut self) -> Self {
        self.cors = Cors::Enabled;
        self
    }

    /// Like [`cors`](Self::cors), with your own rules: credentials, and more methods and headers.
    pub fn cors_with(mut self, rules: CorsRules) -> Self {
        self.cors_rules = rules;
        self.cors()
    }
}

impl AllowList {
    fn add(&mut self, name: String) {
        if let Self::These(names) = self {
            names.push(name);
        }
    }
}
