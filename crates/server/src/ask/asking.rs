//! The asks of one call: what is known, what is open, and how the client is reached.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value, value::RawValue};
use turnbuckle_protocol::{InputRequest, InputRequiredResult, InputResponse, envelope::Members};
use turnbuckle_session::round::{
    AskError, Asked, Binding, Round, params_digest, seal::ParamsDigest,
};

use super::AskFailed;
use crate::{Call, Failure, Fault, Reject, peer::Peer, shared::Shared, task::Board};

/// How long a client may take before its retry is refused. A person may go and look something up;
/// a box that is stolen from a log should not open tomorrow.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_hours(1);

/// The asks of one call.
pub(crate) struct Asking {
    round: Mutex<Round>,
    memos: AtomicUsize,
    way: Way,
    /// Where questions are written down once the call is a task.
    pub(super) board: OnceLock<Arc<Board>>,
}

/// How the client is reached.
enum Way {
    /// By a reply that says what is missing, and a retry that brings it.
    Rounds(Return),
    /// By requests in the session.
    Requests(Arc<Peer>),
}

/// What the retry must be: the same request of the same caller.
struct Return {
    shared: Arc<Shared>,
    caller: Option<String>,
    method: &'static str,
    target: String,
    params: ParamsDigest,
}

impl Return {
    fn binding(&self) -> Binding<'_> {
        let binding = Binding::new(self.method)
            .with_target(&self.target)
            .with_params(self.params);
        match &self.caller {
            Some(caller) => binding.with_caller(caller),
            None => binding,
        }
    }
}

/// What a request brought of earlier rounds.
pub(crate) enum Rounds<'a> {
    /// Still in the message.
    Params(&'static str, &'a Members<'a>),
    /// Taken out of it.
    Taken(
        &'static str,
        ParamsDigest,
        Option<Box<RawValue>>,
        Option<String>,
    ),
}

impl Rounds<'_> {
    /// The method of the request.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Params(method, ..) | Self::Taken(method, ..) => method,
        }
    }

    pub(crate) fn into_owned(self) -> Rounds<'static> {
        let (method, digest, responses, state) = self.take();
        Rounds::Taken(
            method,
            digest,
            responses.map(Cow::into_owned),
            state.map(Cow::into_owned),
        )
    }

    fn take(
        &self,
    ) -> (
        &'static str,
        ParamsDigest,
        Option<Cow<'_, RawValue>>,
        Option<Cow<'_, str>>,
    ) {
        match self {
            Self::Params(method, params) => (
                method,
                params_digest(params),
                params.get("inputResponses").map(Cow::Borrowed),
                params.text("requestState"),
            ),
            Self::Taken(method, digest, responses, state) => (
                method,
                *digest,
                responses.as_deref().map(Cow::Borrowed),
                state.as_deref().map(Cow::Borrowed),
            ),
        }
    }
}

impl Asking {
    /// The asks of a call, begun by whoever extracts them first.
    pub(crate) fn of(call: &Call<'_>) -> Result<Arc<Self>, Failure> {
        if let Some(asking) = call.asking.get() {
            return Ok(Arc::clone(asking));
        }
        let asking = Arc::new(if call.revision.is_modern() {
            Self::in_rounds(call)?
        } else {
            Self::in_session(call)
        });
        if let Some(board) = call.board.as_ref().filter(|board| board.takes_questions()) {
            asking.on_task(board);
        }
        let asking = call.asking.get_or_init(|| asking);
        if let Some(slot) = &call.asking_slot {
            let _ = slot.set(Arc::clone(asking));
        }
        Ok(Arc::clone(asking))
    }

    fn in_session(call: &Call<'_>) -> Self {
        let capabilities = call.peer.client().unwrap_or_default().capabilities;
        Self {
            round: Mutex::new(Round::new(call.revision, capabilities)),
            memos: AtomicUsize::new(0),
            way: Way::Requests(Arc::clone(&call.peer)),
            board: OnceLock::new(),
        }
    }

    fn in_rounds(call: &Call<'_>) -> Result<Self, Failure> {
        let (method, params, responses, state) = call.rounds.take();
        // mrtr: nothing but these three MUST be answered with a question.
        if !matches!(method, "tools/call" | "prompts/get" | "resources/read") {
            let fault = Fault::new(format!("nothing can be asked in the middle of `{method}`"));
            return Err(Failure::Fault(fault));
        }
        let back = Return {
            shared: Arc::clone(&call.shared),
            caller: call.caller().id().map(str::to_owned),
            method,
            target: call.name().to_owned(),
            params,
        };
        let capabilities = call
            .request_meta()
            .client_capabilities
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        let mut round = match state {
            None => Round::new(call.revision, capabilities),
            Some(state) => {
                let opened = call.shared.keys.open(&state, &back.binding(), now());
                let opened = opened.map_err(|bad| {
                    // The log may know what was wrong with it; the client may not.
                    tracing::warn!(%bad, "a requestState was refused");
                    Failure::Reject(Reject::of(bad.to_error()))
                })?;
                Round::resume(call.revision, capabilities, opened.journal)
            }
        };
        if let Some(responses) = responses {
            let responses: Map<String, Value> = serde_json::from_str(responses.get())
                .map_err(|_| Reject::invalid_params("`params.inputResponses` must be an object"))?;
            round
                .merge(responses)
                .map_err(|bad| Failure::Reject(Reject::of(bad.to_error())))?;
        }
        Ok(Self {
            round: Mutex::new(round),
            memos: AtomicUsize::new(0),
            way: Way::Rounds(back),
            board: OnceLock::new(),
        })
    }

    pub(super) fn round(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks, and waits for the answer: in a session until the client has given it, in rounds for
    /// ever, because a round with an open ask is dropped.
    pub(super) async fn ask(
        &self,
        key: &str,
        request: InputRequest,
    ) -> Result<InputResponse, AskFailed> {
        loop {
            match self.round().ask(key, request.clone())? {
                Asked::Answered(response) => return Ok(response),
                Asked::Impossible(impossible) => return Err(AskFailed::Impossible(impossible)),
                Asked::Open => {}
            }
            if let Some(board) = self.board.get() {
                board.answer(key, || self.is_answered(key)).await?;
                continue;
            }
            match &self.way {
                Way::Rounds(_) => std::future::pending().await,
                Way::Requests(peer) => self.send(peer, key).await?,
            }
        }
    }

    async fn send(&self, peer: &Arc<Peer>, key: &str) -> Result<(), AskFailed> {
        let Some(question) = self.round().open().get(key).cloned() else {
            return Ok(());
        };
        match peer.request(&question).await {
            Some(Ok(result)) => {
                self.round()
                    .merge([(key, result)])
                    .map_err(AskError::from)?;
                Ok(())
            }
            Some(Err(error)) => {
                self.round().withdraw(key);
                let (code, message) = (error.code, error.message);
                Err(AskFailed::Refused {
                    key: key.to_owned(),
                    code,
                    message,
                })
            }
            None => Err(AskFailed::Gone {
                key: key.to_owned(),
            }),
        }
    }

    /// Something that must not be dropped has begun.
    pub(super) fn begin_memo(self: &Arc<Self>) -> MemoRunning {
        self.memos.fetch_add(1, Ordering::AcqRel);
        MemoRunning(Arc::clone(self))
    }

    /// What to reply, if the handler waits for nothing but answers.
    pub(crate) fn pause(&self) -> Option<Result<InputRequiredResult, Fault>> {
        let (Way::Rounds(back), None) = (&self.way, self.board.get()) else {
            return None;
        };
        if self.memos.load(Ordering::Acquire) > 0 {
            return None;
        }
        let pause = self.round().pause()?;
        let mut nonce = [0; 24];
        if let Err(error) = getrandom::fill(&mut nonce) {
            return Some(Err(Fault::new(format!(
                "there is no randomness to seal with: {error}"
            ))));
        }
        let expires = now() + ANSWER_WITHIN.as_secs();
        Some(Ok(pause.seal(
            &back.shared.keys,
            &back.binding(),
            expires,
            nonce,
        )))
    }
}

/// Keeps the handler from being dropped for as long as it lives.
pub(super) struct MemoRunning(Arc<Asking>);

impl Drop for MemoRunning {
    fn drop(&mut self) {
        self.0.memos.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Where the driver of a call finds its asks, if there come to be any.
pub(crate) enum AskSlot {
    Now(Option<Arc<Asking>>),
    Later(Arc<OnceLock<Arc<Asking>>>),
}

impl AskSlot {
    pub(crate) fn get(&self) -> Option<&Arc<Asking>> {
        match self {
            Self::Now(asking) => asking.as_ref(),
            Self::Later(slot) => slot.get(),
        }
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
