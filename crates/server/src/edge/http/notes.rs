//! What a client changes in its session, for all replicas that serve it.

use std::{borrow::Cow, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{ErrorObject, LoggingLevel, envelope::Request};
use turnbuckle_store::{bus::Recipient, session::Note};

use super::{session::HttpSession, site::Site};
use crate::{
    engine::{Sink as _, Wrote, answer, sink},
    replica::{Message, Replicas},
};

/// How long a call waits for what other replicas changed in its session. Without it the call goes on
/// with what is known here.
const READ_WITHIN: Duration = Duration::from_millis(500);

/// How long a change may take to be written.
const WRITE_WITHIN: Duration = Duration::from_secs(5);

/// What a request changes in its session, if anything.
pub(super) fn of(request: &Request<'_>) -> Option<Note> {
    let text = |name| request.params.text(name).map(Cow::into_owned);
    match &*request.method {
        "logging/setLevel" => text("level").map(Note::LogLevel),
        "resources/subscribe" => text("uri").map(Note::Subscribe),
        "resources/unsubscribe" => text("uri").map(Note::Unsubscribe),
        _ => None,
    }
}

/// Writes a change down and tells the others. When it returns, every replica that serves the session
/// hears of it, or will when it is asked.
///
/// # Errors
/// What to tell the client if the change is known here alone.
pub(super) async fn share(
    replicas: &Arc<Replicas>,
    session: &HttpSession,
    note: Note,
) -> Result<(), ErrorObject> {
    let Some(at) = &session.at else { return Ok(()) };
    let is_end = note == Note::End;
    let writing = replicas.sessions.write(&at.key, note, at.left());
    match tokio::time::timeout(WRITE_WITHIN, writing).await {
        Ok(Ok(true)) => {}
        // It had ended before, or there are too many.
        Ok(Ok(false)) if is_end => {}
        Ok(Ok(false)) => {
            return Err(ErrorObject::internal(
                "the session has ended, or is subscribed to as many resources as there may be",
            ));
        }
        failed => {
            if let Ok(Err(error)) = failed {
                tracing::error!(%error, "a change of a session cannot be written");
            }
            return Err(ErrorObject::internal(
                "the change cannot be shared with the other replicas now: try again later",
            ));
        }
    }
    let id = session.id.to_string();
    let message = if is_end {
        Message::Ended { session: id }
    } else {
        Message::Noted { session: id }
    };
    replicas.send_message(Recipient::All, message).await;
    Ok(())
}

/// The same for a request that is answered later, by a relay: what it changes is shared before its
/// client hears of it.
pub(super) fn shared_after(
    replicas: &Arc<Replicas>,
    session: &Arc<HttpSession>,
    request: &Request<'_>,
    running: BoxFuture<'static, sink::Response>,
) -> BoxFuture<'static, sink::Response> {
    let Some(note) = of(request) else {
        return running;
    };
    let (replicas, session) = (Arc::clone(replicas), Arc::clone(session));
    let id = request.id.clone().into_static();
    Box::pin(async move {
        let response = running.await;
        if response.wrote != Wrote::Result {
            return response;
        }
        match share(&replicas, &session, note).await {
            Ok(()) => response,
            Err(error) => {
                let mut refused = sink::Response::default();
                refused.put(|out| answer::write_error(Ok(&id), &error, out));
                refused
            }
        }
    })
}

/// Reads what other replicas changed in a session, if anything. False if the session has ended.
pub(super) async fn refresh(site: &Site, session: &HttpSession) -> bool {
    let (Some(replicas), Some(at)) = (&site.shared.replicas, &session.at) else {
        return true;
    };
    let Some(made) = at.unread() else { return true };
    let reading = replicas.sessions.read(&at.key);
    let notes = match tokio::time::timeout(READ_WITHIN, reading).await {
        Ok(Ok(notes)) => notes,
        failed => {
            let error = failed.ok().and_then(Result::err);
            let error = error.as_ref().map(tracing::field::display);
            tracing::warn!(error, "changes of a session cannot be read");
            at.could_not_read();
            return true;
        }
    };
    if notes.is_ended {
        return false;
    }
    let level = notes.log_level.map(serde_json::Value::String);
    let level = level.and_then(|level| serde_json::from_value::<LoggingLevel>(level).ok());
    if let Some(level) = level {
        session.peer.set_log_level(level);
    }
    session
        .lifecycle()
        .listener()
        .set_resources(&notes.resources);
    at.has_read(made);
    true
}
