//! Opens connections: directly or through a proxy, plain or with TLS.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;
use turnbuckle_base::loopback::is_loopback;

use super::screen::{AddressFilter, FilteringResolver, check_literal};
use super::settings::Dialer;
use super::stream::ClientStream;
use super::{BoxError, HttpError};
use crate::http::socket::Socket;

/// 30 s between probes of a silent connection, so that middleboxes keep connections that only wait.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// 3 probes without an answer: the other end counts as gone two minutes after its last packet.
const KEEP_ALIVE_PROBES: u32 = 3;

/// Opens connections for the pool.
#[derive(Clone)]
pub(super) struct Connector {
    tcp: HttpConnector,
    /// For servers that must not have every address. Proxies are not checked, because the user chose
    /// them.
    screened: Option<(AddressFilter, HttpConnector<FilteringResolver>)>,
    proxies: Arc<Proxies>,
    /// Replaces TCP, name resolution and proxies.
    dialer: Option<Dialer>,
    timeout: Duration,
    #[cfg(feature = "tls")]
    tls: Option<Arc<tokio_rustls::rustls::ClientConfig>>,
}

/// The other end of a connection.
enum Destination {
    /// The server, possibly through a tunnel.
    Server(Socket),
    /// A proxy that reads the requests.
    Proxy(Socket),
}

/// The connection failed at the proxy.
#[derive(Debug, thiserror::Error)]
#[error("cannot connect through the proxy {proxy}")]
struct ThroughProxy {
    /// The proxy, without its credentials.
    proxy: String,
    source: BoxError,
}

/// The URL of a proxy, without its credentials.
pub(super) fn name_of(proxy: &Intercept) -> String {
    let uri = proxy.uri();
    let scheme = uri.scheme_str().unwrap_or("http");
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let place = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{place}")
}

/// Which proxy is used for which server.
#[derive(Debug)]
pub(super) enum Proxies {
    /// No proxy.
    Direct,
    /// The proxies of the environment variables. Servers on this machine are reached directly, as
    /// browsers do, because a proxy elsewhere cannot reach them.
    Environment(Matcher),
    /// The proxy that was set.
    Chosen(Matcher),
}

impl Proxies {
    pub(super) fn before(&self, uri: &Uri) -> Option<Intercept> {
        match self {
            Self::Direct => None,
            Self::Environment(_) if is_loopback(uri.host().unwrap_or_default()) => None,
            Self::Environment(matcher) | Self::Chosen(matcher) => matcher.intercept(uri),
        }
    }
}

impl Connector {
    pub(super) fn new(proxies: Arc<Proxies>, timeout: Duration) -> Self {
        Self {
            tcp: set_up(HttpConnector::new()),
            screened: None,
            proxies,
            dialer: None,
            timeout,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Only connects to addresses that pass this check.
    pub(super) fn with_screen(self, screen: AddressFilter) -> Self {
        let tcp = HttpConnector::new_with_resolver(FilteringResolver::new(screen.clone()));
        Self {
            screened: Some((screen, set_up(tcp))),
            ..self
        }
    }

    /// Only uses this dialer to open connections.
    pub(super) fn with_dialer(self, dialer: Dialer) -> Self {
        Self {
            dialer: Some(dialer),
            ..self
        }
    }

    #[cfg(feature = "tls")]
    pub(super) fn with_tls(self, config: Arc<tokio_rustls::rustls::ClientConfig>) -> Self {
        Self {
            tls: Some(config),
            ..self
        }
    }

    async fn open(self, uri: Uri) -> Result<TokioIo<ClientStream>, BoxError> {
        if let Some((screen, _)) = &self.screened {
            check_literal(screen, uri.host().unwrap_or_default())?;
        }
        let is_https = uri.scheme_str() == Some("https");
        let socket = match &self.dialer {
            None => self.over_tcp(&uri, is_https).await?,
            Some(dialer) => {
                let port = uri.port_u16().unwrap_or(if is_https { 443 } else { 80 });
                let host = uri.host().unwrap_or_default().to_owned();
                Destination::Server(Socket::Other(dialer(host, port).await?))
            }
        };
        let stream = match socket {
            Destination::Proxy(socket) => ClientStream::to_proxy(socket),
            Destination::Server(socket) if is_https => self.secured(socket, &uri).await?,
            Destination::Server(socket) => ClientStream::plain(socket),
        };
        Ok(TokioIo::new(stream))
    }

    async fn over_tcp(&self, uri: &Uri, is_https: bool) -> Result<Destination, BoxError> {
        let proxy = self.proxies.before(uri);
        let tcp = match &proxy {
            None => self.clone().straight(uri.clone()).await?,
            Some(proxy) => {
                check_proxy(proxy)?;
                let failed = |source| ThroughProxy {
                    proxy: name_of(proxy),
                    source,
                };
                if is_https {
                    let tunnel = self.tunnel(proxy, uri.clone()).await;
                    tunnel.map_err(failed)?
                } else {
                    let to_proxy = self.clone().reach_proxy(proxy.uri().clone()).await;
                    let to_proxy = to_proxy.map_err(failed)?;
                    return Ok(Destination::Proxy(Socket::Tcp(to_proxy.into_inner())));
                }
            }
        };
        Ok(Destination::Server(Socket::Tcp(tcp.into_inner())))
    }

    async fn straight(mut self, uri: Uri) -> Result<TokioIo<TcpStream>, BoxError> {
        match &mut self.screened {
            Some((_, tcp)) => Ok(tcp.call(uri).await?),
            None => Ok(self.tcp.call(uri).await?),
        }
    }

    async fn reach_proxy(mut self, uri: Uri) -> Result<TokioIo<TcpStream>, BoxError> {
        Ok(self.tcp.call(uri).await?)
    }

    async fn tunnel(&self, proxy: &Intercept, uri: Uri) -> Result<TokioIo<TcpStream>, BoxError> {
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.tcp.clone());
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        Ok(tunnel.call(uri).await?)
    }

    #[cfg(feature = "tls")]
    async fn secured(&self, socket: Socket, uri: &Uri) -> Result<ClientStream, BoxError> {
        use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

        let config = self.tls.clone().ok_or("TLS was not set up")?;
        let host = uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned())?;
        let tls = TlsConnector::from(config).connect(name, socket).await?;
        Ok(ClientStream::tls(tls))
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_async, reason = "it is the same function with TLS")]
    async fn secured(&self, _socket: Socket, _uri: &Uri) -> Result<ClientStream, BoxError> {
        Err("TLS was not built in".into())
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<ClientStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        let timeout = self.timeout;
        Box::pin(async move {
            match tokio::time::timeout(timeout, connector.open(uri)).await {
                Ok(opened) => opened,
                Err(_) => Err(format!("no connection within {timeout:?}").into()),
            }
        })
    }
}

fn set_up<R>(mut tcp: HttpConnector<R>) -> HttpConnector<R> {
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEP_ALIVE));
    tcp.set_keepalive_interval(Some(KEEP_ALIVE));
    tcp.set_keepalive_retries(Some(KEEP_ALIVE_PROBES));
    tcp
}

fn check_proxy(proxy: &Intercept) -> Result<(), HttpError> {
    match proxy.uri().scheme_str() {
        Some("http") | None => Ok(()),
        Some(scheme) => Err(HttpError::Proxy {
            reason: format!("a proxy's address must begin with `http://`, not `{scheme}://`"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environments_proxy_is_not_for_this_machine() {
        let matcher = || {
            Matcher::builder()
                .all("http://proxy:3128")
                .no("intern.example")
                .build()
        };
        let environment = Proxies::Environment(matcher());
        let chosen = Proxies::Chosen(matcher());
        let is_proxied = |proxies: &Proxies, uri| proxies.before(&Uri::from_static(uri)).is_some();
        for local in [
            "http://localhost:1/x",
            "http://127.0.0.1/",
            "http://[::1]:9/",
        ] {
            assert!(!is_proxied(&environment, local), "{local}");
            assert!(is_proxied(&chosen, local), "{local}");
        }
        assert!(is_proxied(&environment, "https://example.com/"));
        assert!(!is_proxied(&environment, "https://a.intern.example/"));
        assert!(!is_proxied(&Proxies::Direct, "https://example.com/"));
    }
}
