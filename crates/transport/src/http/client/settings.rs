//! The settings of an agent.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue};
use hyper_util::client::proxy::matcher::Matcher;

use super::agent::{Agent, Redirects};
use super::connector::{Connector, Proxies, name_of};
use super::screen::AddressFilter;
#[cfg(feature = "tls")]
use super::trust::{self, Trust};
use super::{Address, Authorize, HttpError};
use crate::http::ByteStream;

/// Opens a connection to a host and a port instead of TCP.
pub(super) type Dialer =
    Arc<dyn Fn(String, u16) -> BoxFuture<'static, io::Result<ByteStream>> + Send + Sync>;

/// 10 s for resolving the name, connecting, the proxy and TLS together: enough for three lost packets.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of an [`Agent`]. They are cheap to clone, so each server can have its own.
///
/// Headers and proxies may contain secrets, so the `Debug` output does not show them.
#[derive(Clone)]
pub struct AgentSettings {
    headers: Vec<(String, String)>,
    authorize: Option<Arc<dyn Authorize>>,
    proxy: Proxy,
    screen: Option<AddressFilter>,
    dialer: Option<Dialer>,
    redirects: Redirects,
    connect_timeout: Duration,
    #[cfg(feature = "tls")]
    roots: Vec<Vec<u8>>,
    #[cfg(feature = "tls")]
    trust: Trust,
}

#[derive(Clone)]
enum Proxy {
    Environment,
    None,
    Chosen { address: String, except: String },
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            authorize: None,
            proxy: Proxy::Environment,
            screen: None,
            dialer: None,
            redirects: Redirects::Follow,
            connect_timeout: CONNECT_TIMEOUT,
            #[cfg(feature = "tls")]
            roots: Vec::new(),
            #[cfg(feature = "tls")]
            trust: Trust::Roots,
        }
    }
}

impl AgentSettings {
    /// Creates settings with the proxies of the environment and the certificates of the platform.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends this header with every request.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Calls this hook before every request, and when a request is refused.
    pub fn with_authorize(mut self, authorize: Arc<dyn Authorize>) -> Self {
        self.authorize = Some(authorize);
        self
    }

    /// Uses this proxy, `http://user:password@host:port`, and ignores those of the environment.
    pub fn with_proxy(self, address: impl Into<String>) -> Self {
        self.with_proxy_except(address, "")
    }

    /// The same, except for these hosts, networks and domains, separated by commas.
    pub fn with_proxy_except(
        mut self,
        address: impl Into<String>,
        except: impl Into<String>,
    ) -> Self {
        self.proxy = Proxy::Chosen {
            address: address.into(),
            except: except.into(),
        };
        self
    }

    /// Uses no proxy, and ignores those of the environment.
    pub fn without_proxy(mut self) -> Self {
        self.proxy = Proxy::None;
        self
    }

    /// Only connects to addresses for which `passes` returns true. It is called after names are
    /// resolved. A proxy resolves names itself: with a proxy, only hosts that are address literals are
    /// checked.
    ///
    /// If no address passes, the request fails with [`HttpError::Unreachable`], with
    /// [`AddressNotAllowed`] among its sources.
    ///
    /// [`AddressNotAllowed`]: super::AddressNotAllowed
    pub fn with_screen(mut self, passes: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        self.screen = Some(Arc::new(passes));
        self
    }

    /// Opens connections with this function instead of TCP: through a tunnel, or in memory in a test.
    /// The function gets the host and the port, and resolves the name itself. No proxy is used.
    ///
    /// ```
    /// use turnbuckle_transport::http::{ByteStream, client::AgentSettings};
    ///
    /// let settings = AgentSettings::new().with_dialer(|_host, _port| async {
    ///     let (near, _far) = tokio::io::duplex(1024);
    ///     Ok(ByteStream::new(near))
    /// });
    /// ```
    pub fn with_dialer<F, O>(mut self, dial: F) -> Self
    where
        F: Fn(String, u16) -> O + Send + Sync + 'static,
        O: Future<Output = io::Result<ByteStream>> + Send + 'static,
    {
        self.dialer = Some(Arc::new(move |host, port| Box::pin(dial(host, port))));
        self
    }

    /// Returns redirects as responses instead of following them.
    pub fn without_redirects(mut self) -> Self {
        self.redirects = Redirects::HandBack;
        self
    }

    /// Sets how long opening a connection may take.
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Also trusts servers with certificates signed by these root certificates, given as PEM.
    #[cfg(feature = "tls")]
    pub fn with_root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots.push(pem.into());
        self
    }

    /// Accepts every server certificate. Use it for tests only: an attacker on the network can then
    /// read and change everything.
    #[cfg(feature = "tls")]
    pub fn danger_accept_invalid_certs(mut self) -> Self {
        self.trust = Trust::Any;
        self
    }

    /// Creates an agent for requests to this address and its origin.
    ///
    /// # Errors
    /// Fails if a header, the proxy or a certificate is invalid.
    pub fn agent(&self, address: &Address) -> Result<Agent, HttpError> {
        let proxies = Arc::new(self.proxies()?);
        let mut connector = Connector::new(proxies.clone(), self.connect_timeout);
        if let Some(screen) = &self.screen {
            connector = connector.with_screen(screen.clone());
        }
        if let Some(dialer) = &self.dialer {
            connector = connector.with_dialer(Arc::clone(dialer));
        }
        #[cfg(feature = "tls")]
        let connector = if address.is_https() {
            connector.with_tls(trust::config(self.trust, &self.roots)?)
        } else {
            connector
        };
        #[cfg(not(feature = "tls"))]
        if address.is_https() {
            let address = address.clone();
            return Err(HttpError::NoTls { address });
        }
        let headers = headers(&self.headers)?;
        Ok(
            Agent::new(connector, proxies, headers, self.authorize.clone())
                .with_redirects(self.redirects),
        )
    }

    /// Returns the proxy for requests to this address, without its credentials.
    ///
    /// # Errors
    /// Fails if the proxy that was set is invalid.
    pub fn proxy_before(&self, address: &Address) -> Result<Option<String>, HttpError> {
        let proxy = self.proxies()?.before(address.uri());
        Ok(proxy.as_ref().map(name_of))
    }

    fn proxies(&self) -> Result<Proxies, HttpError> {
        if self.dialer.is_some() {
            return Ok(Proxies::Direct);
        }
        Ok(match &self.proxy {
            Proxy::Environment => Proxies::Environment(Matcher::from_env()),
            Proxy::None => Proxies::Direct,
            Proxy::Chosen { address, except } => {
                if address.trim().is_empty() {
                    let reason = "its address is empty".to_owned();
                    return Err(HttpError::Proxy { reason });
                }
                // The matcher would ignore an invalid proxy, and requests would be sent without one.
                let alone = Matcher::builder().all(address.as_str()).build();
                let any = http::Uri::from_static("http://0.invalid/");
                if alone.intercept(&any).is_none() {
                    let reason = "its address cannot be read; write `http://host:port`".to_owned();
                    return Err(HttpError::Proxy { reason });
                }
                let matcher = Matcher::builder().all(address.as_str()).no(except.as_str());
                Proxies::Chosen(matcher.build())
            }
        })
    }
}

impl fmt::Debug for AgentSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("AgentSettings")
            .field("headers", &names)
            .field("connect_timeout", &self.connect_timeout)
            .finish_non_exhaustive()
    }
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let fault = |reason| HttpError::Header {
            name: name.clone(),
            reason,
        };
        let header = HeaderName::try_from(name.as_str())
            .map_err(|_| fault("it is not a valid header name"))?;
        let mut value = HeaderValue::try_from(value.as_str())
            .map_err(|_| fault("its value has characters that a header cannot carry"))?;
        value.set_sensitive(true);
        headers.append(header, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(settings: &AgentSettings) -> Result<Agent, HttpError> {
        settings.agent(&Address::parse("http://localhost:1/").unwrap())
    }

    #[test]
    fn secrets_are_not_shown() {
        let settings = AgentSettings::new()
            .with_header("x-key", "sesame")
            .with_proxy("http://me:sesame@proxy:3128");
        let shown = format!("{settings:?}");
        assert!(
            shown.contains("x-key") && !shown.contains("sesame"),
            "{shown}"
        );
        let bad = settings.with_header("x-other", "sesame\n");
        let error = agent(&bad).unwrap_err().to_string();
        assert!(
            error.contains("x-other") && !error.contains("sesame"),
            "{error}"
        );
    }

    #[test]
    fn a_proxy_that_cannot_be_read_is_not_left_out() {
        for address in ["", "::", "http://"] {
            let settings = AgentSettings::new().with_proxy(address);
            assert!(
                matches!(agent(&settings), Err(HttpError::Proxy { .. })),
                "{address}"
            );
        }
        assert!(agent(&AgentSettings::new().with_proxy("http://proxy:1")).is_ok());
    }

    #[test]
    fn the_proxy_is_named_without_its_credentials() {
        let address = Address::parse("https://example.com/mcp").unwrap();
        let settings = AgentSettings::new().with_proxy("http://me:sesame@proxy:3128");
        let proxy = settings.proxy_before(&address).unwrap();
        assert_eq!(proxy.as_deref(), Some("http://proxy:3128"));
        let direct = AgentSettings::new().without_proxy();
        assert_eq!(direct.proxy_before(&address).unwrap(), None);
    }
}
