//! One request: entered, sent, answered; or given up, and the server told so.

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    CancelledNotificationParams, Id, ProgressNotificationParams, Revision, envelope,
};
use turnbuckle_session::requests::Deadline;

use super::{
    First, Link, Outgoing,
    pending::Refused,
    race,
    slot::{Landed, Outcome, Slot, slot},
};
use crate::CallError;

/// Room for most requests, so that writing one does not make its buffer grow again and again.
const USUAL_MESSAGE_BYTES: usize = 512;

/// What a caller does with progress.
pub(crate) type Progress<'a> = &'a mut (dyn FnMut(ProgressNotificationParams) + Send);

/// What happens on the wire when a request is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDrop {
    /// `notifications/cancelled` is sent.
    Cancel,
    /// Nothing: for the handshake, which cannot be cancelled.
    Silence,
}

/// A request that is entered and serialised. Dropping it gives it up.
pub(crate) struct Request<'l> {
    pub(super) link: &'l Link,
    pub(super) method: &'l str,
    pub(super) id: Id,
    pub(super) message: Vec<u8>,
    pub(super) slot: Slot,
    on_drop: OnDrop,
    pub(super) state: State,
    /// The revision it says it is of; `None` for a request of a session.
    pub(super) modern: Option<Revision>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Unsent,
    Sent,
    Settled,
}

impl Link {
    /// Enters a request under an id of its own and serialises it. Nothing is sent yet.
    pub(crate) fn prepare<'l, P: Serialize + ?Sized>(
        &'l self,
        outgoing: &Outgoing<'l>,
        deadline: Deadline,
        on_drop: OnDrop,
        params: &P,
    ) -> Result<Request<'l>, CallError> {
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
        let mut request = Request {
            link: self,
            method: outgoing.method,
            id,
            message: Vec::with_capacity(USUAL_MESSAGE_BYTES),
            slot,
            on_drop,
            state: State::Unsent,
            modern: None,
        };
        let stamp = self.stamp();
        request.modern = stamp.revision();
        outgoing
            .write(&mut request.message, &request.id.as_ref(), &stamp, params)
            .map_err(|source| CallError::unwritable(outgoing.method, source))?;
        Ok(request)
    }

    /// Says something to the server that wants no answer.
    pub(crate) fn notify<P: Serialize + ?Sized>(&self, method: &str, params: &P) {
        self.push(|out| envelope::write_notification(out, method, &params));
    }
}

impl Request<'_> {
    /// Its id, under which what belongs to it comes.
    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// Sends it and waits for the result.
    pub(crate) async fn answer(
        mut self,
        mut progress: Option<Progress<'_>>,
    ) -> Result<Box<RawValue>, CallError> {
        #[cfg(feature = "http")]
        if let Some(http) = self.link.wire.http() {
            let outcome = self.post(http, progress).await;
            return self.settle(outcome);
        }
        if let Some(outcome) = self.send().await {
            return self.settle(outcome);
        }
        loop {
            match self.slot.landed().await {
                Landed::Progress(report) => {
                    if let Some(told) = &mut progress {
                        told(report);
                    }
                }
                Landed::Outcome(outcome) => return self.settle(outcome),
            }
        }
    }

    /// A server that does not read makes a request wait to be sent, and that counts against its
    /// deadline: the outcome, if there is one before the request is on its way.
    async fn send(&mut self) -> Option<Outcome> {
        let message = std::mem::take(&mut self.message);
        loop {
            match race(self.link.send(&message), self.slot.landed()).await {
                First::Left(Ok(())) => {
                    self.state = State::Sent;
                    return None;
                }
                First::Left(Err(_)) => return Some(self.closing().await),
                First::Right(Landed::Outcome(outcome)) => return Some(outcome),
                // A report on what the server has not been asked yet: it guessed the token.
                First::Right(Landed::Progress(_)) => {}
            }
        }
    }

    /// Nothing more is sent, so the driver is about to end what waits, with what it knows about
    /// the end.
    async fn closing(&mut self) -> Outcome {
        loop {
            if let Landed::Outcome(outcome) = self.slot.landed().await {
                return outcome;
            }
        }
    }

    fn settle(mut self, outcome: Outcome) -> Result<Box<RawValue>, CallError> {
        let (server, method) = (self.link.server().clone(), self.method);
        if !matches!(outcome, Outcome::Overdue(_)) {
            self.state = State::Settled;
        }
        match outcome {
            Outcome::Result(result) => Ok(result),
            Outcome::Error(error) => Err(CallError::rejected(
                server,
                self.link.revision(),
                method,
                &error,
            )),
            Outcome::Closed => Err(self.link.closed(method)),
            Outcome::Overdue(overdue) => Err(CallError::Deadline {
                server,
                method: method.into(),
                overdue,
            }),
            #[cfg(feature = "http")]
            Outcome::Failed(fault) => Err(fault.into_error(server, method)),
            Outcome::Oversized(limit) => Err(CallError::Oversized {
                server,
                method: method.into(),
                limit,
            }),
        }
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        if self.state == State::Settled {
            return;
        }
        // An answer that is here but not yet looked at has ended the request already.
        let is_open = self.link.pending.withdraw(&self.id.as_ref()) || self.slot.is_overdue();
        let is_told = self.on_drop == OnDrop::Cancel
            && !self.link.wire.cancels_by_closing(self.modern.is_some());
        if is_open && self.state == State::Sent && is_told {
            let cancelled = CancelledNotificationParams::new(self.id.clone());
            self.link.notify("notifications/cancelled", &cancelled);
        }
    }
}
