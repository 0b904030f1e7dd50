//! Authorization, seen from outside.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "server")]
mod server;
