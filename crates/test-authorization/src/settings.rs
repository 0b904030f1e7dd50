//! The server as it is set up.

use std::time::Duration;

use turnbuckle_auth::jose::{JwkSet, KeyError, SigningKey};
use turnbuckle_transport::http::BindError;

use super::client::Client;

/// How long access tokens are good.
const TOKEN_LIFETIME: Duration = Duration::from_mins(10);

/// An authorization server being set up.
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

/// Which documents about itself a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Documents {
    /// RFC 8414 and OpenID Connect Discovery.
    Both,
    /// RFC 8414.
    OAuth,
    /// OpenID Connect Discovery, behind the issuer's path.
    OpenId,
    /// None, as servers of 2025-03-26.
    Neither,
}

/// What access tokens are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tokens {
    /// Signed JWTs.
    Signed,
    /// Random text that only the server understands.
    Opaque,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened at.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The key to sign with could not be made.
    #[error("no key could be made to sign tokens with")]
    Key(#[from] KeyError),
    /// The address is not a TCP address.
    #[error("the server listens at no TCP address")]
    NoAddress,
}

impl Default for AuthorizationServer {
    fn default() -> Self {
        Self::new()
    }
}

impl AuthorizationServer {
    /// A server at a free port of 127.0.0.1 that signs every user in as `tester`.
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

    /// Listens at this address.
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

    /// Signs every user in as this person.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// Has these documents about itself.
    pub fn documents(mut self, documents: Documents) -> Self {
        self.documents = documents;
        self
    }

    /// Issues access tokens of this kind.
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Issues access tokens that are good for this long.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Lists these scopes. `offline_access` among them makes refresh tokens depend on it.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Lets no client register itself.
    pub fn closed(mut self) -> Self {
        self.is_open = false;
        self
    }

    /// Knows a client without a secret, which may be sent back to these URLs.
    pub fn public_client<S: Into<String>>(
        mut self,
        id: impl Into<String>,
        redirects: impl IntoIterator<Item = S>,
    ) -> Self {
        let redirects = redirects.into_iter().map(Into::into).collect();
        self.clients.push(Client::public(id.into(), redirects));
        self
    }

    /// Knows a client with a secret, which may be sent back to these URLs or act for itself.
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

    /// Knows a client that proves itself with one of these keys, and may act for itself.
    pub fn client_with_keys(mut self, id: impl Into<String>, keys: JwkSet) -> Self {
        let client = Client::public(id.into(), Vec::new()).with_keys(keys);
        self.clients.push(client);
        self
    }

    /// Takes assertions of this issuer: ID-JAGs of a company's identity provider, or the tokens of
    /// a platform's workloads.
    pub fn trust(mut self, issuer: impl Into<String>, keys: JwkSet) -> Self {
        self.trusted.push(Trusted {
            issuer: issuer.into(),
            keys,
        });
        self
    }

    /// Signs with this key, until keys are rotated; with a new one for ES256 unless set.
    pub fn key(mut self, key: SigningKey) -> Self {
        self.key = Some(key);
        self
    }
}
