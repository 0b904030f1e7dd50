//! One request: registering, sending, waiting, and cancelling.

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    CancelledNotificationParams, ErrorObject, Id, IdRef, ProgressNotificationParams, Revision,
    envelope,
};
use turnbuckle_session::requests::Deadline;

use super::{Link, Outgoing, canceller::Canceller};
#[cfg(feature = "http")]
use crate::relayed::RelayQueue;
use crate::{
    error::CallError,
    future::{First, race},
    pending::{Refused, RequestOutcome, Slot, SlotEvent, slot},
};

/// The initial capacity for a message: enough for most requests, so that the buffer does not grow.
const USUAL_MESSAGE_BYTES: usize = 512;

/// The caller's handler for progress.
pub(crate) type OnProgress<'a> = &'a mut (dyn FnMut(ProgressNotificationParams) + Send);

/// What is sent when a request is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDrop {
    /// `notifications/cancelled` is sent.
    Cancel,
    /// Nothing is sent. Used for the handshake, which cannot be cancelled.
    Silence,
}

/// A request that is registered and serialised. Dropping it cancels the request.
pub(crate) struct OpenRequest<'l> {
    pub(super) link: &'l Link,
    pub(super) method: &'l str,
    /// The subject of the request, if it is known without parsing the message.
    #[cfg(feature = "http")]
    pub(super) name: Option<&'l str>,
    pub(super) id: Id,
    pub(super) message: Vec<u8>,
    pub(super) slot: Slot,
    on_drop: OnDrop,
    canceller: Option<Canceller>,
    pub(super) state: SendState,
    /// The revision that the request names; `None` for a request of a session.
    pub(super) modern: Option<Revision>,
    /// The queue of its events, if the request is relayed.
    #[cfg(feature = "http")]
    pub(super) events: Option<&'l RelayQueue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendState {
    Unsent,
    Sent,
    Settled,
}

impl Link {
    /// Registers a request under a new id and serialises it. Nothing is sent yet.
    pub(crate) fn prepare<'l, P: Serialize + ?Sized>(
        &'l self,
        outgoing: &Outgoing<'l>,
        deadline: Deadline,
        on_drop: OnDrop,
        params: &P,
    ) -> Result<OpenRequest<'l>, CallError> {
        let (filler, slot) = slot();
        let id = self
            .pending
            .enter(filler, deadline)
            .map_err(|refused| match refused {
                Refused::Closed => self.closed(outgoing.method),
                Refused::Full(limit) => CallError::Busy {
                    server: self.server().clone(),
                    limit,
                },
            })?;
        let mut request = OpenRequest {
            link: self,
            method: outgoing.method,
            #[cfg(feature = "http")]
            name: None,
            id,
            message: Vec::with_capacity(USUAL_MESSAGE_BYTES),
            slot,
            on_drop,
            canceller: outgoing.canceller.cloned(),
            state: SendState::Unsent,
            modern: None,
            #[cfg(feature = "http")]
            events: None,
        };
        let common = self.common_meta.read();
        request.modern = common.revision;
        outgoing
            .write(&mut request.message, &request.id.as_ref(), &common, params)
            .map_err(|source| CallError::unwritable(outgoing.method, source))?;
        Ok(request)
    }

    /// Sends a request and waits for the result, with the deadline of the settings.
    pub(crate) async fn ask<P: Serialize + ?Sized>(
        &self,
        method: &str,
        params: &P,
    ) -> Result<Box<RawValue>, CallError> {
        let deadline = self.profile().settings.deadline(None);
        let outgoing = Outgoing::plain(method);
        let request = self.prepare(&outgoing, deadline, OnDrop::Cancel, params)?;
        request.answer(None).await
    }

    /// Sends a notification of the application, waiting for room in the queue if necessary.
    pub(crate) async fn send_notification<P: Serialize>(
        &self,
        method: &str,
        params: &P,
    ) -> Result<(), CallError> {
        let mut message = Vec::new();
        envelope::write_notification(&mut message, method, params)
            .map_err(|source| CallError::unwritable(method, source))?;
        let sent = self.send(&message).await;
        sent.map_err(|_| self.closed(method))
    }

    /// Sends the answer to a request of the server.
    pub(super) fn respond<R: Serialize>(&self, id: &IdRef<'_>, answer: Result<&R, &ErrorObject>) {
        self.push(|out| match answer {
            Ok(result) => envelope::write_result(out, id, |out| serde_json::to_writer(out, result)),
            Err(error) => envelope::write_error(out, Ok(id), error),
        });
    }

    /// Sends a notification to the server without waiting.
    pub(crate) fn notify<P: Serialize + ?Sized>(&self, method: &str, params: &P) {
        self.push(|out| envelope::write_notification(out, method, &params));
    }
}

impl<'l> OpenRequest<'l> {
    /// Creates a relayed request, which is already registered and serialised.
    pub(super) fn relayed(
        link: &'l Link,
        method: &'l str,
        id: Id,
        message: Vec<u8>,
        slot: Slot,
        canceller: Canceller,
        modern: Option<Revision>,
    ) -> Self {
        Self {
            link,
            method,
            #[cfg(feature = "http")]
            name: None,
            id,
            message,
            slot,
            on_drop: OnDrop::Cancel,
            canceller: Some(canceller),
            state: SendState::Unsent,
            modern,
            #[cfg(feature = "http")]
            events: None,
        }
    }

    /// Sends the request, and returns its result or its error object unchanged.
    pub(super) async fn relay(
        &mut self,
    ) -> Result<Result<Box<RawValue>, Box<RawValue>>, CallError> {
        let outcome = self.run(None).await?;
        self.relayed_outcome(outcome)
    }

    /// The same for a pipe. The future is much smaller than one that could use HTTP.
    pub(super) async fn relay_on_pipe(
        &mut self,
    ) -> Result<Result<Box<RawValue>, Box<RawValue>>, CallError> {
        let outcome = self.run_on_pipe(None).await;
        self.relayed_outcome(outcome)
    }

    fn relayed_outcome(
        &mut self,
        outcome: RequestOutcome,
    ) -> Result<Result<Box<RawValue>, Box<RawValue>>, CallError> {
        match outcome {
            RequestOutcome::Error(error) => {
                self.state = SendState::Settled;
                Ok(Err(error))
            }
            outcome => self.settle(outcome).map(Ok),
        }
    }
}

impl OpenRequest<'_> {
    /// The id of the request.
    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// The reason for cancelling the request, if it is known. cancellation: the reason is for logs and
    /// users.
    fn reason(&self) -> Option<String> {
        let said = self.canceller.as_ref().and_then(Canceller::reason);
        if let Some(reason) = said {
            return Some(reason.to_string());
        }
        let is_late = self.slot.is_overdue();
        is_late.then(|| "the client's deadline for the answer has passed".to_owned())
    }

    /// Sends the request and waits for the result.
    pub(crate) async fn answer(
        mut self,
        progress: Option<OnProgress<'_>>,
    ) -> Result<Box<RawValue>, CallError> {
        let outcome = self.run(progress).await?;
        self.settle(outcome)
    }

    /// Sends the request and waits for its answer.
    async fn run(&mut self, progress: Option<OnProgress<'_>>) -> Result<RequestOutcome, CallError> {
        #[cfg(feature = "http")]
        if let Some(http) = self.link.wire.http() {
            return match self.post(http, progress).await {
                Ok(outcome) => Ok(outcome),
                Err(fault) => {
                    self.state = SendState::Settled;
                    Err(fault.into_error(self.link.server().clone(), self.method))
                }
            };
        }
        Ok(self.run_on_pipe(progress).await)
    }

    async fn run_on_pipe(&mut self, mut progress: Option<OnProgress<'_>>) -> RequestOutcome {
        if let Some(outcome) = self.send().await {
            return outcome;
        }
        loop {
            match self.slot.landed().await {
                SlotEvent::Progress(report) => {
                    if let Some(told) = &mut progress {
                        told(report);
                    }
                }
                SlotEvent::Outcome(outcome) => return outcome,
            }
        }
    }

    /// Sends the message. If the server does not read, this waits, and the wait counts against the
    /// deadline. Returns the outcome if there is one before the message was sent.
    async fn send(&mut self) -> Option<RequestOutcome> {
        let message = std::mem::take(&mut self.message);
        loop {
            match race(self.link.send(&message), self.slot.landed()).await {
                First::Left(Ok(())) => {
                    self.state = SendState::Sent;
                    return None;
                }
                First::Left(Err(_)) => return Some(self.closing().await),
                First::Right(SlotEvent::Outcome(outcome)) => return Some(outcome),
                // A progress report for a request that was not sent yet: the server guessed the token.
                First::Right(SlotEvent::Progress(_)) => {}
            }
        }
    }

    /// Waits for the outcome after the connection was closed for sending. The driver will soon fail all
    /// waiting requests, with the reason for the end.
    async fn closing(&mut self) -> RequestOutcome {
        loop {
            if let SlotEvent::Outcome(outcome) = self.slot.landed().await {
                return outcome;
            }
        }
    }

    fn settle(&mut self, outcome: RequestOutcome) -> Result<Box<RawValue>, CallError> {
        let (server, method) = (self.link.server().clone(), self.method);
        if !matches!(outcome, RequestOutcome::Overdue(_)) {
            self.state = SendState::Settled;
        }
        match outcome {
            RequestOutcome::Result(result) => Ok(result),
            RequestOutcome::Error(error) => Err(CallError::rejected(
                server,
                self.link.revision(),
                method,
                &error,
            )),
            #[cfg(feature = "http")]
            RequestOutcome::SessionOver(reason) => Err(CallError::SessionExpired {
                server,
                method: method.into(),
                reason: format!("{reason}; repeat the call only if it may run twice"),
            }),
            RequestOutcome::Closed => Err(self.link.closed(method)),
            RequestOutcome::Overdue(overdue) => Err(CallError::Deadline {
                server,
                method: method.into(),
                overdue,
            }),
            RequestOutcome::Malformed(problem) => {
                let source = serde::de::Error::custom(problem);
                Err(CallError::malformed(server, method, source))
            }
            RequestOutcome::TooManyNodes(limit) => Err(CallError::TooManyNodes {
                server,
                method: method.into(),
                limit,
            }),
            RequestOutcome::Oversized(limit) => Err(CallError::Oversized {
                server,
                method: method.into(),
                limit,
            }),
        }
    }
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        if self.state == SendState::Settled {
            return;
        }
        // An answer that has arrived but was not read yet has already completed the request.
        let is_open = self.link.pending.withdraw(&self.id.as_ref()) || self.slot.is_overdue();
        let is_told = self.on_drop == OnDrop::Cancel
            && !self.link.wire.cancels_by_closing(self.modern.is_some());
        if is_open && self.state == SendState::Sent && is_told {
            let mut cancelled = CancelledNotificationParams::new(self.id.clone());
            cancelled.reason = self.reason();
            self.link.notify("notifications/cancelled", &cancelled);
        }
    }
}
