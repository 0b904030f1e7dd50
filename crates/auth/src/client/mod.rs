//! Clients of protected servers: OAuth flows, and where tokens are kept.
//!
//! [`OAuth`] is given to the target of a server and does the rest. What it does, step by step: a
//! refusal is read, the server's metadata and then that of its authorization server is found, the
//! client introduces itself, a [`Browser`] takes a person to sign in (or a secret, a key or somebody's
//! word stands in for them), tokens are fetched, put on requests, renewed, kept in a [`TokenStore`],
//! and given back. Whatever fails, an [`AuthError`] says at which of these steps.

mod assertion;
mod authorization_request;
mod authorization_response;
mod browser;
mod challenge;
mod clock;
mod discovery;
mod dpop;
mod engine;
mod error;
mod fetch;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod grant;
mod hook;
mod identity;
mod keeping;
mod metadata;
mod oauth;
mod obtain;
mod passage;
mod pkce;
mod random;
mod reach;
mod registration;
mod scope;
mod session;
mod settings;
mod store;
mod token_answer;
mod token_request;
mod tokens;

pub use assertion::{Assertion, AssertionFile, Enterprise};
pub use authorization_request::AuthorizationRequest;
pub use browser::{Browser, Loopback, Paste, Visit, open_in_browser};
pub use dpop::Dpop;
pub use error::{AuthError, Problem, Step};
pub use identity::Registered;
pub use oauth::{OAuth, SignIn};
pub use passage::Passage;
pub use scope::Scopes;
pub use store::{FileStore, MemoryStore, StoreError, StoreKey, TokenStore};
