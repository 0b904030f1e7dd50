//! `requestState`: the encrypted journal of a call between two rounds.

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use futures_core::future::BoxFuture;
use turnbuckle_base::wall_clock;
use turnbuckle_protocol::error::code;
use turnbuckle_session::round::{
    BadState, Binding, Opened, Pause, Paused, RequestDigest, seal::NONCE_BYTES,
};
use turnbuckle_store::{StateClaim, StateUse};

use super::AskContext;
use crate::{Failure, Fault, Reject, quota::CallerKey};

/// The request and the caller to which a `requestState` is bound.
pub(super) struct Return {
    pub(super) context: Arc<AskContext>,
    pub(super) caller: Option<String>,
    /// The caller whose quota the states count against.
    pub(super) payer: CallerKey,
    pub(super) request: RequestDigest,
}

impl Return {
    fn binding(&self) -> Binding<'_> {
        let binding = Binding::new(self.request);
        match &self.caller {
            Some(caller) => binding.with_caller(caller),
            None => binding,
        }
    }

    /// Decrypts the state that the client sent.
    pub(super) fn open(&self, state: &str) -> Result<Opened, Failure> {
        let opened = if state.len() > self.context.settings.max_state_bytes {
            Err(BadState::TooLarge(state.len()))
        } else {
            self.context.keys().open(state, &self.binding(), now())
        };
        opened.map_err(|bad| refused(&bad))
    }

    /// Encrypts the journal into the result that asks the open questions.
    pub(super) fn seal(&self, pause: Pause) -> Result<Paused, Fault> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|error| {
            Fault::new(format!(
                "could not get random bytes from the operating system: {error}"
            ))
        })?;
        let settings = &self.context.settings;
        let expires = now().saturating_add(millis(settings.answer_within));
        let result = pause.seal(&self.context.keys(), &self.binding(), expires, nonce);
        let bytes = result.request_state.len();
        if bytes > settings.max_state_bytes {
            return Err(Fault::new(TooLarge {
                bytes,
                limit: settings.max_state_bytes,
            }));
        }
        Ok(result)
    }

    /// Returns the check that must pass before a retry with this state is served, if states can be
    /// used only once.
    pub(super) fn admission(
        &self,
        state: &Opened,
    ) -> Option<BoxFuture<'static, Result<(), Failure>>> {
        let used_states = Arc::clone(self.context.settings.used_states.as_ref()?);
        let (id, expires, owner) = (state.id, state.expires, self.payer.number());
        Some(Box::pin(async move {
            // The state stays recorded during the second in which it expires.
            let until = (expires / 1000).saturating_add(1);
            let used = StateUse::new(id.as_bytes(), owner, until, now() / 1000);
            match used_states.claim(used).await {
                Ok(StateClaim::FirstUse) => Ok(()),
                Ok(StateClaim::AlreadyUsed) => Err(refused(&BadState::Spent)),
                Ok(StateClaim::TooMany { limit }) => Err(Failure::Reject(too_many(limit))),
                Err(error) => Err(Failure::Reject(Fault::new(error).into_unavailable())),
            }
        }))
    }
}

fn too_many(limit: usize) -> Reject {
    let message = format!(
        "limit ({limit}) of used request states for this caller reached: wait until some expire, \
         or raise `MemoryUsedStates::with_limit_per_owner`"
    );
    Reject::new(code::TOO_MANY_REQUESTS, message)
}

/// The log says what is wrong with a state; the client does not learn it.
fn refused(bad: &BadState) -> Failure {
    tracing::warn!(%bad, "a requestState was refused");
    Failure::Reject(Reject::of(bad.to_error()))
}

/// The journal of a call is larger than the `requestState` may be.
#[derive(Debug, thiserror::Error)]
#[error(
    "what the call must remember takes {bytes} bytes of `requestState`, more than the {limit} allowed: \
     store the data elsewhere and keep only its id in the memo, or raise `Server::max_state`"
)]
struct TooLarge {
    bytes: usize,
    limit: usize,
}

/// Milliseconds since 1970.
fn now() -> u64 {
    wall_clock::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, millis)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::{ClientCapabilities, InputRequest, RequestParams, Revision};
    use turnbuckle_session::round::{KeyRing, Round};

    use super::*;
    use crate::handler::ask::AskSettings;

    fn pause() -> Pause {
        let client = ClientCapabilities::new().with_roots();
        let mut round = Round::new(Revision::LATEST, client);
        let roots = InputRequest::ListRoots(RequestParams::default());
        round.ask("roots", &roots).unwrap();
        round.pause().unwrap()
    }

    fn back(settings: AskSettings) -> Return {
        let keys = KeyRing::from_secret(&[7; 32]).unwrap();
        Return {
            context: Arc::new(AskContext::new(settings, keys)),
            caller: None,
            payer: CallerKey::digest("ada"),
            request: RequestDigest::named("tools/call", "book"),
        }
    }

    #[test]
    fn a_state_opens_for_as_long_as_was_set_and_no_longer() {
        let back = back(AskSettings {
            answer_within: Duration::from_millis(120_500),
            ..AskSettings::default()
        });
        let before = now();
        let state = back.seal(pause()).unwrap().request_state;
        let open = |now| back.context.keys().open(&state, &back.binding(), now);
        assert!(back.open(&state).is_ok());
        assert!(open(before + 120_500).is_ok());
        // A little time may have passed since.
        let late = now() + 120_501;
        assert!(matches!(open(late), Err(BadState::Expired { .. })));
    }
}
