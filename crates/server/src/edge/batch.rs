//! Batches, which exist only in sessions of 2025-03-26.

use std::sync::Arc;

use turnbuckle_protocol::{
    ErrorObject, Revision,
    envelope::{Malformed, Message, Request, UnreadableId},
};

use turnbuckle_transport::Outbox;

use super::{
    notification,
    running::{Begun, RunningRequests},
};
use crate::{
    client::Peer,
    engine::{Response, Shared, Sink, admission, answer, method, unsent::Unsent},
    quota::Share,
};

/// The error message for batches in a revision without batches.
pub(super) const UNKNOWN: &str =
    "batches exist only in sessions of 2025-03-26: send the messages one by one";

/// A batch whose messages are being served.
#[derive(Default)]
pub(super) struct Batch {
    /// Responses that are ready.
    pub(super) ready: Vec<Response>,
    /// Requests whose responses follow later.
    pub(super) begun: Vec<Begun>,
    /// Whether the client sent `notifications/initialized` in this batch.
    pub(super) is_initialized: bool,
}

/// The context in which the members of a batch are served.
pub(super) struct BatchContext<'a> {
    pub(super) shared: &'a Arc<Shared>,
    /// The client, as the session as a whole sees it.
    pub(super) session: &'a Arc<Peer>,
    /// The client, for the requests of this batch.
    pub(super) peer: &'a Arc<Peer>,
    pub(super) running: &'a RunningRequests,
    /// The budget that the responses count against.
    pub(super) unsent: Option<&'a Unsent>,
}

/// Whether this client may send batches.
pub(super) fn is_known(peer: &Peer) -> bool {
    let revision = peer.session_revision();
    revision.is_some_and(|revision| revision.rules().batches)
}

impl BatchContext<'_> {
    /// Serves all messages of the batch. Must be called inside a runtime.
    pub(super) fn serve<'m>(
        &self,
        members: impl IntoIterator<Item = Result<Message<'m>, Malformed<'m>>>,
    ) -> Batch {
        let mut batch = Batch::default();
        for member in members {
            let mut answer = Response::default();
            match member {
                Ok(Message::Request(request)) => {
                    batch.begun.extend(self.request(&request, &mut answer));
                }
                Ok(Message::Notification(notification)) => {
                    notification::take(self.shared, self.session, self.running, &notification);
                    batch.is_initialized |= notification.method == "notifications/initialized";
                }
                Ok(Message::Response(response)) => {
                    self.session.answer(&response);
                }
                // A batch contains only valid JSON, so the text of the message is not needed.
                Err(malformed) if self.session.unreadable(&malformed, b"") => {}
                Err(malformed) => {
                    refuse_malformed(&malformed, unreadable(self.session), &mut answer);
                }
            }
            if !answer.is_empty() {
                batch.ready.push(answer);
            }
        }
        batch
    }

    /// Serves one request. It is answered at once, or the rest of it is returned.
    fn request(&self, request: &Request<'_>, answer: &mut Response) -> Option<Begun> {
        let refused = if request.method == "initialize" || admission::names_version(request) {
            let method = &request.method;
            ErrorObject::invalid_request(format!("this `{method}` cannot be part of a batch"))
        } else if let Err(error) = self.running.check(request) {
            error
        } else {
            let served = method::serve_on_line(self.shared, self.peer, request, answer);
            let Some(response) = served.later(self.peer) else {
                if let Some(unsent) = self.unsent {
                    *answer = unsent.pay(std::mem::take(answer), &request.id);
                }
                return None;
            };
            let id = request.id.clone().into_owned();
            match self.running.begin(id, response) {
                Ok(begun) => return Some(begun),
                Err(error) => error,
            }
        };
        answer.put(|out| answer::write_error(Ok(&request.id), &refused, out));
        None
    }
}

/// Appends the error for a malformed message, if it gets an answer.
pub(super) fn refuse_malformed(
    malformed: &Malformed<'_>,
    unreadable: UnreadableId,
    out: &mut impl Sink,
) {
    tracing::debug!(reason = malformed.message, "a malformed message came in");
    let Some(code) = malformed.kind.code() else {
        return;
    };
    let error = ErrorObject::new(code, malformed.message.as_str());
    let id = malformed.id.as_ref().ok_or(unreadable);
    out.put(|out| answer::write_error(id, &error, out));
}

/// How this client gets the error for a message whose id could not be read.
pub(super) fn unreadable(peer: &Peer) -> UnreadableId {
    let revision = peer.session_revision().unwrap_or(Revision::LATEST);
    revision.rules().unreadable_id
}

/// Queues responses as one message.
pub(super) fn push_array(responses: Vec<Response>, outbox: &Outbox) {
    let (message, paid) = array(responses);
    if paid.is_empty() {
        outbox.push(&message);
    } else {
        outbox.push_holding(&message, paid);
    }
}

/// Writes responses as one message. Returns it with the shares of the quota that they hold.
pub(super) fn array(responses: Vec<Response>) -> (Vec<u8>, Vec<Share>) {
    let (mut message, mut paid) = (Vec::new(), Vec::new());
    for mut response in responses {
        message.push(if message.is_empty() { b'[' } else { b',' });
        paid.extend(response.paid.take().map(|share| *share));
        message.extend_from_slice(&response.into_message());
    }
    if !message.is_empty() {
        message.push(b']');
    }
    (message, paid)
}
