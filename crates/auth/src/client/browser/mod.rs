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
///
/// ```
/// use turnbuckle_auth::Secret;
/// use turnbuckle_auth::client::{AuthorizationRequest, Browser, BrowserVisit};
/// use turnbuckle_transport::http::client::{BoxError, BoxFuture};
///
/// /// A desktop application whose system hands `my-app` links to it.
/// struct AppWindow;
///
/// impl Browser for AppWindow {
///     fn prepare<'a>(
///         &'a self,
///         _known: &'a [String],
///     ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>> {
///         let visit: Box<dyn BrowserVisit> = Box::new(Self);
///         Box::pin(std::future::ready(Ok(visit)))
///     }
/// }
///
/// impl BrowserVisit for AppWindow {
///     fn redirect_uri(&self) -> &str {
///         "https://my-app.example.com/signed-in"
///     }
///
///     fn ask(
///         self: Box<Self>,
///         request: &AuthorizationRequest,
///     ) -> BoxFuture<'_, Result<Secret, BoxError>> {
///         println!("open {} in the window", request.issuer());
///         Box::pin(std::future::ready(Err("the window was closed".into())))
///     }
/// }
/// ```
pub trait Browser: Send + Sync {
    /// Gets ready to receive an answer, for example by opening a port, and returns the [`BrowserVisit`].
    /// It is called before each question, as the question says where to come back to.
    ///
    /// `known` are the redirect URIs that the client is registered with already; one of them saves
    /// another registration.
    ///
    /// # Errors
    /// If no answer could be received. The flow ends with an [`AuthError`](super::AuthError) at the
    /// step [`Authorization`](super::Step::Authorization).
    fn prepare<'a>(
        &'a self,
        known: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>>;

    /// Whether the user may be asked for more scopes in the middle of a request, because the server says
    /// that it needs them (step-up). If not, the request fails and the tokens stay in use;
    /// [`OAuth::sign_in_for`](super::OAuth::sign_in_for) asks later.
    fn allows_step_up(&self, _scopes: &Scopes) -> bool {
        true
    }
}

/// One visit of the user to an authorization server. Made by [`Browser::prepare`]; it holds what
/// receives the redirect, such as an open port, until it is dropped.
pub trait BrowserVisit: Send {
    /// Where the authorization server sends the user back to.
    ///
    /// It is `https` or of this machine: anything else is refused. It must stay the same until
    /// [`ask`](Self::ask) returns.
    fn redirect_uri(&self) -> &str;

    /// Sends the user to the URL of the request, and returns the URL that they are sent back to, or
    /// its query. It is checked by the caller. Use [`AuthorizationRequest::is_answered_by`] to
    /// ignore requests that are not the answer. It is given ten minutes.
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
