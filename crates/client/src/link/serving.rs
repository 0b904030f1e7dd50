//! Requests of a legacy server: each is answered in a separate task.
//!
//! The tasks belong to the connection and end with it. If the server withdraws a request, its task is
//! aborted. If a handler panics, the request is still answered.

use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use tokio::task::{AbortHandle, JoinSet};
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{
    ElicitRequestParams, ElicitResult, EmptyResult, ErrorObject, Id, InputRequest, InputResponse,
    Lower, Revision,
    envelope::{IdRef, Members, Request},
    error::problem_in_message,
    method::{Direction, available},
    revision::Raise,
};
use turnbuckle_session::{InFlight, in_flight::Ticket, round::NotOffered};

use super::{Link, MAX_OPEN_ASKS, own_tasks::OwnTasks, relayed_ask::relayed_ask};
use crate::{
    answer::{AskProgress, Unanswered, token_of},
    profile::RelayProfile,
    relayed::RelayEvent,
};

/// Set right after the task was started, before anything else is read from the server.
type Handle = Arc<OnceLock<AbortHandle>>;

/// The handle that ends the work on a request of the server.
#[derive(Debug)]
pub(super) enum Work {
    /// A task of this client answers it.
    Task(Handle),
    /// The request was passed on to the relay.
    Relayed,
}

/// The requests of a server that are not answered yet.
pub(super) type OpenWork = Arc<Mutex<InFlight<Work>>>;

/// The requests of one server that are being answered.
pub(super) struct Serving {
    link: Arc<Link>,
    /// The tasks that the server created for its requests.
    own: OwnTasks,
    open: OpenWork,
    /// Held to be dropped: dropping it aborts the tasks that answer requests.
    tasks: JoinSet<()>,
}

impl Serving {
    pub(super) fn new(link: Arc<Link>) -> Self {
        let open = Arc::new(Mutex::new(InFlight::new().with_limit(MAX_OPEN_ASKS)));
        Self {
            own: OwnTasks::new(link.clone()),
            link,
            open,
            tasks: JoinSet::new(),
        }
    }

    /// Handles a request of the server.
    pub(super) fn serve(&mut self, request: &Request<'_>, call: Option<&Id>) {
        if self
            .link
            .peer()
            .is_some_and(|peer| peer.revision().is_modern())
        {
            // stdio: a modern client MUST NOT write responses, and a modern server MUST NOT write
            // requests.
            tracing::debug!(
                server = &**self.link.server(),
                method = &*request.method,
                "ignored a request, which a modern server must not send"
            );
            return;
        }
        if request.method == "ping" {
            return self.link.respond(&request.id, Ok(&EmptyResult::default()));
        }
        if let Some(relay) = &self.link.profile().relay {
            return self.hand_on(relay, request, call);
        }
        if self.own.serve(request) {
            return;
        }
        match self.read(request) {
            Ok(asked) => {
                if let Some(peer) = self.link.peer() {
                    peer.visits().expect_asked(&asked);
                }
                if let Some(asked) = self.own.take(&request.id, asked) {
                    let tag = call.and_then(|id| self.link.tags.of(id));
                    self.begin(&request.id, asked, tag);
                }
            }
            Err(error) => self.link.respond::<()>(&request.id, Err(&error)),
        }
    }

    /// Parses a request that this client has declared to answer.
    fn read(&self, request: &Request<'_>) -> Result<InputRequest, ErrorObject> {
        // Check this first: a method that was not declared is refused for that reason, whatever its
        // params.
        let offered = self.link.check_asked_method(&request.method);
        offered.map_err(NotOffered::to_error)?;
        let asked = read(&request.method, &request.params, self.link.revision())?;
        let offered = self.link.check_ask(&asked);
        let counted = offered.and_then(|()| self.link.count_ask(&asked));
        counted.map_err(|unanswered| unanswered.to_error())?;
        Ok(asked)
    }

    /// Handles `notifications/cancelled`.
    pub(super) fn cancel(&self, id: &Id) {
        let cancelled = self.open.lock().cancel(id);
        if let Some(work) = cancelled {
            self.withdraw(id, &work);
        }
    }

    /// Ends the work on all unanswered requests, and sends no answers.
    #[cfg(feature = "http")]
    pub(super) fn withdraw_all(&self) {
        let open = self.open.lock().take_all();
        for (id, work) in open {
            self.withdraw(&id, &work);
        }
    }

    fn withdraw(&self, id: &Id, work: &Work) {
        match work {
            Work::Task(handle) => {
                if let Some(task) = handle.get() {
                    task.abort();
                }
            }
            Work::Relayed => {
                if let Some(relay) = &self.link.profile().relay {
                    relay.sink.withdrawn(id);
                }
            }
        }
    }

    /// Passes a request on to the call that it belongs to, or to the sink.
    fn hand_on(&self, relay: &RelayProfile, request: &Request<'_>, call: Option<&Id>) {
        let id = request.id.clone().into_owned();
        let begun = self.open.lock().begin(id, Work::Relayed);
        match begun {
            Ok(ticket) => match relayed_ask(&self.link, &self.open, ticket, request, call) {
                (ask, Some(call)) => call.queue.push(RelayEvent::Ask(ask)),
                (ask, None) => relay.sink.ask(ask),
            },
            Err(refused) => {
                let error = ErrorObject::new(refused.code(), refused.to_string());
                self.link.respond::<()>(&request.id, Err(&error));
            }
        }
    }

    fn begin(&mut self, id: &IdRef<'_>, asked: InputRequest, tag: Option<u64>) {
        while self.tasks.try_join_next().is_some() {}
        let handle = Handle::default();
        let begun = self
            .open
            .lock()
            .begin(id.clone().into_owned(), Work::Task(handle.clone()));
        match begun {
            Ok(ticket) => {
                let link = self.link.clone();
                let question = OpenQuestion {
                    link: link.clone(),
                    open: self.open.clone(),
                    ticket,
                };
                let task = self.tasks.spawn(answer(link, asked, tag, question));
                // No other code has the handle yet.
                let _ = handle.set(task);
            }
            Err(refused) => {
                let error = ErrorObject::new(refused.code(), refused.to_string());
                self.link.respond::<()>(id, Err(&error));
            }
        }
    }
}

async fn answer(link: Arc<Link>, asked: InputRequest, tag: Option<u64>, question: OpenQuestion) {
    let method = asked.method();
    // Pauses deadlines: while the server waits for an answer, it cannot continue with our requests.
    let _held = link.pending.hold();
    let is_form = matches!(asked, InputRequest::Elicit(_));
    let answered = if let Some(answer) = link.manual.ask(&asked) {
        answer.await.map_err(|_| Unanswered::ByHand)
    } else {
        let progress = Reporting::to(&link, &asked);
        link.answer_with_progress(asked, tag, progress.0.clone())
            .await
    };
    let answered = match answered {
        // elicitation: a form that was neither filled in nor declined was cancelled.
        Err(Unanswered::ByHand) if is_form => Ok(ElicitResult::cancel().into()),
        answered => answered,
    };
    match answered {
        Ok(mut answer) => {
            answer.lower(link.revision());
            question.answer(Ok(&answer));
        }
        Err(unanswered) => {
            tracing::debug!(server = &**link.server(), method, reason = %unanswered, "request not answered");
            question.answer(Err(&unanswered.to_error()));
        }
    }
}

/// Reports progress with a question, until it is answered or withdrawn.
struct Reporting(AskProgress);

impl Reporting {
    fn to(link: &Arc<Link>, asked: &InputRequest) -> Self {
        let Some(token) = token_of(asked) else {
            return Self(AskProgress::default());
        };
        let rate = link.profile().settings.ask_rates.progress;
        let link = Arc::downgrade(link);
        Self(AskProgress::new(token, rate, move |report| {
            if let Some(link) = link.upgrade() {
                let mut report = report.clone();
                report.lower(link.revision());
                link.notify("notifications/progress", &report);
            }
        }))
    }
}

impl Drop for Reporting {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Sends the answer to one question. If it is dropped without an answer, it sends an error.
struct OpenQuestion {
    link: Arc<Link>,
    open: OpenWork,
    ticket: Ticket,
}

impl OpenQuestion {
    /// Sends nothing if the question was withdrawn, or already answered.
    fn answer(&self, answer: Result<&InputResponse, &ErrorObject>) {
        let is_open = self.open.lock().finish(&self.ticket).is_some();
        if is_open {
            self.link.respond(&self.ticket.id().as_ref(), answer);
        }
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.answer(Err(&ErrorObject::internal("the client failed to answer")));
    }
}

/// Parses the params of a request.
fn read(
    method: &str,
    params: &Members<'_>,
    revision: Revision,
) -> Result<InputRequest, ErrorObject> {
    // Parsed from the text, because serde cannot read types that a member distinguishes from `Members`.
    fn parse<T: DeserializeOwned>(method: &str, params: &Members<'_>) -> Result<T, ErrorObject> {
        serde_json::from_str(params.to_raw().get()).map_err(|error| {
            let text = format!("the parameters of `{method}` are invalid");
            ErrorObject::invalid_params(text).with_data(problem_in_message(&error))
        })
    }

    // lifecycle: both sides MUST respect the version that was negotiated.
    if !available(method, revision, Direction::ToClient) {
        return Err(ErrorObject::method_not_found(method));
    }
    match method {
        "elicitation/create" => parse(method, params).map(|mut asked: Box<ElicitRequestParams>| {
            asked.raise(revision);
            InputRequest::Elicit(asked)
        }),
        "sampling/createMessage" => parse(method, params).map(InputRequest::CreateMessage),
        "roots/list" => parse(method, params).map(InputRequest::ListRoots),
        other => Err(ErrorObject::method_not_found(other)),
    }
}
