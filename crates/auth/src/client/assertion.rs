//! Assertions: signed statements by a company's single sign-on or a cloud platform about who runs
//! this client. They are exchanged for tokens.

use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use turnbuckle_transport::http::client::{BoxError, BoxFuture};

use super::Registered;
use crate::Secret;

/// 64 KiB: assertions are a few kilobytes long.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// A source of assertions (signed statements about a client or a user). Assertions are short-lived,
/// so one is requested each time it is needed.
///
/// There are three kinds: a [`Secret`] is a fixed assertion; an [`AssertionFile`] is read each
/// time, because platforms renew the file; a closure that takes the audience and returns a future
/// covers all other cases.
///
/// ```
/// use turnbuckle_auth::Secret;
/// use turnbuckle_auth::client::OAuth;
///
/// let oauth = OAuth::new("nightly-report")
///     .issuer("https://login.example.com")
///     .workload(|audience: String| async move {
///         // Ask the platform for a token for this audience.
///         Ok(Secret::new(format!("token for {audience}")))
///     });
/// # drop(oauth);
/// ```
pub trait Assertion: Send + Sync {
    /// Returns an assertion for this audience, which is the issuer that will verify it.
    ///
    /// # Errors
    /// Any error if no assertion can be made. The flow ends with an [`AuthError`](super::AuthError)
    /// that has this error as its source.
    fn assertion<'a>(&'a self, audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>>;
}

impl Assertion for Secret {
    fn assertion<'a>(&'a self, _audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
        Box::pin(ready(Ok(self.clone())))
    }
}

impl<F, T> Assertion for F
where
    F: Fn(String) -> T + Send + Sync,
    T: Future<Output = Result<Secret, BoxError>> + Send + 'static,
{
    fn assertion<'a>(&'a self, audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
        Box::pin(self(audience.to_owned()))
    }
}

/// A file in which a platform keeps an assertion, such as the token of a Kubernetes service
/// account. Use it with [`OAuth::workload`](super::OAuth::workload).
#[derive(Clone, Debug)]
pub struct AssertionFile(PathBuf);

impl AssertionFile {
    /// Uses the file at this path. It is read each time an assertion is needed, because platforms
    /// renew it. It may have at most 64 KiB; whitespace around the text is ignored.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }
}

impl Assertion for AssertionFile {
    fn assertion<'a>(&'a self, _audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
        let path = self.0.clone();
        Box::pin(async move {
            let read = move || -> Result<Secret, BoxError> {
                if std::fs::metadata(&path)?.len() > MAX_FILE_BYTES {
                    return Err(format!("`{}` is too long for a token", path.display()).into());
                }
                Ok(Secret::new(std::fs::read_to_string(&path)?.trim()))
            };
            tokio::task::spawn_blocking(read).await?
        })
    }
}

/// A company's identity provider, which decides who may use which server (enterprise-managed
/// authorization). Give it to [`OAuth::enterprise`](super::OAuth::enterprise).
///
/// The assertion is the result of the user's sign-on: by default an ID token. The provider
/// exchanges it for an authorization grant for one MCP server, and this grant is exchanged for an
/// access token. None of these steps involves the user.
///
/// ```
/// use turnbuckle_auth::Secret;
/// use turnbuckle_auth::client::{Enterprise, OAuth, Registered};
///
/// let sign_on = Secret::new("the ID token of the user's sign-on");
/// let provider = Enterprise::new("https://sso.example.com", Registered::new("my-app"), sign_on);
/// let oauth = OAuth::new("my-app")
///     .enterprise(provider)
///     .client(Registered::new("my-app-at-notes").with_secret("s3cret"));
/// # drop(oauth);
/// ```
#[derive(Clone)]
pub struct Enterprise {
    pub(crate) issuer: String,
    pub(crate) token_endpoint: Option<String>,
    pub(crate) client: Registered,
    pub(crate) assertion: Arc<dyn Assertion>,
    pub(crate) kind: &'static str,
}

impl Enterprise {
    /// Sets the issuer URL of the provider, the client as it is registered there, and the source of
    /// the user's sign-on. If the sign-on has expired, the flow fails at the step
    /// [`Exchange`](super::Step::Exchange); to avoid this in sessions that last long, pass a
    /// closure that returns a fresh sign-on.
    pub fn new(
        issuer: impl Into<String>,
        client: Registered,
        sign_on: impl Assertion + 'static,
    ) -> Self {
        Self {
            issuer: issuer.into(),
            token_endpoint: None,
            client,
            assertion: Arc::new(sign_on),
            kind: "urn:ietf:params:oauth:token-type:id_token",
        }
    }

    /// Sets the token endpoint of the provider, so that its metadata is not fetched. Use it for a
    /// provider that publishes no metadata.
    pub fn token_endpoint(mut self, url: impl Into<String>) -> Self {
        self.token_endpoint = Some(url.into());
        self
    }

    /// States that the sign-on is a SAML 2 assertion instead of an ID token. The provider must
    /// accept SAML assertions in a token exchange.
    pub fn with_saml(mut self) -> Self {
        self.kind = "urn:ietf:params:oauth:token-type:saml2";
        self
    }

    /// States that the sign-on is a refresh token of the provider instead of an ID token. It lasts
    /// longer than an ID token, so it suits programs that run for days.
    pub fn with_refresh_token(mut self) -> Self {
        self.kind = "urn:ietf:params:oauth:token-type:refresh_token";
        self
    }
}

impl std::fmt::Debug for Enterprise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enterprise")
            .field("issuer", &self.issuer)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
