//! Servers that callers reach with their own credentials.

use futures_core::future::BoxFuture;
use tokio::sync::watch;
use turnbuckle_host::ServerSpec;
use turnbuckle_server::Caller;

/// Finds the credentials of each caller for one server. The gateway never uses the credentials of
/// one caller for another.
pub trait CallerAccess: Send + Sync + 'static {
    /// Returns the server with the caller's own credentials, or `None` if the caller has no credentials.
    fn server_for<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>>;

    /// Whether this request of the caller contains what [`server_for`](Self::server_for) needs. If
    /// it returns false, the gateway does not call `server_for` for this request, and asks again
    /// with the next one.
    fn can_look_up(&self, _caller: &Caller) -> bool {
        true
    }

    /// Called for each request of the caller, which may carry newer credentials than earlier ones.
    fn note(&self, _caller: &Caller) {}

    /// Whether a caller without credentials can [sign in](Self::sign_in). If so, the caller is
    /// offered a tool for this. Defaults to true.
    fn has_sign_in(&self) -> bool {
        true
    }

    /// Whether the caller should [sign in](Self::sign_in) again although it has the server, because
    /// the server requires more than its credentials allow. The caller is then offered the tool for
    /// signing in. Defaults to false.
    fn wants_more(&self, _caller: &Caller) -> bool {
        false
    }

    /// A number that changes whenever the caller's credentials change other than by renewal: when
    /// it has signed in for more scopes, or has signed out. After a change the next request calls
    /// [`server_for`](Self::server_for) again, and restarts the server. If `server_for` returns
    /// `None`, the caller's sessions with the server end.
    fn credentials(&self, _caller: &Caller) -> u64 {
        0
    }

    /// Starts a sign-in of the caller, or returns the one that is in progress.
    fn sign_in<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>>;
}

/// A sign-in that is in progress.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SignIn {
    /// The URL that the user has to visit.
    pub url: String,
    /// The progress of the sign-in.
    pub state: watch::Receiver<SignInState>,
}

/// The progress of a sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignInState {
    /// The user has not confirmed it yet.
    #[default]
    Waiting,
    /// The user has confirmed it, and the credentials are being fetched.
    Confirmed,
    /// The sign-in has ended. The error says why the caller has no credentials.
    Ended(Result<(), String>),
}

impl SignIn {
    /// Makes a sign-in at this URL, whose progress is reported by `state`.
    pub fn new(url: impl Into<String>, state: watch::Receiver<SignInState>) -> Self {
        Self {
            url: url.into(),
            state,
        }
    }

    /// Whether the user still has to visit the URL.
    pub(super) fn needs_user(&self) -> bool {
        *self.state.borrow() == SignInState::Waiting
    }

    /// Waits for the end of the sign-in.
    pub(super) async fn ended(&mut self) -> Result<(), String> {
        let is_ended = |state: &SignInState| matches!(state, SignInState::Ended(_));
        let state = self.state.wait_for(is_ended).await;
        match state.as_deref() {
            Ok(SignInState::Ended(end)) => end.clone(),
            _ => Err("the sign-in was abandoned".to_owned()),
        }
    }
}
