//! Tests of authorization through the public API.

#[cfg(all(feature = "client", feature = "server"))]
mod both;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "server")]
mod server;
