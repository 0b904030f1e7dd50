//! `HttpTarget`: the URL of a server, and how it is reached.

use std::{io, sync::Arc, time::Duration};

use turnbuckle_transport::http::{
    ByteStream,
    client::{Address, Agent, AgentSettings, Authorize, HttpError},
};

use super::authorize::AuthorizeHook;

/// A server at a URL, with settings for its HTTP requests.
///
/// A plain `"https://host/mcp"` can be connected to directly; use this to add headers, credentials,
/// a proxy or certificates.
///
/// ```no_run
/// use turnbuckle_client::{Client, HttpTarget};
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let target = HttpTarget::new("https://example.com/mcp").header("x-tenant", "acme");
/// let server = Client::new("my-app", "0.3.0").connect(target).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "it is given to `connect`"]
pub struct HttpTarget {
    url: Url,
    settings: AgentSettings,
    authorize: Option<AuthorizeHook>,
}

/// The URL as it was given. Its query may contain secrets.
#[derive(Clone)]
struct Url(String);

impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match Address::parse(&self.0) {
            Ok(address) => write!(f, "{address}"),
            Err(_) => f.write_str("(no URL)"),
        }
    }
}

impl HttpTarget {
    /// Creates a target from an `http` or `https` URL. An invalid URL is reported when connecting, as
    /// [`ConnectError::Misconfigured`](crate::ConnectError::Misconfigured). `https` requires feature
    /// `tls`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: Url(url.into()),
            settings: AgentSettings::new(),
            authorize: None,
        }
    }

    /// Sends this header with every request. Its value is treated as a secret and never logged. An
    /// invalid name or value is reported when connecting. For OAuth use
    /// [`authorize`](Self::authorize).
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|settings| settings.with_header(name, value))
    }

    /// Uses this hook for credentials: it is called before every request, and when the server refuses
    /// the credentials. Deadlines are paused while the hook runs.
    pub fn authorize(mut self, hook: impl Authorize + 'static) -> Self {
        self.authorize = Some(AuthorizeHook::new(Arc::new(hook)));
        self
    }

    /// Uses this proxy, `http://user:password@host:port`, instead of those in the environment variables
    /// `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`.
    pub fn proxy(self, url: impl Into<String>) -> Self {
        self.with(|settings| settings.with_proxy(url))
    }

    /// Uses this proxy, except for these hosts, domains with all their hosts, addresses, and networks
    /// such as `10.0.0.0/8`. They are separated by commas, as in `NO_PROXY`.
    pub fn proxy_except(self, url: impl Into<String>, except: impl Into<String>) -> Self {
        self.with(|settings| settings.with_proxy_except(url, except))
    }

    /// Uses no proxy, even if the environment names one with `HTTP_PROXY` or `HTTPS_PROXY`.
    pub fn no_proxy(self) -> Self {
        self.with(AgentSettings::without_proxy)
    }

    /// Opens connections with this function instead of TCP: through a tunnel, or in memory in a test.
    /// The function gets the host and the port. No proxy is used.
    pub fn dial_with<F, O>(self, dial: F) -> Self
    where
        F: Fn(String, u16) -> O + Send + Sync + 'static,
        O: Future<Output = io::Result<ByteStream>> + Send + 'static,
    {
        self.with(|settings| settings.with_dialer(dial))
    }

    /// Sets how long opening a connection may take, for each attempt. Defaults to 10 seconds. To set
    /// how long calls may take, use [`Client::deadline`](crate::Client::deadline).
    pub fn connect_timeout(self, timeout: Duration) -> Self {
        self.with(|settings| settings.with_connect_timeout(timeout))
    }

    /// Also trusts servers with certificates signed by these root certificates, given as PEM. Use it
    /// for your own certificate authority. Malformed certificates are reported when connecting.
    #[cfg(feature = "tls")]
    pub fn root_certificate(self, pem: impl Into<Vec<u8>>) -> Self {
        self.with(|settings| settings.with_root_certificates(pem))
    }

    /// Accepts every server certificate. Use it for tests only: an attacker on the network can then
    /// read and change everything.
    #[cfg(feature = "tls")]
    pub fn danger_accept_invalid_certs(self) -> Self {
        self.with(AgentSettings::danger_accept_invalid_certs)
    }

    fn with(mut self, change: impl FnOnce(AgentSettings) -> AgentSettings) -> Self {
        self.settings = change(self.settings);
        self
    }

    /// Returns the HTTP settings, for applications that send requests of their own. The hook for
    /// credentials is not included.
    pub fn settings(&self) -> &AgentSettings {
        &self.settings
    }

    /// Parses the URL.
    pub(crate) fn address(&self) -> Result<Address, HttpError> {
        Ok(Address::parse(&self.url.0)?)
    }

    /// Returns the HTTP agent, and the hook for credentials.
    pub(crate) fn agent(
        &self,
        address: &Address,
    ) -> Result<(Agent, Option<AuthorizeHook>), HttpError> {
        let Some(hook) = &self.authorize else {
            return Ok((self.settings.agent(address)?, None));
        };
        // Each connection has its own clock.
        let hook = hook.anew();
        let settings = self.settings.clone().with_authorize(Arc::new(hook.clone()));
        Ok((settings.agent(address)?, Some(hook)))
    }

    /// The server's name in errors and logs.
    pub(crate) fn label(&self) -> String {
        format!("{:?}", self.url)
    }
}

impl From<&str> for HttpTarget {
    fn from(url: &str) -> Self {
        Self::new(url)
    }
}

impl From<String> for HttpTarget {
    fn from(url: String) -> Self {
        Self::new(url)
    }
}
