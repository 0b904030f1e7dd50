//! Requests and notifications of a server for a relay: which call they belong to, and how their answers
//! are returned to the server.

use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use turnbuckle_protocol::{
    ErrorObject, Id,
    envelope::{self, Members, Notification, Request},
    meta::key,
};
use turnbuckle_session::in_flight::Ticket;

use super::{Link, serving::OpenWork};
use crate::{
    pending::{ClockHold, PendingRequests},
    relayed::{AskReply, Attribution, OpenRelay, RelayAsk},
    subscription::subscription_id,
};

impl Link {
    /// The relayed call that a notification belongs to.
    pub(super) fn relayed_call_of(
        &self,
        notification: &Notification<'_>,
        on: Option<&Id>,
    ) -> Option<OpenRelay> {
        let on_stream = on.and_then(|id| self.relays.of(id));
        if let Some(call) = &on_stream
            && call.is_listening()
        {
            return on_stream;
        }
        match &*notification.method {
            "notifications/message" => {
                self.relays.note_log(on_stream.is_some());
                on_stream.or_else(|| self.relays.only())
            }
            // These concern the server as a whole, whatever stream they come on. On a pipe they name
            // their subscription.
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated"
            | "notifications/subscriptions/acknowledged"
            | "notifications/tasks"
            | "notifications/tasks/status"
            | "notifications/elicitation/complete" => {
                let id = subscription_id(&notification.params)?;
                self.relays.of(&id)
            }
            _ => on_stream,
        }
    }

    /// The relayed call that a request of the server belongs to.
    fn asked_call_of(
        &self,
        on: Option<&Id>,
        task: Option<&str>,
    ) -> (Attribution, Option<OpenRelay>) {
        if let Some(call) = on.and_then(|id| self.relays.of(id)) {
            return (Attribution::Stream, Some(call));
        }
        if let Some(task) = task {
            return match self.relays.of_task(task) {
                Some(call) => (Attribution::Task, Some(call)),
                None => (Attribution::Unknown, None),
            };
        }
        match self.relays.only_asking() {
            Some(call) => (Attribution::OnlyCall, Some(call)),
            None => (Attribution::Unknown, None),
        }
    }
}

/// Makes a question from a registered request, and finds the call that it belongs to.
pub(super) fn relayed_ask(
    link: &Arc<Link>,
    open: &OpenWork,
    ticket: Ticket,
    request: &Request<'_>,
    on: Option<&Id>,
) -> (RelayAsk, Option<OpenRelay>) {
    let related_task = related_task(&request.params);
    let (attribution, call) = link.asked_call_of(on, related_task.as_deref());
    let reply = RelayReply {
        link: link.clone(),
        open: open.clone(),
        ticket,
        _held: link.pending.hold_shared(),
    };
    let ask = RelayAsk {
        id: request.id.clone().into_owned(),
        method: request.method.as_ref().into(),
        params: request.params.raw().map(|params| params.value().to_owned()),
        attribution,
        related_task,
        reply: Box::new(reply),
    };
    (ask, call)
}

/// Sends the answer to one request. If it is dropped without an answer, it sends an error.
struct RelayReply {
    link: Arc<Link>,
    open: OpenWork,
    ticket: Ticket,
    /// Pauses deadlines: while the server waits for an answer, it cannot continue with our requests.
    _held: ClockHold<Arc<PendingRequests>>,
}

impl AskReply for RelayReply {
    fn answer(&self, outcome: Result<&RawValue, &RawValue>) {
        let is_open = self.open.lock().finish(&self.ticket).is_some();
        if !is_open {
            return;
        }
        let id = self.ticket.id().as_ref();
        self.link.push(|out| match outcome {
            Ok(result) => {
                envelope::write_raw_result(out, &id, result.get().as_bytes());
                Ok(())
            }
            Err(error) => envelope::write_error(out, Ok(&id), &error),
        });
    }

    fn is_withdrawn(&self) -> bool {
        !self.open.lock().is_open(&self.ticket)
    }
}

impl Drop for RelayReply {
    fn drop(&mut self) {
        let error = ErrorObject::internal("the client failed to answer");
        if let Ok(error) = to_raw_value(&error) {
            self.answer(Err(&error));
        }
    }
}

fn related_task(params: &Members<'_>) -> Option<Box<str>> {
    let meta = params.get("_meta")?;
    if !meta.get().contains(key::RELATED_TASK) {
        return None;
    }
    let meta: turnbuckle_protocol::Meta = serde_json::from_str(meta.get()).ok()?;
    Some(meta.related_task()?.task_id.into())
}
