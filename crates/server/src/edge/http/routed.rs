//! Messages of a client that belong to another replica: answers to that replica's requests, and
//! cancellations.

use std::{sync::Arc, time::Duration};

use http::{Response, StatusCode};
use turnbuckle_protocol::{
    ErrorObject, IdRef,
    envelope::{self, Message as Incoming, Notification, text_of},
};
use turnbuckle_store::bus::Recipient;

use super::{body::HttpBody, reply, session::HttpSession};
use crate::{
    edge::notification,
    replica::{CallFailed, Message, Place, Replicas},
};

/// How long another replica may take to accept an answer, including the time until it is connected
/// again.
const REPLY_WITHIN: Duration = Duration::from_secs(10);

/// Sends a message to the replica to which it belongs; `None` if that is this one.
pub(super) async fn accept(
    replicas: &Arc<Replicas>,
    session: &HttpSession,
    message: &Incoming<'_>,
) -> Option<Response<HttpBody>> {
    match message {
        Incoming::Request(_) => None,
        Incoming::Response(response) => reply_to(replicas, session, response).await,
        Incoming::Notification(notification) => match &*notification.method {
            "notifications/cancelled" => cancel(replicas, session, notification),
            "notifications/progress" => progress(replicas, session, notification),
            "notifications/roots/list_changed" => roots_changed(replicas, session),
            _ => None,
        },
    }
}

/// The error for a client whose message cannot reach its replica at the moment.
pub(super) fn unreachable(failed: &CallFailed) -> Response<HttpBody> {
    let error = ErrorObject::internal(format!("{failed}: send the message again"));
    let refused = reply::error(StatusCode::SERVICE_UNAVAILABLE, None, &error);
    reply::retry_later(refused)
}

fn caller(session: &HttpSession) -> Option<String> {
    session.peer.caller().id().map(str::to_owned)
}

async fn reply_to(
    replicas: &Replicas,
    session: &HttpSession,
    response: &envelope::Response<'_>,
) -> Option<Response<HttpBody>> {
    let id = response.id.as_ref()?;
    let place = Place::of(id).filter(|place| place.node != replicas.node)?;
    let message = Message::Reply {
        session: session.id.to_string(),
        caller: caller(session),
        response: text(id, response),
    };
    Some(
        match replicas.call(place.node, message, REPLY_WITHIN).await {
            // The call has ended, or its replica has. The stream of the call reports that, so the
            // answer needs no other response.
            Ok(_) | Err(CallFailed::NoSuchNode) => reply::empty(StatusCode::ACCEPTED),
            Err(late @ CallFailed::Late) => unreachable(&late),
        },
    )
}

/// Writes a response as JSON.
fn text(id: &IdRef<'_>, response: &envelope::Response<'_>) -> String {
    let id = serde_json::to_string(&id.clone().into_owned()).unwrap_or_default();
    let (name, value) = match &response.outcome {
        Ok(result) => ("result", result.value().get()),
        Err(error) => ("error", error.get()),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"{name}":{value}}}"#)
}

/// Cancels a request on the other replicas, because it does not run on this one.
fn cancel(
    replicas: &Arc<Replicas>,
    session: &HttpSession,
    notification: &Notification<'_>,
) -> Option<Response<HttpBody>> {
    let id = notification
        .params
        .get("requestId")
        .and_then(IdRef::from_raw)?;
    let id = id.into_owned();
    let reason = notification.params.get("reason").and_then(text_of);
    let reason = reason.as_deref().map(notification::shortened);
    if !session.running.cancel(&id, reason) {
        let message = Message::Cancel {
            session: session.id.to_string(),
            caller: caller(session),
            request: serde_json::to_string(&id).unwrap_or_default(),
            reason: reason.map(str::to_owned),
        };
        // It is unknown which replica runs the call, so the message goes to all of them.
        drop(replicas.tell_until_taken(message));
    }
    Some(reply::empty(StatusCode::ACCEPTED))
}

fn progress(
    replicas: &Arc<Replicas>,
    session: &HttpSession,
    notification: &Notification<'_>,
) -> Option<Response<HttpBody>> {
    let token = notification
        .params
        .get("progressToken")
        .and_then(IdRef::from_raw)?;
    let place = Place::of(&token).filter(|place| place.node != replicas.node)?;
    let message = Message::Progress {
        session: session.id.to_string(),
        caller: caller(session),
        params: notification.params.to_raw().get().to_owned(),
    };
    replicas.tell(Recipient::Node(place.node), message);
    Some(reply::empty(StatusCode::ACCEPTED))
}

/// The replica to which the client listens asks for the roots; all replicas drop their cached
/// roots.
fn roots_changed(replicas: &Arc<Replicas>, session: &HttpSession) -> Option<Response<HttpBody>> {
    let message = Message::RootsChanged {
        session: session.id.to_string(),
        caller: caller(session),
    };
    replicas.tell(Recipient::All, message);
    if session.is_listening() {
        return None;
    }
    session.peer.forget_roots();
    Some(reply::empty(StatusCode::ACCEPTED))
}
