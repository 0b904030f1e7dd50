//! The keys of stored secrets.

use std::fmt;

/// The key of a stored secret: the kind of secret, and the issuer and server that it belongs to. A
/// [`TokenStore`](super::TokenStore) stores one value for each key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreKey(String);

impl StoreKey {
    /// The key of an issuer's tokens for a resource.
    pub(crate) fn tokens(issuer: &str, resource: &str) -> Self {
        Self(format!("tokens {issuer} {resource}"))
    }

    /// The key of the client's registration with an issuer. authorization, "Authorization Server
    /// Binding": the credentials of one issuer are never sent to another.
    pub(crate) fn client(issuer: &str) -> Self {
        Self(format!("client {issuer}"))
    }

    /// The key of the issuer that a client registered by hand was first used with, for a server.
    pub(crate) fn binding(client_id: &str, server: &str) -> Self {
        Self(format!("binding {client_id} {server}"))
    }

    /// The key of the issuer and resource that belong to a server.
    pub(crate) fn server(url: &str) -> Self {
        Self(format!("server {url}"))
    }

    /// The key of other data that an application stores beside its tokens, under this name. It
    /// never collides with the keys of tokens.
    pub fn of_application(name: &str) -> Self {
        Self(format!("application {name}"))
    }

    /// The key as text. It is unique and not secret. It contains characters that are not allowed in
    /// file names, such as `/`, so use a digest of it as a file name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
