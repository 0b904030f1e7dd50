//! OAuth for clients of protected servers: flows and token stores.
//!
//! Give an [`OAuth`] to the target of a server; it runs the whole flow. It reads the server's
//! refusal, finds the metadata of the server and of its authorization server, registers the client,
//! and sends the user to a [`Browser`] to sign in (or uses a client secret, a key or an assertion
//! instead). Then it fetches tokens, adds them to requests, renews them, keeps them in a
//! [`TokenStore`] and revokes them. If a step fails, the [`AuthError`] names the step.

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
mod flow_request;
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
pub use browser::{Browser, BrowserVisit, Loopback, Paste, open_in_browser};
pub use dpop::Dpop;
pub use error::{AuthError, Problem, Step};
pub use flow_request::FlowRequest;
pub use identity::Registered;
pub use oauth::{OAuth, SignIn};
pub use scope::Scopes;
pub use store::{FileStore, MemoryStore, StoreError, StoreKey, TokenStore};
