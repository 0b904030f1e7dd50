//! Handles messages from other replicas.

use std::{
    future::{Future as _, poll_fn, ready},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::envelope::{self, Frame, Message as Incoming};
use turnbuckle_transport::Held;

use super::{
    event_stream::{Begin, EventStream},
    http_sse, notes,
    replay::AfterEvents,
    runs::{self, ForwardedRequest},
    session::HttpSession,
    site::Site,
};
use crate::{
    client::roots,
    replica::{Message, MessageHandler, Outcome, Pulled},
};

/// The longest time that another replica waits for the next event. Then it asks again.
const MAX_WAIT: Duration = Duration::from_secs(20);

impl MessageHandler for Site {
    fn take(self: Arc<Self>, message: &Message) -> Option<BoxFuture<'static, Outcome>> {
        let done = || -> BoxFuture<'static, Outcome> { Box::pin(ready(Outcome::Done)) };
        match message {
            Message::Reply {
                session,
                caller,
                response,
            } => {
                let session = self.of_caller(session, caller.as_deref())?;
                reply(&session, response).then(done)
            }
            Message::Progress {
                session,
                caller,
                params,
            } => {
                let session = self.of_caller(session, caller.as_deref())?;
                let report = serde_json::from_str(params).ok()?;
                session.peer.take_progress(report);
                Some(done())
            }
            Message::Cancel {
                session,
                caller,
                request,
                reason,
            } => {
                let session = self.of_caller(session, caller.as_deref())?;
                let id = serde_json::from_str(request).ok()?;
                session.running.cancel(&id, reason.as_deref()).then(done)
            }
            Message::RootsChanged { session, caller } => {
                self.forget_roots(&*self.of_caller(session, caller.as_deref())?);
                Some(done())
            }
            Message::Visit {
                session,
                caller,
                visit,
            } => self
                .expect_visit(session, caller.as_deref(), visit)
                .then(done),
            Message::Noted { session } => {
                let session = self.sessions.held(session)?;
                session.at.as_ref()?.changed();
                // A client that listens gets notifications without a call, so the changes are read
                // now.
                Some(Box::pin(async move {
                    notes::catch_up(&self, &session).await;
                    Outcome::Done
                }))
            }
            Message::Ended { session } => {
                let session = self.sessions.held(session)?;
                self.sessions.end(&session);
                Some(done())
            }
            Message::Pull {
                session,
                caller,
                place,
                stream,
                event,
                wait_ms,
            } => {
                let session = self.of_caller(session, caller.as_deref())?;
                if session.at.as_ref()?.place.number != *place {
                    return None;
                }
                let stream = session.stream(*stream, &self.settings)?;
                let wait = Duration::from_millis(*wait_ms).min(MAX_WAIT);
                Some(Box::pin(pull(self, session, stream, *event, wait)))
            }
            Message::Post {
                session,
                caller,
                scopes,
                body,
            } => http_sse::forwarded(&self, session, caller.as_deref(), scopes, body),
            Message::Run {
                key,
                caller,
                scopes,
                request,
                after,
                wait_ms,
            } => {
                let forwarded = ForwardedRequest {
                    key,
                    caller: caller.as_deref(),
                    scopes,
                    request,
                    after: *after,
                    wait: Duration::from_millis(*wait_ms),
                };
                runs::run(&self, &forwarded)
            }
            Message::Stop { key } => {
                runs::stop(&self, key)?;
                Some(done())
            }
            Message::TasksLeft { .. } | Message::Unknown => None,
        }
    }
}

impl Site {
    /// Finds the session with this id, if it is here and belongs to this caller.
    fn of_caller(&self, id: &str, caller: Option<&str>) -> Option<Arc<HttpSession>> {
        let session = self.sessions.held(id)?;
        (session.peer.caller().id() == caller).then_some(session)
    }
}

impl Site {
    /// Registers the end of an elicitation for a session that is here. Returns `false` if it is not
    /// here.
    fn expect_visit(&self, session: &str, caller: Option<&str>, visit: &str) -> bool {
        let session = self.of_caller(session, caller);
        session
            .inspect(|session| session.lifecycle().listener().add_visit(visit))
            .is_some()
    }

    /// Drops the cached roots of a session, and asks for them again if its client listens here.
    fn forget_roots(&self, session: &HttpSession) {
        session.peer.forget_roots();
        if let Some(hook) = &self.shared.on_roots_changed
            && session.is_listening()
        {
            roots::changed(hook, Arc::clone(&session.peer));
        }
    }
}

/// Handles an answer of the client that was posted to another replica. Returns whether it was
/// awaited.
fn reply(session: &HttpSession, response: &str) -> bool {
    match envelope::parse(response.as_bytes()) {
        Ok(Frame::One(Incoming::Response(response))) => session.peer.answer(&response),
        _ => false,
    }
}

/// A reader of a stream on another replica.
struct RemoteReader {
    site: Arc<Site>,
    session: Arc<HttpSession>,
    stream: Arc<EventStream>,
    number: u64,
}

impl Drop for RemoteReader {
    fn drop(&mut self) {
        self.stream.leave(self.number);
        self.stream.log_on(&self.site.settings);
        self.session.touch();
    }
}

/// Returns the messages of a stream after an event: those that are ready, or the first that arrive
/// within `wait`.
async fn pull(
    site: Arc<Site>,
    session: Arc<HttpSession>,
    stream: Arc<EventStream>,
    event: u64,
    wait: Duration,
) -> Outcome {
    let (number, mut events, mut then) = stream.join(Begin::After(event), &site.settings);
    let reader = RemoteReader {
        site: Arc::clone(&site),
        session,
        stream,
        number,
    };
    let mut is_over = false;
    let mut late = pin!(tokio::time::sleep(wait));
    poll_fn(|context| {
        if then == AfterEvents::Stay {
            let stream = &reader.stream;
            let mut held = Held::default();
            match stream.poll_events(number, context, &site.settings, &mut events, &mut held) {
                Some(next) => then = next,
                None => is_over = true,
            }
        }
        if is_over || then == AfterEvents::Detach || !events.is_empty() {
            return Poll::Ready(());
        }
        late.as_mut().poll(context)
    })
    .await;
    Outcome::Pulled(Pulled {
        events: String::from_utf8(events).unwrap_or_default(),
        is_over: is_over || then == AfterEvents::Detach,
    })
}
