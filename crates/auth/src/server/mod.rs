//! The guard of a server: verifies tokens, and tells clients where to get them.
//!
//! The server's author configures a [`Guard`] with the resource, the issuers of its tokens, and the
//! scopes that every request requires. The built guard protects a server over HTTP.
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
//! Every request is verified, whatever session it belongs to. Handlers get the token's issuer and
//! subject as their `Caller`, with the [`Identity`] as an attribute. Sessions, sealed states and
//! tasks are bound to this issuer and subject.
//!
//! Handlers do not get the token itself, because a token that was issued for this server must not
//! be sent to another (authorization, "Access Token Privilege Restriction"). A server that calls
//! others gets its own tokens. To do so by token exchange, let the guard
//! [keep](Guard::keep_subject_tokens) the token to be exchanged.

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
