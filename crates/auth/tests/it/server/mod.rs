//! The guard before a server, over real sockets, with an issuer that can be told to fail.

mod challenges;
mod dpop;
mod introspection;
mod keys;
mod scopes;
mod sessions;
pub(crate) mod site;
mod tokens;
