//! The guard in front of a server, over real sockets, with an issuer that can be made to fail.

mod challenges;
mod dpop;
mod introspection;
mod keys;
mod scopes;
mod sessions;
pub(crate) mod site;
mod tokens;
