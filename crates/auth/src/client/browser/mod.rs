//! The step that a user takes: their browser goes to the authorization server, and comes back.
//!
//! [`Loopback`] opens the browser of this machine and waits at a local port. [`Paste`] prints the
//! URL and lets the user bring the answer by hand, where there is no browser. Implement
//! [`Browser`] for anything else.

mod launch;
mod loopback;
mod paste;

use turnbuckle_transport::http::client::{BoxError, BoxFuture};

pub use launch::open_in_browser;
pub use loopback::Loopback;
pub use paste::Paste;

use super::{AuthorizationRequest, Scopes};
use crate::Secret;

/// Sends the user to an authorization server and receives the redirect. Set it with
/// [`OAuth::browser`](super::OAuth::browser).
///
/// [`Loopback`] and [`Paste`] are implementations; write your own for an application with its own
/// window or a redirect over `https`.
pub trait Browser: Send + Sync {
    /// Gets ready to receive an answer. It is called before each question, as the question says
    /// where to come back to.
    ///
    /// `known` are the addresses that the client is registered with already; one of them saves
    /// another registration.
    ///
    /// # Errors
    /// If no answer could be received.
    fn prepare<'a>(
        &'a self,
        known: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn Visit>, BoxError>>;

    /// Whether the user may be asked for more scopes in the middle of a request, because the server says
    /// that it needs them (step-up). If not, the request fails and the tokens stay in use;
    /// [`OAuth::sign_in_for`](super::OAuth::sign_in_for) asks later.
    fn allows_step_up(&self, _scopes: &Scopes) -> bool {
        true
    }
}

/// One visit of the user to an authorization server. Made by [`Browser::prepare`].
pub trait Visit: Send {
    /// Where the authorization server sends the user back to.
    ///
    /// It is `https` or of this machine: anything else is refused.
    fn redirect_uri(&self) -> &str;

    /// Sends the user there, and waits for the URL that they are sent back to. What is in it is
    /// checked by the caller.
    ///
    /// # Errors
    /// If they cannot be sent, or do not come back.
    ///
    /// # Cancel safety
    /// Dropping the future ends the visit.
    fn ask(
        self: Box<Self>,
        request: &AuthorizationRequest,
    ) -> BoxFuture<'_, Result<Secret, BoxError>>;
}
