//! The state of the questions of one call.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    task::{Context, Waker},
};

use futures_core::future::BoxFuture;
use serde_json::value::RawValue;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::{InputResponse, Revision, error::code};
use turnbuckle_session::round::{
    AskError, AskOutcome, Declared, Fingerprint, Impossible, Journal, Paused, QuestionDraft, Round,
};

use super::{AskContext, request_state::Return, rounds::Rounds};
use crate::{
    Failure, Fault, Reject,
    client::{OnProgress, Peer, ask_by_task},
    failure::AskFailed,
    handler::TaskChannel,
};

/// The questions of one call.
pub(crate) struct Asking {
    pub(super) state: Mutex<AskState>,
    pub(super) way: Way,
    /// Where questions are stored once the call is a task.
    pub(super) task: OnceLock<Arc<TaskChannel>>,
    /// Whether questions in a session are sent as tasks, if the client supports that.
    pub(super) asks_by_tasks: bool,
}

/// The state of the questions of one call.
pub(super) struct AskState {
    pub(super) round: Round,
    /// The number of futures that wait for the answer to each open question.
    waiting: BTreeMap<String, usize>,
    /// The listeners for the client's progress with open questions.
    listeners: BTreeMap<String, OnProgress>,
    /// The keys of URLs that the user has to visit before the call.
    pub(super) visits: Vec<String>,
    /// The number of running effects, which must not be dropped.
    memos: usize,
    /// The failure that ends the call, whatever the handler returns.
    ended: Option<Failure>,
    /// The waker of the call, for questions that are asked from another task.
    driver: Option<Waker>,
    /// The check that must pass before the handler runs.
    admission: Option<BoxFuture<'static, Result<(), Failure>>>,
}

impl AskState {
    pub(super) fn new(
        round: Round,
        admission: Option<BoxFuture<'static, Result<(), Failure>>>,
    ) -> Mutex<Self> {
        Mutex::new(Self {
            round,
            waiting: BTreeMap::new(),
            listeners: BTreeMap::new(),
            visits: Vec::new(),
            memos: 0,
            ended: None,
            driver: None,
            admission,
        })
    }

    pub(super) fn has_memo_running(&self) -> bool {
        self.memos > 0
    }

    pub(super) fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}

/// The status of a question.
pub(super) enum QuestionStatus {
    /// The question has been answered.
    Answered(InputResponse),
    /// The client does not support the question.
    Impossible(Impossible),
    /// The answer does not match the question, or the question is invalid.
    Wrong(AskFailed),
    /// The question has to be sent first. Call [`Asking::ask`] again when this future has
    /// completed.
    Send(BoxFuture<'static, Result<(), AskFailed>>),
    /// The answer arrives in a later round.
    Open,
    /// The call has ended.
    Ended,
}

/// How the client gets its questions.
pub(super) enum Way {
    /// In the result of its request; the answers arrive when it sends the request again.
    Rounds(Return),
    /// By requests in the session.
    Requests(Arc<Peer>),
    /// Not at all: a test supplied all answers.
    Scripted,
}

impl Asking {
    /// Creates the questions of a call in a session, which are sent as requests.
    pub(crate) fn in_session(peer: &Arc<Peer>, revision: Revision, asks_by_tasks: bool) -> Self {
        let capabilities = peer.client().unwrap_or_default().capabilities;
        Self {
            state: AskState::new(Round::new(revision, capabilities), None),
            way: Way::Requests(Arc::clone(peer)),
            task: OnceLock::new(),
            asks_by_tasks,
        }
    }

    /// Creates the questions of a call that continues a task of another replica, from its journal.
    pub(crate) fn of_task(
        peer: &Arc<Peer>,
        revision: Revision,
        capabilities: Declared,
        journal: Journal,
    ) -> Self {
        Self {
            state: AskState::new(Round::resume(revision, capabilities, journal), None),
            way: Way::Requests(Arc::clone(peer)),
            task: OnceLock::new(),
            asks_by_tasks: false,
        }
    }

    /// Creates the questions of a call that runs again with each round of answers.
    pub(crate) fn in_rounds(
        context: &Arc<AskContext>,
        peer: &Peer,
        revision: Revision,
        capabilities: Declared,
        rounds: &Rounds<'_>,
    ) -> Result<Self, Failure> {
        let (method, request, responses, state) = rounds.take();
        // mrtr: questions MUST NOT be the answer to any other method than these three.
        if !matches!(method, "tools/call" | "prompts/get" | "resources/read") {
            let fault = Fault::new(format!(
                "a handler of `{method}` cannot ask the client; only those of tools, prompts and \
                 resources can"
            ));
            return Err(Failure::Fault(fault));
        }
        let back = Return {
            context: Arc::clone(context),
            caller: peer.caller().id().map(str::to_owned),
            payer: peer.quota_key(),
            request,
        };
        // An answer without a state may belong to a question that was never asked, was asked long
        // ago, or was asked of another user. If the server requires states, such an answer is not
        // accepted and the question is asked again.
        let is_taken = state.is_some() || !context.settings.needs_state;
        let mut admission = None;
        let mut round = match state {
            None => Round::new(revision, capabilities),
            Some(state) => {
                let opened = back.open(&state)?;
                admission = back.admission(&opened);
                Round::resume(revision, capabilities, opened.journal)
            }
        };
        let responses = responses.as_deref().map(read_responses).transpose()?;
        if let Some(responses) = responses.filter(|_| is_taken) {
            let merged = round.merge(responses);
            merged.map_err(|bad| Failure::Reject(Reject::of(bad.to_error())))?;
        }
        Ok(Self {
            state: AskState::new(round, admission),
            way: Way::Rounds(back),
            task: OnceLock::new(),
            asks_by_tasks: false,
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, AskState> {
        self.state.lock()
    }

    /// Asks a question, or returns the status of a question that was asked before. A new open
    /// question is counted until its future calls [`leave`](Self::leave).
    pub(super) fn ask(
        self: &Arc<Self>,
        key: &str,
        question: &QuestionDraft,
        fingerprint: Fingerprint,
        is_new: bool,
    ) -> QuestionStatus {
        let mut state = self.state();
        if state.ended.is_some() {
            return QuestionStatus::Ended;
        }
        match state.round.ask_as(key, question, fingerprint) {
            Ok(AskOutcome::Answered(response)) => QuestionStatus::Answered(response),
            Ok(AskOutcome::Impossible(impossible)) => QuestionStatus::Impossible(impossible),
            Ok(AskOutcome::Open) => {
                if is_new {
                    *state.waiting.entry(key.to_owned()).or_default() += 1;
                }
                let asking = Arc::clone(self);
                match (&self.way, self.task.get()) {
                    (_, Some(task)) => {
                        state.wake_driver();
                        let (task, key) = (Arc::clone(task), key.to_owned());
                        QuestionStatus::Send(Box::pin(async move {
                            task.answer(&key, || asking.is_answered(&key)).await
                        }))
                    }
                    (Way::Rounds(_), None) => {
                        state.wake_driver();
                        QuestionStatus::Open
                    }
                    (Way::Scripted, None) => QuestionStatus::Wrong(AskFailed::Refused {
                        key: key.to_owned(),
                        code: code::INTERNAL_ERROR,
                        message: "no scripted answer has this key".to_owned(),
                    }),
                    (Way::Requests(peer), None) => QuestionStatus::Send(Box::pin(
                        asking.send(Arc::clone(peer), key.to_owned()),
                    )),
                }
            }
            Err(error) => self.wrong(&mut state, error),
        }
    }

    /// An invalid question ends the call, so that no handler can ignore it. An invalid answer also
    /// ends the call if the client sent it with its request.
    fn wrong(&self, state: &mut AskState, error: AskError) -> QuestionStatus {
        state.ended = Some(match (error, &self.way) {
            (AskError::BadAnswer(bad), Way::Requests(_) | Way::Scripted) => {
                return QuestionStatus::Wrong(AskFailed::Wrong(bad.into()));
            }
            // mrtr: servers answer a malformed response with a JSON-RPC error.
            (AskError::BadAnswer(bad), Way::Rounds(_)) => {
                Failure::Reject(Reject::of(bad.to_error()))
            }
            // A handler that a test calls as a function has no driver, so it gets the error at
            // once.
            (error, Way::Scripted) => return QuestionStatus::Wrong(AskFailed::Wrong(error)),
            (error, _) => Failure::Fault(Fault::new(error)),
        });
        state.wake_driver();
        QuestionStatus::Ended
    }

    /// Notes that one future less waits for the answer. A question for which no future waits is
    /// withdrawn.
    pub(super) fn leave(&self, key: &str) {
        let mut state = self.state();
        let Some(waiting) = state.waiting.get_mut(key) else {
            return;
        };
        *waiting -= 1;
        if *waiting == 0 {
            state.waiting.remove(key);
            state.round.withdraw(key);
        }
    }

    /// Sets the listener for the client's progress with a question.
    pub(super) fn hear_progress(&self, key: &str, listener: OnProgress) {
        self.state().listeners.insert(key.to_owned(), listener);
    }

    async fn send(self: Arc<Self>, peer: Arc<Peer>, key: String) -> Result<(), AskFailed> {
        let (question, progress) = {
            let mut state = self.state();
            (state.round.open().get(&key), state.listeners.remove(&key))
        };
        let Some(question) = question else {
            return Ok(());
        };
        let answered = if self.asks_by_tasks {
            ask_by_task::request(&peer, &question, progress).await
        } else {
            peer.request(&question, progress).await
        };
        match answered {
            Some(Ok(result)) => {
                let merged = self.state().round.merge([(&key, result)]);
                merged.map_err(|bad| AskFailed::Wrong(bad.into()))
            }
            Some(Err(error)) => Err(AskFailed::Refused {
                key,
                code: error.code,
                message: error.message,
            }),
            None => Err(match peer.ended_because() {
                Some(reason) => AskFailed::NotHeard {
                    key,
                    reason: reason.to_owned(),
                },
                None => AskFailed::Gone { key },
            }),
        }
    }

    /// Notes that an effect has begun, which must not be dropped.
    pub(super) fn begin_memo(self: &Arc<Self>) -> MemoRunning {
        self.state().memos += 1;
        MemoRunning(Arc::clone(self))
    }

    /// Returns the end of the call, if the handler waits only for answers or an error ended it.
    /// Otherwise the driver is woken when that changes.
    pub(crate) fn ending(&self, context: &Context<'_>) -> Option<Result<Paused, Failure>> {
        let mut state = self.state();
        if let Some(failure) = state.ended.take() {
            return Some(Err(failure));
        }
        if state.memos == 0
            && !state.visits.is_empty()
            && let Some(failure) = self.visits_first(&state)
        {
            return Some(Err(failure));
        }
        if let (Way::Rounds(back), None) = (&self.way, self.task.get())
            && state.memos == 0
            && let Some(pause) = state.round.pause()
        {
            drop(state);
            return Some(back.seal(pause).map_err(Failure::Fault));
        }
        state.driver = Some(context.waker().clone());
        None
    }

    /// Takes the check that must pass before the handler runs.
    pub(crate) fn admission(&self) -> Option<BoxFuture<'static, Result<(), Failure>>> {
        self.state().admission.take()
    }

    /// Takes the failure that ends the call even if the handler returned a result.
    pub(crate) fn failure(&self) -> Option<Failure> {
        self.state().ended.take()
    }
}

/// Parses the answers in a request, but not their values.
fn read_responses(text: &str) -> Result<BTreeMap<Cow<'_, str>, &RawValue>, Reject> {
    serde_json::from_str(text)
        .map_err(|_| Reject::invalid_params("`params.inputResponses` must be an object"))
}

/// Prevents that the handler is dropped while this exists.
pub(super) struct MemoRunning(Arc<Asking>);

impl Drop for MemoRunning {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.memos -= 1;
        state.wake_driver();
    }
}
