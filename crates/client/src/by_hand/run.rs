//! The steps of a call whose questions are answered by hand.

use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use turnbuckle_protocol::{
    ElicitRequestParams, InputRequest, InputRequests, InputRequiredResult, InputResponses, Meta,
    ProgressNotificationParams,
};
use turnbuckle_session::requests::Overdue;

use super::{Answerable, Round, pending::PendingCall};
use crate::{
    answer::{MAX_WAIT, ManualCall, ParkedCall},
    call::{self, ClientCall, Parsed, Retry, Subject, SubjectParams},
    connection::Connection,
    error::CallError,
    future::{First, race},
    link::{Canceller, Link, OnDrop, Outgoing},
    task::{self, Followed, TaskTicket},
};

/// How many progress reports are queued until the application reads them.
const MAX_WAITING_PROGRESS: usize = 16;

/// How long to wait for more questions after the first. A handler that asks several questions
/// concurrently sends them one right after the other. Later questions come in the next round.
const GATHER: Duration = Duration::from_millis(20);

/// What a call of a session waited for: its result, or a question.
enum Waited {
    Outcome(Result<Box<RawValue>, CallError>),
    Asked,
}

impl<R: Answerable> ClientCall<'_, R> {
    /// Sends the call to a modern server, with answers if there are any.
    pub(crate) async fn run_by_hand(
        mut self,
        responses: Option<InputResponses>,
        state: Option<String>,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        let subject = self.prepare().await?.into_subject();
        let mut retry = Retry { responses, state };
        for round in rounds..self.link.profile().settings.max_rounds {
            let raw = self
                .send(&SubjectParams::new(&subject, &retry, None))
                .await?;
            if self.method == "tools/call" {
                call::learn_promises(self.link, &raw, None).await;
            }
            let reader = self.reader(&subject);
            let asked = match (self.read)(&reader, raw)? {
                Parsed::Done(result) => return Ok(Round::Done(result)),
                Parsed::Task(begun) => {
                    let ticket = TaskTicket::new(subject.text(), &begun);
                    return self.run_task(&subject, ticket, round).await;
                }
                Parsed::Asked(asked) => asked,
            };
            match asked.input_requests {
                Some(requests) => {
                    if let Err(reason) = self.link.check_asks(&requests) {
                        let asked = InputRequiredResult::new(requests);
                        return Err(CallError::InputRequired {
                            server: self.link.server().clone(),
                            method: self.method.as_ref().into(),
                            reason,
                            asked: Box::new(asked),
                        });
                    }
                    let mut pending = pending(&self.method, &subject, requests, round + 1);
                    pending.request_state = asked.request_state;
                    return Ok(Round::Asked(pending.into()));
                }
                // The server asked nothing: the call is repeated later.
                None => retry = call::answer(&reader, asked, round, None).await?,
            }
        }
        Err(self.too_many_rounds())
    }

    /// Follows the task that the call has become, until the task asks or ends.
    async fn run_task(
        self,
        subject: &Subject,
        mut ticket: TaskTicket,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        // tasks: only a tool call can become a task.
        let Some(connection) = self.connection else {
            return Err(self
                .reader(subject)
                .malformed("the result is a task, but this method cannot become a task"));
        };
        if rounds >= self.link.profile().settings.max_rounds {
            task::give_up(connection, &ticket);
            return Err(self.too_many_rounds());
        }
        match task::wait_by_hand(connection, &mut ticket, self.options.deadline).await? {
            Followed::Done(raw) => {
                call::learn_promises(self.link, &raw, None).await;
                self.finish(subject, raw).map(Round::Done)
            }
            Followed::Asked(asks) => {
                let mut pending = pending(&self.method, subject, asks, rounds + 1);
                pending.task = Some(ticket);
                Ok(Round::Asked(pending.into()))
            }
        }
    }

    /// Sends answers to the task of this call, and follows the task further.
    pub(crate) async fn resume_task(
        mut self,
        connection: &Connection,
        mut ticket: TaskTicket,
        answers: InputResponses,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        let subject = self.take_body()?.into_subject();
        if !answers.is_empty() {
            task::update(connection, &mut ticket, answers).await?;
        }
        self.run_task(&subject, ticket, rounds).await
    }

    /// Sends the call in a session, where it keeps running while its questions are answered.
    pub(crate) async fn run_in_session(
        mut self,
        connection: &Connection,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        let subject = self.prepare().await?.into_subject();
        let link = connection.shared_link();
        let call = link.manual.begin();
        let (told, outcome) = oneshot::channel();
        let (report, progress) = mpsc::channel(MAX_WAITING_PROGRESS);
        let sent = SessionCall {
            method: self.method.clone().into_owned(),
            subject: subject.clone(),
            meta: self.options.meta.clone(),
            deadline: self.options.deadline,
            report: self.options.progress.is_some().then_some(report),
            canceller: self.options.canceller.clone(),
        };
        let (their_link, their_call) = (link.clone(), call.clone());
        let task = connection.run(async move {
            let answer = sent.answer(&their_link);
            let outcome = match race(answer, their_call.neglected()).await {
                First::Left(outcome) => outcome,
                First::Right(()) => {
                    let overdue = Overdue::Total(MAX_WAIT);
                    Err(CallError::overdue(
                        their_link.server(),
                        &sent.method,
                        overdue,
                    ))
                }
            };
            let _ = told.send(outcome);
            their_call.finish();
        });
        let parked = ParkedCall {
            all: link.manual.clone(),
            call,
            outcome,
            progress,
            task,
        };
        self.wait(parked, &subject, rounds).await
    }

    /// Continues a call that was parked.
    pub(crate) async fn go_on(
        mut self,
        parked: ParkedCall,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        let subject = self.take_body()?.into_subject();
        self.wait(parked, &subject, rounds).await
    }

    async fn wait(
        mut self,
        mut parked: ParkedCall,
        subject: &Subject,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        loop {
            if let Waited::Outcome(outcome) = self.next(&mut parked).await {
                let method = self.method.clone();
                learn(self.link, &method, &outcome).await;
                return self.finish_or_visit(subject, outcome, rounds);
            }
            let more = race(&mut parked.outcome, tokio::time::sleep(GATHER)).await;
            if let First::Left(outcome) = more {
                let outcome = outcome.unwrap_or_else(|_| Err(self.link.closed(&self.method)));
                let method = self.method.clone();
                learn(self.link, &method, &outcome).await;
                return self.finish_or_visit(subject, outcome, rounds);
            }
            let asks = parked.call.asks();
            if asks.is_empty() {
                continue;
            }
            if rounds >= self.link.profile().settings.max_rounds {
                return Err(self.too_many_rounds());
            }
            let mut pending = pending(&self.method, subject, asks, rounds + 1);
            pending.parked = Some(self.link.manual.park(parked));
            return Ok(Round::Asked(pending.into()));
        }
    }

    /// Waits for the outcome or a question, and passes progress reports to the listener.
    async fn next(&mut self, parked: &mut ParkedCall) -> Waited {
        let ParkedCall {
            call,
            outcome,
            progress,
            ..
        } = parked;
        loop {
            let asked = race(asked_or_told(call, progress), &mut *outcome).await;
            match asked {
                First::Right(Ok(outcome)) => return Waited::Outcome(outcome),
                First::Right(Err(_)) => {
                    return Waited::Outcome(Err(self.link.closed(&self.method)));
                }
                First::Left(None) => return Waited::Asked,
                First::Left(Some(report)) => {
                    if let Some(listener) = &mut self.options.progress {
                        listener(report);
                    }
                }
            }
        }
    }

    /// Returns the result, or the visits as questions if the server first wants the user to visit URLs
    /// (-32042).
    fn finish_or_visit(
        &self,
        subject: &Subject,
        outcome: Result<Box<RawValue>, CallError>,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        let error = match outcome {
            Ok(raw) => return self.finish(subject, raw).map(Round::Done),
            Err(error) => error,
        };
        let Some(visits) = call::visits_first(&error) else {
            return Err(error);
        };
        if rounds >= self.link.profile().settings.max_rounds {
            return Err(self.too_many_rounds());
        }
        let asks: InputRequests = visits
            .into_iter()
            .map(|visit| {
                let key = visit.elicitation_id.clone().unwrap_or_default();
                let asked = ElicitRequestParams::Url(visit);
                (key, InputRequest::Elicit(Box::new(asked)))
            })
            .collect();
        // A client that cannot open URLs gets the server's own error.
        if self.link.check_asks(&asks).is_err() {
            return Err(error);
        }
        if let Some(peer) = self.link.peer() {
            asks.values()
                .for_each(|ask| peer.visits().expect_asked(ask));
        }
        let mut pending = pending(&self.method, subject, asks, rounds + 1);
        pending.is_visit_first = true;
        Ok(Round::Asked(pending.into()))
    }

    fn finish(&self, subject: &Subject, raw: Box<RawValue>) -> Result<R, CallError> {
        let reader = self.reader(subject);
        (self.read)(&reader, raw)?.done(&reader)
    }
}

/// A call of a session. It runs on a task of its own, independent of the future of the caller.
struct SessionCall {
    method: String,
    subject: Subject,
    meta: Option<Meta>,
    deadline: Option<Duration>,
    report: Option<mpsc::Sender<ProgressNotificationParams>>,
    /// Holds the reason for the server if the call is cancelled.
    canceller: Option<Canceller>,
}

impl SessionCall {
    async fn answer(&self, link: &Link) -> Result<Box<RawValue>, CallError> {
        let outgoing = Outgoing {
            method: &self.method,
            meta: self.meta.as_ref(),
            progress: self.report.is_some(),
            canceller: self.canceller.as_ref(),
        };
        let deadline = link.profile().settings.deadline(self.deadline);
        let retry = Retry::default();
        let params = SubjectParams::new(&self.subject, &retry, None);
        let request = link.prepare(&outgoing, deadline, OnDrop::Cancel, &params)?;
        let mut tell = |report| {
            if let Some(told) = &self.report {
                // If the queue is full the report is dropped: the caller will get a later one.
                let _ = told.try_send(report);
            }
        };
        request.answer(Some(&mut tell)).await
    }
}

/// Waits for a progress report or a question; returns `None` for a question.
async fn asked_or_told(
    call: &ManualCall,
    progress: &mut mpsc::Receiver<ProgressNotificationParams>,
) -> Option<ProgressNotificationParams> {
    let report = async {
        match progress.recv().await {
            Some(report) => report,
            None => std::future::pending().await,
        }
    };
    match race(report, call.asked()).await {
        First::Left(report) => Some(report),
        First::Right(()) => None,
    }
}

/// Fetches the tool's output schema, if it is not known yet, before the result is read.
async fn learn(link: &Link, method: &str, outcome: &Result<Box<RawValue>, CallError>) {
    if let ("tools/call", Ok(raw)) = (method, outcome) {
        call::learn_promises(link, raw, None).await;
    }
}

fn pending(
    method: &str,
    subject: &Subject,
    input_requests: InputRequests,
    rounds: usize,
) -> PendingCall {
    PendingCall {
        method: method.to_owned(),
        name: subject.name.clone(),
        uri: subject.uri.clone(),
        arguments: subject.arguments.clone(),
        input_requests,
        request_state: None,
        rounds,
        parked: None,
        task: None,
        is_visit_first: false,
    }
}
