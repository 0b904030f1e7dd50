//! Changes of a session by its client, stored for all replicas that serve it.

use std::{
    borrow::Cow,
    sync::{Arc, Weak},
    time::Duration,
};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{ErrorObject, LoggingLevel, envelope::Request};
use turnbuckle_store::{StoreError, session::SessionChange};

use super::{at_replica::AtReplica, session::HttpSession, site::Site};
use crate::{
    engine::{Sink as _, Wrote, answer, sink},
    replica::{Message, Replicas},
    subscription::Subject,
};

/// How long a call waits for changes that other replicas made in its session. After that it
/// continues with the state of this replica.
const READ_WITHIN: Duration = Duration::from_millis(500);

/// How long storing a change may take.
const WRITE_WITHIN: Duration = Duration::from_secs(5);

/// How long a client waits until the other replicas know its change. A late replica does not keep
/// the client waiting, and gets the change later.
const KNOWN_WITHIN: Duration = Duration::from_secs(2);

/// How often reading a change of another replica is tried: for about a minute.
const MAX_TRIES: usize = 60;

/// Returns the change of a session that a request makes, if any.
pub(super) fn of(request: &Request<'_>) -> Option<SessionChange> {
    let text = |name| request.params.text(name).map(Cow::into_owned);
    match &*request.method {
        "logging/setLevel" => text("level").map(SessionChange::LogLevel),
        "resources/subscribe" => text("uri").map(SessionChange::Subscribe),
        "resources/unsubscribe" => text("uri").map(SessionChange::Unsubscribe),
        _ => None,
    }
}

/// Stores a change and tells the other replicas. When it returns, every replica that serves the
/// session knows the change, unless it is late.
///
/// # Errors
/// The error for the client if only this replica knows of the change.
pub(super) async fn share(
    replicas: &Arc<Replicas>,
    session: &HttpSession,
    change: SessionChange,
) -> Result<(), ErrorObject> {
    let Some(at) = &session.at else { return Ok(()) };
    let is_end = change == SessionChange::End;
    let writing = async {
        let _turn = at.turn().await;
        let written = replicas
            .sessions
            .write(&at.key, change.clone(), at.left())
            .await?;
        if written {
            // Applied again, because older changes that were read before this one was stored may
            // have undone it.
            apply(session, &change);
        }
        Ok::<_, StoreError>(written)
    };
    match tokio::time::timeout(WRITE_WITHIN, writing).await {
        Ok(Ok(true)) => {}
        // The session had ended before, or there are too many changes.
        Ok(Ok(false)) if is_end => {}
        Ok(Ok(false)) => {
            return Err(ErrorObject::internal(
                "the session has ended, or has reached its limit of subscribed resources",
            ));
        }
        failed => {
            if let Ok(Err(error)) = failed {
                tracing::error!(
                    %error,
                    "a change of a session cannot be written to the shared store"
                );
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
    replicas.tell_all(message, KNOWN_WITHIN).await;
    Ok(())
}

/// Like [`share`], for a request that a relay answers later: the change is shared before the client
/// gets the answer.
pub(super) fn shared_after(
    replicas: &Arc<Replicas>,
    session: &Arc<HttpSession>,
    request: &Request<'_>,
    running: BoxFuture<'static, sink::Response>,
) -> BoxFuture<'static, sink::Response> {
    let Some(change) = of(request) else {
        return running;
    };
    let (replicas, session) = (Arc::clone(replicas), Arc::clone(session));
    let id = request.id.clone().into_static();
    Box::pin(async move {
        let response = running.await;
        if response.wrote != Wrote::Result {
            return response;
        }
        match share(&replicas, &session, change).await {
            Ok(()) => response,
            Err(error) => {
                let mut refused = sink::Response::default();
                refused.put(|out| answer::write_error(Ok(&id), &error, out));
                refused
            }
        }
    })
}

/// Applies a change to the session on this replica.
fn apply(session: &HttpSession, change: &SessionChange) {
    match change {
        SessionChange::Subscribe(uri) => {
            let mut listener = session.lifecycle().listener();
            // If there is no room, the client has already been told.
            let _ = listener.add(Subject::Resource(uri.as_str().into()));
        }
        SessionChange::Unsubscribe(uri) => session.lifecycle().listener().remove_resource(uri),
        SessionChange::LogLevel(level) => set_log_level(session, level.clone()),
        SessionChange::End => {}
    }
}

fn set_log_level(session: &HttpSession, level: String) {
    let level = serde_json::from_value::<LoggingLevel>(level.into());
    if let Ok(level) = level {
        session.peer.set_log_level(level);
    }
}

/// Reads the changes that another replica reported. A client that listens here may send no call for
/// long, so a task per session tries again while the store cannot be reached.
pub(super) async fn catch_up(site: &Arc<Site>, session: &Arc<HttpSession>) {
    if refresh(site, session).await {
        go_on_reading(site, session);
    } else {
        site.sessions.end(session);
    }
}

/// Starts a task that reads the changes of a session, if they could not be read now. Must be called
/// inside a runtime.
pub(super) fn go_on_reading(site: &Arc<Site>, session: &Arc<HttpSession>) {
    let is_behind = session
        .at
        .as_ref()
        .is_some_and(AtReplica::begin_catching_up);
    if is_behind {
        // This task ends with the session, or after the last try.
        tokio::spawn(try_again(Arc::downgrade(site), Arc::downgrade(session)));
    }
}

async fn try_again(site: Weak<Site>, session: Weak<HttpSession>) {
    for left in (0..MAX_TRIES).rev() {
        let next_try = |session: &HttpSession| session.at.as_ref()?.next_try(left);
        let Some(pause) = session.upgrade().as_deref().and_then(next_try) else {
            return;
        };
        tokio::time::sleep(pause).await;
        let (Some(site), Some(session)) = (site.upgrade(), session.upgrade()) else {
            return;
        };
        if !refresh(&site, &session).await {
            return site.sessions.end(&session);
        }
    }
}

/// Reads the changes that other replicas made in a session, if there are any. Returns `false` if
/// the session has ended.
pub(super) async fn refresh(site: &Site, session: &HttpSession) -> bool {
    let (Some(replicas), Some(at)) = (&site.shared.replicas, &session.at) else {
        return true;
    };
    if at.unread().is_none() {
        return true;
    }
    let reading = async {
        let turn = at.turn().await;
        // Another call may have read them in the meantime.
        let Some(made) = at.unread() else {
            return Ok(None);
        };
        let state = replicas.sessions.read(&at.key).await?;
        Ok::<_, StoreError>(Some((turn, made, state)))
    };
    let (_turn, made, state) = match tokio::time::timeout(READ_WITHIN, reading).await {
        Ok(Ok(Some(read))) => read,
        Ok(Ok(None)) => return true,
        failed => {
            let error = failed.ok().and_then(Result::err);
            let error = error.as_ref().map(tracing::field::display);
            tracing::warn!(
                error,
                "changes of a session cannot be read from the shared store"
            );
            at.could_not_read();
            return true;
        }
    };
    if state.is_ended {
        return false;
    }
    if let Some(level) = state.log_level {
        set_log_level(session, level);
    }
    session
        .lifecycle()
        .listener()
        .set_resources(&state.resources);
    at.has_read(made);
    true
}
