//! `Http`: the HTTP transport, with its address, TLS, guard and settings.

#[cfg(unix)]
use std::path::PathBuf;
use std::{future::Future, net::SocketAddr, sync::Arc};

use futures_core::future::BoxFuture;

use turnbuckle_transport::http::{Listener, Settings, serve};

use crate::{HttpService, HttpSettings, LiveServer, Protect, ServeError, Transport};

/// The default path of the endpoint.
const ENDPOINT: &str = "/mcp";

/// Serves over HTTP: where to listen, and with which settings. Give it to
/// [`Server::serve`](crate::Server::serve) or [`LiveServer::serve`].
///
/// ```no_run
/// use turnbuckle_server::{Http, Server};
/// # async fn run() -> Result<(), turnbuckle_server::ServeError> {
/// Server::new("greeter", "1.0.0").serve(Http::bind("127.0.0.1:8080")).await
/// # }
/// ```
///
/// The MCP endpoint is at `/mcp`; clients of 2024-11-05 use `/sse`. `/healthz` answers while the
/// process runs, and `/mcp/server-card` returns the server card.
///
/// Requests are accepted only if their `Host` is loopback or the bound address; add public names
/// with [`allow_host`](Self::allow_host). Without [`protect`](Self::protect), everyone who can
/// reach the port may call the server. To serve within your own router, use [`LiveServer::http`]
/// instead.
#[must_use = "nothing listens until the server is served"]
pub struct Http {
    listen_at: ListenAt,
    endpoint: String,
    settings: HttpSettings,
    connections: Settings,
    #[cfg(feature = "tls")]
    tls: Option<turnbuckle_transport::http::Tls>,
    until: BoxFuture<'static, ()>,
    announce: Option<Box<dyn FnOnce(Option<SocketAddr>) + Send>>,
    guard: Option<Arc<dyn Protect>>,
}

enum ListenAt {
    Tcp(String),
    #[cfg(unix)]
    Unix(PathBuf),
    Listener(Listener),
}

impl Http {
    /// Listens at an address such as `127.0.0.1:8080`. Port 0 takes any free port.
    ///
    /// Bind a loopback address unless the whole network may reach the server.
    pub fn bind(address: impl Into<String>) -> Self {
        Self::at(ListenAt::Tcp(address.into()))
    }

    /// Listens on a unix socket, which is created at this path. The `Host` header of its clients is
    /// not checked, because the permissions of the file decide who may connect.
    #[cfg(unix)]
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::at(ListenAt::Unix(path.into()))
    }

    /// Listens on a socket that is already bound. Use it to know the port before the server runs,
    /// or for a socket that a service manager passes on.
    pub fn listener(listener: Listener) -> Self {
        Self::at(ListenAt::Listener(listener))
    }

    fn at(listen_at: ListenAt) -> Self {
        Self {
            listen_at,
            endpoint: ENDPOINT.into(),
            settings: HttpSettings::default(),
            connections: Settings::default(),
            #[cfg(feature = "tls")]
            tls: None,
            until: Box::pin(std::future::pending()),
            announce: None,
            guard: None,
        }
    }

    /// Sets the path of the endpoint. Defaults to `/mcp`. An empty path, or `/`, makes the root the
    /// endpoint.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.endpoint = path.into();
        self
    }

    /// Sets which hosts and origins are accepted, the limits of sessions and streams, and the time
    /// limits. It replaces what [`allow_host`](Self::allow_host) and
    /// [`allow_origin`](Self::allow_origin) have added, so call it first.
    pub fn settings(mut self, settings: HttpSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Accepts requests with this `Host`, besides loopback and the bound address. Add every public
    /// name of the server: requests for other hosts get an error, which protects against DNS
    /// rebinding.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.settings = self.settings.allow_host(host);
        self
    }

    /// Accepts requests from web pages of this origin, such as `https://app.example.com`. If the
    /// pages must also read the responses, set up [CORS](HttpSettings::cors).
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.settings = self.settings.allow_origin(origin);
        self
    }

    /// Requires authorization: the guard checks every request and identifies its caller.
    /// [`Bearer`](crate::Bearer) checks tokens with your own function;
    /// `turnbuckle_auth::server::Guard` is for OAuth. See [`HttpService::protect`].
    pub fn protect(mut self, guard: impl Protect) -> Self {
        self.guard = Some(Arc::new(guard));
        self
    }

    /// Sets the maximum number of connections, their timeouts, and how long running requests may
    /// take to finish when the server stops.
    pub fn connections(mut self, connections: Settings) -> Self {
        self.connections = connections;
        self
    }

    /// Serves HTTPS with this certificate and key. By default the server speaks plain HTTP, which
    /// is meant for loopback or for use behind a proxy that terminates TLS.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: turnbuckle_transport::http::Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Shuts down when this future completes: accepts no new connections, finishes running requests
    /// within the grace time of [`Http::connections`], and closes open streams. By default the
    /// server runs until its future is dropped. [`stop_signal`](crate::stop_signal) waits for
    /// SIGTERM and Ctrl-C.
    pub fn until(mut self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        self.until = Box::pin(stop);
        self
    }

    /// Calls this function once with the bound address, before the first connection is accepted.
    /// Use it to print the address, or to learn which port was chosen for port 0. The function gets
    /// `None` for a unix socket.
    pub fn announce(mut self, announce: impl FnOnce(Option<SocketAddr>) + Send + 'static) -> Self {
        self.announce = Some(Box::new(announce));
        self
    }
}

impl Transport for Http {
    async fn serve(self, server: LiveServer) -> Result<(), ServeError> {
        let listener = match self.listen_at {
            ListenAt::Tcp(address) => Listener::bind(address).await?,
            #[cfg(unix)]
            ListenAt::Unix(path) => Listener::bind_unix(path).await?,
            ListenAt::Listener(listener) => listener,
        };
        #[cfg(feature = "tls")]
        let listener = match self.tls {
            Some(tls) => listener.with_tls(tls),
            None => listener,
        };
        let address = listener.local_address();
        let settings = with_own_address(self.settings, address);
        // Before the first client: its answers may have to pass through another replica.
        server.ready().await;
        let service = HttpService::new(server.shared(), settings, Some(&self.endpoint));
        let service = match self.guard {
            Some(guard) => service.protect(guard),
            None => service,
        };
        if let Some(announce) = self.announce {
            announce(address);
        }
        let closing = service.clone();
        let stop = async move {
            self.until.await;
            closing.begin_shutdown();
        };
        Ok(serve(listener, service, self.connections, stop).await?)
    }
}

/// Allows the bound address as a `Host`. A name could be made to point anywhere, but an address
/// that the author asked to bind is safe.
fn with_own_address(settings: HttpSettings, address: Option<SocketAddr>) -> HttpSettings {
    match address {
        Some(address) if !address.ip().is_unspecified() => {
            let host = match address {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            };
            let origins =
                ["http", "https"].map(|scheme| format!("{scheme}://{host}:{}", address.port()));
            let settings = settings.allow_host(host);
            origins
                .into_iter()
                .fold(settings, HttpSettings::allow_origin)
        }
        Some(_) => settings,
        // The permissions of the file decide who may open a unix socket; its clients send no
        // meaningful host.
        None => settings.allow_any_host(),
    }
}
