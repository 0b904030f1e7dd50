//! The tokens for one server, which are replaced when they are refused or expire.

use std::fmt;
use std::sync::Arc;

use tokio::sync::{OnceCell, watch};
use tokio::task::AbortHandle;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::client::{Address, HeaderMap, HeaderValue};

use super::challenge::Wanted;
use super::clock::Timestamp;
use super::engine::Engine;
use super::obtain::Cause;
use super::settings::{Grant, Settings};
use super::tokens::{TokenState, Tokens};
use super::{AuthError, Problem, Step};

/// The tokens for one server. Dropping it ends a sign-in that is in progress.
pub(crate) struct Session {
    pub(crate) engine: Arc<Engine>,
    state: Arc<Mutex<SessionState>>,
    running: Mutex<Option<Running>>,
    loaded: OnceCell<()>,
}

#[derive(Default)]
struct SessionState {
    current: Option<Current>,
    /// The content of the last refusal, needed if tokens expire before the next refusal.
    wanted: Wanted,
}

/// Tokens in use.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) header: HeaderValue,
    pub(crate) state: TokenState,
}

/// Receives the outcome of an attempt to get tokens.
type Attempt = watch::Receiver<Option<Result<(), AuthError>>>;

/// An attempt to get tokens that is in progress.
struct Running {
    outcome: Attempt,
    task: AbortHandle,
}

impl Session {
    pub(crate) fn new(settings: Arc<Settings>, server: Address) -> Self {
        Self {
            engine: Arc::new(Engine::new(settings, server)),
            state: Arc::default(),
            running: Mutex::new(None),
            loaded: OnceCell::new(),
        }
    }

    /// The tokens that are usable now, without waiting.
    pub(crate) fn usable(&self) -> Option<Current> {
        let state = self.state.lock();
        let current = state.current.as_ref()?;
        current.is_usable_now().then(|| current.clone())
    }

    pub(crate) fn current(&self) -> Option<Current> {
        self.state.lock().current.clone()
    }

    /// The tokens to use, after loading stored ones and renewing those that expire.
    pub(crate) async fn ready(&self) -> Option<Current> {
        self.load().await;
        if let Some(current) = self.current()
            && !current.is_usable(Timestamp::now())
            && self.is_renewable(&current.tokens)
        {
            let wanted = self.state.lock().wanted.clone();
            let got = self.get(Cause::Expired, wanted, Some(&current)).await;
            if let Err(error) = got {
                // Send the request without them; the server's refusal then says what it requires.
                tracing::debug!(server = %self.engine.server, %error, "tokens were not renewed");
                self.state.lock().current = None;
            }
        }
        self.usable()
    }

    fn is_renewable(&self, tokens: &Tokens) -> bool {
        tokens.refresh.is_some() || !matches!(self.engine.settings.grant, Grant::Code)
    }

    /// Loads tokens of an earlier run, once.
    pub(crate) async fn load(&self) {
        let load = async {
            let Some((tokens, wanted)) = self.engine.kept_last().await else {
                return;
            };
            let Ok(current) = Current::new(tokens, TokenState::Tried) else {
                return;
            };
            let mut state = self.state.lock();
            state.wanted = wanted;
            state.current.get_or_insert(current);
        };
        self.loaded.get_or_init(|| load).await;
    }

    /// Records that the server has accepted a request.
    pub(crate) fn succeeded(&self) {
        if let Some(current) = &mut self.state.lock().current {
            current.state = TokenState::Tried;
        }
    }

    /// Drops useless tokens, in memory and in the store.
    pub(crate) async fn drop_tokens(&self) -> Option<Arc<Tokens>> {
        let current = self.state.lock().current.take()?;
        self.engine.forget(&current.tokens).await;
        Some(current.tokens)
    }

    /// Gets tokens to replace those that the caller has `seen`. Concurrent calls share one attempt.
    /// A later call finds other tokens than it has seen, and starts no attempt. The attempt runs in
    /// its own task, so dropping a call does not end the user's sign-in.
    pub(crate) async fn get(
        &self,
        cause: Cause,
        wanted: Wanted,
        seen: Option<&Current>,
    ) -> Result<(), AuthError> {
        let Some(mut outcome) = self.join(cause, wanted, seen) else {
            return Ok(());
        };
        let done = outcome.wait_for(Option::is_some).await;
        if let Ok(Some(outcome)) = done.as_deref() {
            return outcome.clone();
        }
        let problem = Problem::Unanswered("the sign-in was ended".to_owned());
        Err(AuthError::new(Step::Authorization, problem).at(&self.engine.server))
    }

    /// Joins the running attempt, or starts a new one. `None` if there are already other tokens
    /// than `seen`.
    fn join(&self, cause: Cause, wanted: Wanted, seen: Option<&Current>) -> Option<Attempt> {
        let mut running = self.running.lock();
        // An attempt that has its outcome is over, even if its task has not ended yet. Joining it
        // would return the refused tokens to a refusal that came later.
        if let Some(running) = &*running
            && running.outcome.borrow().is_none()
            && !running.task.is_finished()
        {
            return Some(running.outcome.clone());
        }
        // An attempt stores its tokens before its outcome. So an attempt that ended after the
        // caller looked is noticed here, under the lock that also starts the next one.
        let current = self.current();
        if let Some(current) = &current
            && seen.is_none_or(|seen| !Arc::ptr_eq(&seen.tokens, &current.tokens))
        {
            return None;
        }
        let (done, outcome) = watch::channel(None);
        let (engine, state) = (self.engine.clone(), self.state.clone());
        let old = current.map(|current| current.tokens);
        let task = tokio::spawn(async move {
            let got = engine.obtain(cause, &wanted, old.as_deref()).await;
            let current = got.and_then(|(tokens, state)| Current::new(tokens, state));
            let outcome = current.map(|current| {
                let mut state = state.lock();
                state.current = Some(current);
                state.wanted = Wanted {
                    // The scopes of a step-up concern only the refused request.
                    scope: None,
                    error: None,
                    ..wanted
                };
            });
            done.send_replace(Some(outcome));
        });
        *running = Some(Running {
            outcome: outcome.clone(),
            task: task.abort_handle(),
        });
        Some(outcome)
    }
}

impl Current {
    fn new(tokens: Tokens, state: TokenState) -> Result<Self, AuthError> {
        Ok(Self {
            header: tokens.header()?,
            tokens: Arc::new(tokens),
            state,
        })
    }

    /// Tokens that were just granted are used once even if they expire soon: new ones would not
    /// live longer.
    fn is_usable(&self, now: Timestamp) -> bool {
        self.state != TokenState::Tried || !self.tokens.is_expired(now)
    }

    pub(crate) fn is_usable_now(&self) -> bool {
        self.is_usable(Timestamp::now())
    }

    pub(crate) fn were_sent(&self, sent: &HeaderMap) -> bool {
        self.tokens.were_sent(sent)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(running) = &*self.running.lock() {
            running.task.abort();
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("server", &self.engine.server)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    fn tokens(access: &str) -> Current {
        let kept = format!(
            r#"{{"access_token": "{access}", "requested": "", "issuer": "http://127.0.0.1:1"}}"#
        );
        let tokens = Tokens::from_secret(&Secret::new(kept)).expect("tokens as they are kept");
        Current::new(tokens, TokenState::Tried).expect("a token that fits a header")
    }

    /// A session with an unreachable server, so that every attempt to get tokens fails.
    fn session(current: Option<Current>) -> Session {
        let server = Address::parse("http://127.0.0.1:1/mcp").expect("an address");
        let session = Session::new(Arc::new(Settings::new("test".to_owned())), server);
        session.state.lock().current = current;
        session
    }

    #[tokio::test]
    async fn tokens_that_came_after_a_look_are_not_replaced() {
        let wanted = Wanted::default;
        let (old, new) = (tokens("old"), tokens("new"));
        let renewed = session(Some(new.clone()));
        for seen in [Some(&old), None] {
            let got = renewed.get(Cause::Refused, wanted(), seen).await;
            assert!(got.is_ok(), "{got:?}");
        }
        let again = renewed.get(Cause::Refused, wanted(), Some(&new)).await;
        assert!(
            again.is_err(),
            "tokens that were refused have to be replaced"
        );
        let dropped = session(None);
        let got = dropped.get(Cause::Refused, wanted(), Some(&old)).await;
        assert!(got.is_err(), "tokens that are gone have to be replaced");
    }
}
