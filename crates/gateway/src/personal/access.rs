//! Servers that callers reach with their own credentials.

use futures_core::future::BoxFuture;
use tokio::sync::watch;
use turnbuckle_host::ServerSpec;
use turnbuckle_server::Caller;

/// Credentials of each caller for one server. Credentials of one caller are never used for another.
pub trait CallerAccess: Send + Sync + 'static {
    /// The server with the caller's own credentials; `None` if the caller has none.
    fn server_for<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>>;

    /// Whether this request of the caller has what [`server_for`](Self::server_for) needs. If not, this
    /// request is ignored, and the next one is tried.
    fn can_look_up(&self, _caller: &Caller) -> bool {
        true
    }

    /// A request of the caller came, with credentials that may be newer than those before.
    fn note(&self, _caller: &Caller) {}

    /// Whether a caller without credentials can [sign in](Self::sign_in): then it is offered a tool for
    /// that.
    fn has_sign_in(&self) -> bool {
        true
    }

    /// Whether the caller should [sign in](Self::sign_in) although it has the server, because the server
    /// wants more than its credentials allow. It is then offered the tool for that as well.
    fn wants_more(&self, _caller: &Caller) -> bool {
        false
    }

    /// A number that changes with the credentials of the caller, other than by renewing them: when
    /// it has signed in for more, or has signed out. The next request then calls
    /// [`server_for`](Self::server_for) again, and starts the server again. If that returns `None`,
    /// the sessions of the caller with the server end.
    fn credentials(&self, _caller: &Caller) -> u64 {
        0
    }

    /// Starts a sign-in of the caller, or returns the one under way.
    fn sign_in<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>>;
}

/// A sign-in under way.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SignIn {
    /// Where the user goes.
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
    /// A sign-in at this URL, whose progress `state` reports.
    pub fn new(url: impl Into<String>, state: watch::Receiver<SignInState>) -> Self {
        Self {
            url: url.into(),
            state,
        }
    }

    /// Whether the user still has to go there.
    pub(super) fn needs_user(&self) -> bool {
        *self.state.borrow() == SignInState::Waiting
    }

    /// Waits for its end.
    pub(super) async fn ended(&mut self) -> Result<(), String> {
        let is_ended = |state: &SignInState| matches!(state, SignInState::Ended(_));
        let state = self.state.wait_for(is_ended).await;
        match state.as_deref() {
            Ok(SignInState::Ended(end)) => end.clone(),
            _ => Err("the sign-in was given up".to_owned()),
        }
    }
}
