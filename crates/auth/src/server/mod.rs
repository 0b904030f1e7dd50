//! The guard of a server: verifies tokens, and tells clients where to get them.
//!
//! A [`Guard`] is configured by the server's author: the resource, the issuers of its tokens, the
//! scopes that every request needs. Built, it protects a server over HTTP.
//!
//! ```
//! use turnbuckle_auth::server::Guard;
//! use turnbuckle_server::Server;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let guard = Guard::new("https://mcp.example.com/mcp")
//!     .issuer("https://login.example.com")
//!     .scopes(["mcp:use"])
//!     .build()?;
//! let service = Server::new("notes", "1.0.0").build()?.http().protect(guard);
//! # Ok(()) }
//! ```
//!
//! Every request is verified, whatever session it belongs to. Whom a token speaks for is the
//! handler's `Caller`, with [`Identity`] beside it, and what sessions, sealed states and tasks are
//! bound to: the issuer and the subject.
//!
//! The token itself goes no further than the guard. Nothing hands it to a handler, because a token
//! that was issued for this server must not be sent on to another (authorization, "Access Token
//! Privilege Restriction"): a server that calls others fetches tokens of its own. To do that with a
//! token exchange, have the guard [keep](Guard::keep_subject_tokens) what is exchanged.

mod attempts;
mod challenge;
mod claims;
mod clock;
mod credentials;
mod discovery;
mod dpop;
mod fetch;
mod guard;
mod guard_error;
mod identity;
mod introspection;
mod issuer;
mod keys;
mod live;
mod memory;
mod metadata;
mod nonce;
mod refusal;
mod replay;
mod resource;
mod scopes;
mod verify;

pub use guard::Guard;
pub use guard_error::GuardError;
pub use identity::Identity;
pub use issuer::Issuer;
pub use live::LiveGuard;
pub use verify::{Claims, Verify, VerifyError, Verifying};
