//! The course of a call whose questions are answered by hand.

use std::{marker::PhantomData, time::Duration};

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use turnbuckle_protocol::{InputRequests, InputResponses};
use turnbuckle_session::requests::Overdue;

use super::{
    Call,
    builder::{Body, Check, Subject},
    exchange::{Exchange, Params, Read},
    input_required::{self, Retry},
};
use crate::{
    Answerable, CallError, Connection, Pending, Round,
    by_hand::{MAX_WAIT, Parked, Seat},
    link::{First, Link, OnDrop, Outgoing, race},
    task,
};

/// How many reports of progress wait while nobody looks.
const MAX_WAITING_PROGRESS: usize = 16;

/// How long to wait for more questions after the first: a handler that joins several asks them one
/// right after the other. Those that come later are asked in the next round.
const GATHER: Duration = Duration::from_millis(20);

/// What a call of a session was asked so far, or what came of it.
enum Waited {
    Outcome(Result<Box<RawValue>, CallError>),
    Asked,
}

impl<R: Answerable> Call<'_, R> {
    /// Sends it to a modern server, with answers if there are any.
    pub(crate) async fn run_by_hand(
        mut self,
        responses: Option<InputResponses>,
        state: Option<String>,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        let subject = self.prepare_by_hand().await?;
        let mut retry = Retry { responses, state };
        for round in rounds..self.link.profile.settings.max_rounds {
            let raw = self.send(&Params::new(&subject, &retry, None)).await?;
            let exchange = Exchange {
                link: self.link,
                method: &self.method,
                subject: subject.text(),
            };
            let asked = match (self.read)(&exchange, raw)? {
                Read::Done(result) => return Ok(Round::Done(result)),
                Read::Task(begun) => {
                    let Some(connection) = self.connection else {
                        return Err(exchange.malformed("this cannot become a task"));
                    };
                    let tool = subject.text();
                    let raw = task::wait(connection, tool, &begun, self.deadline).await?;
                    return self.finish(&subject, raw).map(Round::Done);
                }
                Read::Asked(asked) => asked,
            };
            match asked.input_requests {
                Some(requests) => {
                    let mut pending = pending(&self.method, &subject, requests, round + 1);
                    pending.request_state = asked.request_state;
                    return Ok(Round::Asked(pending));
                }
                // The server only put it off.
                None => retry = input_required::answer(&exchange, asked, round).await?,
            }
        }
        Err(self.too_many_rounds())
    }

    /// Sends it in a session, where it goes on while it is answered.
    pub(crate) async fn run_in_session(
        mut self,
        connection: &Connection,
    ) -> Result<Round<R>, CallError> {
        let subject = self.prepare_by_hand().await?;
        let link = connection.shared_link();
        let seat = link.desk.sit();
        let (told, outcome) = oneshot::channel();
        let (report, progress) = mpsc::channel(MAX_WAITING_PROGRESS);
        let sent = Sent {
            method: self.method.clone().into_owned(),
            subject: subject.clone(),
            meta: self.meta.clone(),
            deadline: self.deadline,
            report: self.progress.is_some().then_some(report),
        };
        let (their_link, their_seat) = (link.clone(), seat.clone());
        let task = connection.run(async move {
            let answer = sent.answer(&their_link);
            let outcome = match race(answer, their_seat.neglected()).await {
                First::Left(outcome) => outcome,
                First::Right(()) => Err(CallError::Deadline {
                    server: their_link.server().clone(),
                    method: sent.method.as_str().into(),
                    overdue: Overdue::Total(MAX_WAIT),
                }),
            };
            let _ = told.send(outcome);
        });
        let parked = Parked {
            link,
            seat,
            outcome,
            progress,
            task,
        };
        self.wait(parked, &subject, 0).await
    }

    /// Goes on with one that waited.
    pub(crate) async fn go_on(
        mut self,
        parked: Parked,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        let body = std::mem::replace(&mut self.body, Ok(Body::Plain(None)))?;
        let subject = body.into_subject();
        self.wait(parked, &subject, rounds).await
    }

    async fn wait(
        mut self,
        mut parked: Parked,
        subject: &Subject,
        rounds: usize,
    ) -> Result<Round<R>, CallError> {
        loop {
            if let Waited::Outcome(outcome) = self.next(&mut parked).await {
                return self.finish(subject, outcome?).map(Round::Done);
            }
            let more = race(&mut parked.outcome, tokio::time::sleep(GATHER)).await;
            if let First::Left(outcome) = more {
                let outcome = outcome.unwrap_or_else(|_| Err(self.link.closed(&self.method)));
                return self.finish(subject, outcome?).map(Round::Done);
            }
            let asks = parked.seat.asks();
            if asks.is_empty() {
                continue;
            }
            if rounds >= self.link.profile.settings.max_rounds {
                return Err(self.too_many_rounds());
            }
            let mut pending = pending(&self.method, subject, asks, rounds + 1);
            pending.parked = Some(self.link.parking.park(parked));
            return Ok(Round::Asked(pending));
        }
    }

    /// Waits for the outcome or a question, and tells of progress.
    async fn next(&mut self, parked: &mut Parked) -> Waited {
        let Parked {
            seat,
            outcome,
            progress,
            ..
        } = parked;
        loop {
            let asked = race(asked_or_told(seat, progress), &mut *outcome).await;
            match asked {
                First::Right(Ok(outcome)) => return Waited::Outcome(outcome),
                First::Right(Err(_)) => {
                    return Waited::Outcome(Err(self.link.closed(&self.method)));
                }
                First::Left(None) => return Waited::Asked,
                First::Left(Some(report)) => {
                    if let Some(listener) = &mut self.progress {
                        listener(report);
                    }
                }
            }
        }
    }

    fn finish(&self, subject: &Subject, raw: Box<RawValue>) -> Result<R, CallError> {
        let exchange = Exchange {
            link: self.link,
            method: &self.method,
            subject: subject.text(),
        };
        match (self.read)(&exchange, raw)? {
            Read::Done(result) => Ok(result),
            Read::Asked(_) | Read::Task(_) => {
                Err(exchange.malformed("nothing can be asked or put off here"))
            }
        }
    }

    async fn prepare_by_hand(&mut self) -> Result<Subject, CallError> {
        if self.check == Check::Offered {
            self.link.check_offered(&self.method)?;
        }
        if let Some(level) = self.log_level {
            self.hear_logs(level).await?;
        }
        let body = std::mem::replace(&mut self.body, Ok(Body::Plain(None)))?;
        Ok(body.into_subject())
    }

    fn too_many_rounds(&self) -> CallError {
        CallError::TooManyRounds {
            server: self.link.server().clone(),
            method: self.method.as_ref().into(),
            rounds: self.link.profile.settings.max_rounds,
        }
    }
}

/// A call of a session, without whoever made it.
struct Sent {
    method: String,
    subject: Subject,
    meta: Option<turnbuckle_protocol::Meta>,
    deadline: Option<Duration>,
    report: Option<mpsc::Sender<turnbuckle_protocol::ProgressNotificationParams>>,
}

impl Sent {
    async fn answer(&self, link: &Link) -> Result<Box<RawValue>, CallError> {
        let outgoing = Outgoing {
            method: &self.method,
            meta: self.meta.as_ref(),
            progress: self.report.is_some(),
        };
        let deadline = link.profile.settings.deadline(self.deadline);
        let retry = Retry::default();
        let params = Params::new(&self.subject, &retry, None);
        let request = link.prepare(&outgoing, deadline, OnDrop::Cancel, &params)?;
        let mut tell = |report| {
            if let Some(told) = &self.report {
                // Whoever does not look sees the next one.
                let _ = told.try_send(report);
            }
        };
        request.answer(Some(&mut tell)).await
    }
}

/// `None` when something was asked.
async fn asked_or_told(
    seat: &Seat,
    progress: &mut mpsc::Receiver<turnbuckle_protocol::ProgressNotificationParams>,
) -> Option<turnbuckle_protocol::ProgressNotificationParams> {
    let report = async {
        match progress.recv().await {
            Some(report) => report,
            None => std::future::pending().await,
        }
    };
    match race(report, seat.asked()).await {
        First::Left(report) => Some(report),
        First::Right(()) => None,
    }
}

fn pending<R>(
    method: &str,
    subject: &Subject,
    input_requests: InputRequests,
    rounds: usize,
) -> Pending<R> {
    Pending {
        method: method.to_owned(),
        name: subject.name.clone(),
        uri: subject.uri.clone(),
        arguments: subject.arguments.clone(),
        input_requests,
        request_state: None,
        rounds,
        parked: None,
        result: PhantomData,
    }
}
