//! Authorization for the Model Context Protocol.
//!
//! [`client`] runs the OAuth flows that a protected server requires. [`server`] guards a server: it
//! tells clients where to get tokens and verifies the tokens that they send. [`jose`] has the keys,
//! signatures and tokens that both need.

#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "client", feature = "server"))]
mod issuer_metadata;
pub mod jose;
#[cfg(feature = "client")]
mod secret;
#[cfg(feature = "server")]
pub mod server;
#[cfg(all(feature = "client", feature = "server"))]
mod subject_token;

#[cfg(feature = "client")]
pub use secret::Secret;
#[cfg(all(feature = "client", feature = "server"))]
pub use subject_token::SubjectToken;
