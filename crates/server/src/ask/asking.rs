//! The asks of one call: what is known, what is open, and how the client is reached.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Context, Waker},
};

use serde_json::value::RawValue;
use turnbuckle_protocol::{ClientCapabilities, InputResponse};
use turnbuckle_session::round::{
    AskError, Asked, Declared, Fingerprint, Impossible, Paused, Posed, Round,
};

use super::{AskFailed, request_state::Return};
use crate::{
    BoxFuture, Call, Failure, Fault, Reject,
    peer::Peer,
    task::{self, Board},
};

/// The asks of one call.
pub(crate) struct Asking {
    books: Mutex<Books>,
    pub(super) way: Way,
    /// Where questions are written down once the call is a task.
    pub(super) board: OnceLock<Arc<Board>>,
    /// Whether a session is asked by tasks of its own, where it has them.
    asks_by_tasks: bool,
}

/// What is known of the asks of one call.
pub(super) struct Books {
    pub(super) round: Round,
    /// How many wait for the answer to each open question.
    waiting: BTreeMap<String, usize>,
    /// Visits that are to be made before the call.
    pub(super) visits: Vec<String>,
    /// How many effects run that must not be dropped.
    memos: usize,
    /// What the call ends with, whatever its handler makes of it.
    ended: Option<Failure>,
    /// Who drives the call, and has to look again when a question is asked from another task.
    driver: Option<Waker>,
    /// What has to be found out before the handler runs.
    admission: Option<BoxFuture<Result<(), Failure>>>,
}

impl Books {
    fn new(round: Round, admission: Option<BoxFuture<Result<(), Failure>>>) -> Mutex<Self> {
        Mutex::new(Self {
            round,
            waiting: BTreeMap::new(),
            visits: Vec::new(),
            memos: 0,
            ended: None,
            driver: None,
            admission,
        })
    }

    pub(super) fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}

/// How a question stands.
pub(super) enum Stand {
    /// It is answered.
    Answered(InputResponse),
    /// It cannot be put to this client.
    Impossible(Impossible),
    /// It was answered with something else.
    Wrong(AskFailed),
    /// It has to be sent, and asked again when this is done.
    Send(BoxFuture<Result<(), AskFailed>>),
    /// It is answered in another round.
    Open,
    /// The call is over.
    Ended,
}

/// How the client is reached.
pub(super) enum Way {
    /// By a reply that says what is missing, and a retry that brings it.
    Rounds(Return),
    /// By requests in the session.
    Requests(Arc<Peer>),
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
            books: Books::new(Round::new(call.revision, capabilities), None),
            way: Way::Requests(Arc::clone(&call.peer)),
            board: OnceLock::new(),
            asks_by_tasks: call.shared.tasks.settings.asks_by_tasks,
        }
    }

    fn in_rounds(call: &Call<'_>) -> Result<Self, Failure> {
        let (method, request, responses, state) = call.rounds.take();
        // mrtr: nothing but these three MUST be answered with a question.
        if !matches!(method, "tools/call" | "prompts/get" | "resources/read") {
            let fault = Fault::new(format!("nothing can be asked in the middle of `{method}`"));
            return Err(Failure::Fault(fault));
        }
        let back = Return {
            shared: Arc::clone(&call.shared),
            caller: call.caller().id().map(str::to_owned),
            request,
        };
        let capabilities = match call.request_meta().client_capabilities {
            Some(capabilities) => Declared::Text(capabilities.into()),
            None => Declared::from(ClientCapabilities::default()),
        };
        // Where a state counts once, so does an answer: one without its state may be to a question
        // that was never put. It is asked again.
        let counts_once = call.shared.settings.rounds.spent.is_some();
        let is_taken = state.is_some() || !counts_once;
        let mut admission = None;
        let mut round = match state {
            None => Round::new(call.revision, capabilities),
            Some(state) => {
                let opened = back.open(&state)?;
                admission = back.admission(&opened);
                Round::resume(call.revision, capabilities, opened.journal)
            }
        };
        let responses = responses.as_deref().map(read_responses).transpose()?;
        if let Some(responses) = responses.filter(|_| is_taken) {
            let merged = round.merge(responses);
            merged.map_err(|bad| Failure::Reject(Reject::of(bad.to_error())))?;
        }
        Ok(Self {
            books: Books::new(round, admission),
            way: Way::Rounds(back),
            board: OnceLock::new(),
            asks_by_tasks: false,
        })
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks, or looks how a question stands that was asked before. One that is new and open is
    /// counted, until somebody [leaves](Self::leave) it.
    pub(super) fn ask(
        self: &Arc<Self>,
        key: &str,
        question: &Posed,
        fingerprint: Fingerprint,
        is_new: bool,
    ) -> Stand {
        let mut books = self.books();
        if books.ended.is_some() {
            return Stand::Ended;
        }
        match books.round.ask_as(key, question, fingerprint) {
            Ok(Asked::Answered(response)) => Stand::Answered(response),
            Ok(Asked::Impossible(impossible)) => Stand::Impossible(impossible),
            Ok(Asked::Open) => {
                if is_new {
                    *books.waiting.entry(key.to_owned()).or_default() += 1;
                }
                let asking = Arc::clone(self);
                match (&self.way, self.board.get()) {
                    (_, Some(board)) => {
                        books.wake_driver();
                        let (board, key) = (Arc::clone(board), key.to_owned());
                        Stand::Send(Box::pin(async move {
                            board.answer(&key, || asking.is_answered(&key)).await
                        }))
                    }
                    (Way::Rounds(_), None) => {
                        books.wake_driver();
                        Stand::Open
                    }
                    (Way::Requests(peer), None) => {
                        Stand::Send(Box::pin(asking.send(Arc::clone(peer), key.to_owned())))
                    }
                }
            }
            Err(error) => self.wrong(&mut books, error),
        }
    }

    /// What is wrong with a question ends the call: no handler can overlook it. So does what is
    /// wrong with an answer, where the client brought it with the request.
    fn wrong(&self, books: &mut Books, error: AskError) -> Stand {
        books.ended = Some(match (error, &self.way) {
            (AskError::BadAnswer(bad), Way::Requests(_)) => {
                return Stand::Wrong(AskFailed::Wrong(bad.into()));
            }
            // mrtr: servers answer a malformed response with a JSON-RPC error.
            (AskError::BadAnswer(bad), Way::Rounds(_)) => {
                Failure::Reject(Reject::of(bad.to_error()))
            }
            (error, _) => Failure::Fault(Fault::new(error)),
        });
        books.wake_driver();
        Stand::Ended
    }

    /// One less waits for an answer. A question that nobody waits for is not asked.
    pub(super) fn leave(&self, key: &str) {
        let mut books = self.books();
        let Some(waiting) = books.waiting.get_mut(key) else {
            return;
        };
        *waiting -= 1;
        if *waiting == 0 {
            books.waiting.remove(key);
            books.round.withdraw(key);
        }
    }

    async fn send(self: Arc<Self>, peer: Arc<Peer>, key: String) -> Result<(), AskFailed> {
        let Some(question) = self.books().round.open().get(&key) else {
            return Ok(());
        };
        let answered = if self.asks_by_tasks {
            task::request(&peer, &question).await
        } else {
            peer.request(&question).await
        };
        match answered {
            Some(Ok(result)) => {
                let merged = self.books().round.merge([(&key, result)]);
                merged.map_err(|bad| AskFailed::Wrong(bad.into()))
            }
            Some(Err(error)) => Err(AskFailed::Refused {
                key,
                code: error.code,
                message: error.message,
            }),
            None => Err(AskFailed::Gone { key }),
        }
    }

    /// Something that must not be dropped has begun.
    pub(super) fn begin_memo(self: &Arc<Self>) -> MemoRunning {
        self.books().memos += 1;
        MemoRunning(Arc::clone(self))
    }

    /// What the call ends with, if its handler waits for nothing but answers or went wrong.
    /// Otherwise the driver is woken when that changes.
    pub(crate) fn ending(&self, context: &Context<'_>) -> Option<Result<Paused, Failure>> {
        let mut books = self.books();
        if let Some(failure) = books.ended.take() {
            return Some(Err(failure));
        }
        if books.memos == 0
            && !books.visits.is_empty()
            && let Some(failure) = self.visits_first(&books)
        {
            return Some(Err(failure));
        }
        if let (Way::Rounds(back), None) = (&self.way, self.board.get())
            && books.memos == 0
            && let Some(pause) = books.round.pause()
        {
            drop(books);
            return Some(back.seal(pause).map_err(Failure::Fault));
        }
        books.driver = Some(context.waker().clone());
        None
    }

    /// What has to be found out before the handler runs, to be asked once.
    pub(crate) fn admission(&self) -> Option<BoxFuture<Result<(), Failure>>> {
        self.books().admission.take()
    }

    /// What the call ends with although its handler came to an end.
    pub(crate) fn failure(&self) -> Option<Failure> {
        self.books().ended.take()
    }
}

/// The answers that a request brings, unread.
fn read_responses(text: &str) -> Result<BTreeMap<Cow<'_, str>, &RawValue>, Reject> {
    serde_json::from_str(text)
        .map_err(|_| Reject::invalid_params("`params.inputResponses` must be an object"))
}

/// Keeps the handler from being dropped for as long as it lives.
pub(super) struct MemoRunning(Arc<Asking>);

impl Drop for MemoRunning {
    fn drop(&mut self) {
        let mut books = self.0.books();
        books.memos -= 1;
        books.wake_driver();
    }
}
