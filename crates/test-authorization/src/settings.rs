//! The settings of the server.

use std::time::Duration;

use turnbuckle_auth::jose::{JwkSet, KeyError, SigningKey};
use turnbuckle_transport::http::BindError;

use super::client::Client;

/// The default lifetime of access tokens.
const TOKEN_LIFETIME: Duration = Duration::from_mins(10);

/// The settings of an authorization server that is not started yet.
#[derive(Debug)]
#[must_use = "nothing listens until the server is started"]
pub struct AuthorizationServer {
    pub(super) address: String,
    pub(super) path: String,
    pub(super) subject: String,
    pub(super) documents: Documents,
    pub(super) tokens: Tokens,
    pub(super) lifetime: Duration,
    pub(super) scopes: Vec<String>,
    pub(super) is_open: bool,
    pub(super) clients: Vec<Client>,
    pub(super) trusted: Vec<Trusted>,
    pub(super) key: Option<SigningKey>,
}

/// Another issuer whose assertions are accepted.
#[derive(Clone, Debug)]
pub(super) struct Trusted {
    pub(super) issuer: String,
    pub(super) keys: JwkSet,
}

/// The metadata documents that a server publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Documents {
    /// RFC 8414 and OpenID Connect Discovery.
    Both,
    /// RFC 8414.
    OAuth,
    /// OpenID Connect Discovery, with the well-known path after the issuer's path.
    OpenId,
    /// None, like servers of 2025-03-26.
    Neither,
}

/// The kind of access tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tokens {
    /// Signed JWTs.
    Signed,
    /// Random text that only the server can interpret.
    Opaque,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The server cannot listen at the address.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The signing key could not be made.
    #[error("could not create a key to sign tokens")]
    Key(#[from] KeyError),
    /// The address is not a TCP address.
    #[error("the server does not listen at a TCP address")]
    NoAddress,
}

impl Default for AuthorizationServer {
    fn default() -> Self {
        Self::new()
    }
}

impl AuthorizationServer {
    /// Makes a server at a free port of 127.0.0.1 that signs every user in as `tester`.
    pub fn new() -> Self {
        Self {
            address: "127.0.0.1:0".into(),
            path: String::new(),
            subject: "tester".into(),
            documents: Documents::Both,
            tokens: Tokens::Signed,
            lifetime: TOKEN_LIFETIME,
            scopes: Vec::new(),
            is_open: true,
            clients: Vec::new(),
            trusted: Vec::new(),
            key: None,
        }
    }

    /// Sets the address to listen at.
    pub fn at(mut self, address: impl Into<String>) -> Self {
        self.address = address.into();
        self
    }

    /// Puts the issuer below a path, such as `/tenant1`.
    pub fn path(mut self, path: &str) -> Self {
        self.path = match path.trim_matches('/') {
            "" => String::new(),
            path => format!("/{path}"),
        };
        self
    }

    /// Sets the user that everybody is signed in as.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// Sets the metadata documents that the server publishes.
    pub fn documents(mut self, documents: Documents) -> Self {
        self.documents = documents;
        self
    }

    /// Sets the kind of access tokens that the server issues.
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Sets the lifetime of access tokens.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Sets the scopes in the metadata. If `offline_access` is one of them, refresh tokens are
    /// issued only if it is requested.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Disables registration, so that no client can register itself.
    pub fn closed(mut self) -> Self {
        self.is_open = false;
        self
    }

    /// Adds a client without a secret, with these redirect URIs.
    pub fn public_client<S: Into<String>>(
        mut self,
        id: impl Into<String>,
        redirects: impl IntoIterator<Item = S>,
    ) -> Self {
        let redirects = redirects.into_iter().map(Into::into).collect();
        self.clients.push(Client::public(id.into(), redirects));
        self
    }

    /// Adds a client with a secret and these redirect URIs. It may also act for itself.
    pub fn client<S: Into<String>>(
        mut self,
        id: impl Into<String>,
        secret: impl Into<String>,
        redirects: impl IntoIterator<Item = S>,
    ) -> Self {
        let redirects = redirects.into_iter().map(Into::into).collect();
        let client = Client::public(id.into(), redirects).with_secret(&secret.into());
        self.clients.push(client);
        self
    }

    /// Adds a client that authenticates with one of these keys, and may act for itself.
    pub fn client_with_keys(mut self, id: impl Into<String>, keys: JwkSet) -> Self {
        let client = Client::public(id.into(), Vec::new()).with_keys(keys);
        self.clients.push(client);
        self
    }

    /// Accepts assertions of this issuer: ID-JAGs of a company's identity provider, or the tokens
    /// of a platform's workloads.
    pub fn trust(mut self, issuer: impl Into<String>, keys: JwkSet) -> Self {
        self.trusted.push(Trusted {
            issuer: issuer.into(),
            keys,
        });
        self
    }

    /// Sets the key to sign with, until keys are rotated. Defaults to a new key for ES256.
    pub fn key(mut self, key: SigningKey) -> Self {
        self.key = Some(key);
        self
    }
}
