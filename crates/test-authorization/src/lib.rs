//! An authorization server for tests and demos, on this machine.
//!
//! It supports what real ones do (metadata, registration, codes with PKCE, refresh tokens with
//! rotation, machine flows, introspection, revocation, DPoP) and, unlike them, can be told to make
//! mistakes. Every user is signed in immediately and without a page, so do not protect anything
//! secret with it.
//!
//! ```
//! use turnbuckle_test_authorization::{AuthorizationServer, Fault};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let issuer = AuthorizationServer::new().start().await?;
//! let token = issuer.token("ann").audience("http://127.0.0.1:8080/mcp").scopes(["notes"]).mint();
//! // Give `issuer.url()` to a guard, and `token` to a client. Then see what they do when:
//! issuer.order(Fault::ExpiredTokens);
//! # Ok(()) }
//! ```

mod authorize;
mod client;
mod client_document;
mod client_proof;
mod fault;
mod form;
mod grant;
mod introspect;
mod live;
mod metadata;
mod mint;
mod proof;
mod register;
mod reply;
mod revoke;
mod service;
mod settings;
mod state;
mod token;

pub use fault::{Endpoint, Fault};
pub use live::LiveAuthorizationServer;
pub use mint::Minting;
pub use settings::{AuthorizationServer, Documents, StartError, Tokens};
