//! The keys of stored secrets.

use std::fmt;

/// The key of a stored secret: the kind of secret, and the issuer and server it belongs to. A
/// [`TokenStore`](super::TokenStore) is given it, and stores one value for each key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreKey(String);

impl StoreKey {
    /// The tokens of an issuer for a resource.
    pub(crate) fn tokens(issuer: &str, resource: &str) -> Self {
        Self(format!("tokens {issuer} {resource}"))
    }

    /// The client's registration with an issuer. authorization, "Authorization Server Binding":
    /// what one issuer gave is never shown to another.
    pub(crate) fn client(issuer: &str) -> Self {
        Self(format!("client {issuer}"))
    }

    /// The issuer that a client registered by hand was first shown to, for a server.
    pub(crate) fn binding(client_id: &str, server: &str) -> Self {
        Self(format!("binding {client_id} {server}"))
    }

    /// Which issuer and resource belong to a server.
    pub(crate) fn server(url: &str) -> Self {
        Self(format!("server {url}"))
    }

    /// The key of something that an application keeps beside its tokens, under this name. It never
    /// collides with the keys of tokens.
    pub fn of_application(name: &str) -> Self {
        Self(format!("application {name}"))
    }

    /// The key as text: unique, and not secret. It has characters that are not allowed in file
    /// names, such as `/`; use a digest of it there.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
