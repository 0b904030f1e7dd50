//! The user's part of a flow: their browser goes to the authorization server and is redirected back.
//!
//! [`Loopback`] opens the browser of this machine and waits at a local port. [`Paste`] prints the
//! URL and lets the user paste the response, for machines without a browser. Implement [`Browser`]
//! for other ways.

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
/// Use [`Loopback`] or [`Paste`], or write your own implementation for an application with its own
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
    /// Gets ready to receive a response, for example by opening a port, and returns the
    /// [`BrowserVisit`]. It is called before each authorization request, because the request
    /// contains the redirect URI.
    ///
    /// `known` are the redirect URIs that the client is already registered with; using one of them
    /// avoids another registration.
    ///
    /// # Errors
    /// Any error if no response could be received. The flow ends with an
    /// [`AuthError`](super::AuthError) at the step [`Authorization`](super::Step::Authorization).
    fn prepare<'a>(
        &'a self,
        known: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>>;

    /// Whether the user may be asked for more scopes in the middle of a request, because the server
    /// requires them (step-up). If this returns false, the request fails and the tokens stay in
    /// use; [`OAuth::sign_in_for`](super::OAuth::sign_in_for) asks for the scopes later.
    fn allows_step_up(&self, _scopes: &Scopes) -> bool {
        true
    }
}

/// One visit of the user to an authorization server, made by [`Browser::prepare`]. Until it is
/// dropped, it holds what receives the redirect, such as an open port.
pub trait BrowserVisit: Send {
    /// The redirect URI: where the authorization server sends the user back to.
    ///
    /// It must be `https` or on this machine; anything else is refused. It must stay the same until
    /// [`ask`](Self::ask) returns.
    fn redirect_uri(&self) -> &str;

    /// Sends the user to the URL of the request, and returns the URL that they are redirected to,
    /// or its query. The caller checks it. Use [`AuthorizationRequest::is_answered_by`] to ignore
    /// requests that are not the response. The visit may take ten minutes.
    ///
    /// # Errors
    /// Any error if the user cannot be sent there, or does not come back.
    ///
    /// # Cancel safety
    /// Dropping the future ends the visit.
    fn ask(
        self: Box<Self>,
        request: &AuthorizationRequest,
    ) -> BoxFuture<'_, Result<Secret, BoxError>>;
}
