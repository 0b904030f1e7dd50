//! Messages of a session: requests, notifications, responses.

use std::{
    future::{Future as _, poll_fn},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use http::{HeaderValue, Response, StatusCode};
use turnbuckle_protocol::{
    CancelledNotificationParams, ErrorObject, Revision,
    envelope::{Message, Notification, Request},
    http::header::SESSION_ID,
};
use turnbuckle_transport::Outbox;

use super::{body::HttpBody, reply, service::Site, session::HttpSession};
use crate::{
    Caller, answer,
    exchange::Step,
    handler::BoxFuture,
    method,
    peer::{Peer, Session},
    running::unless,
    sink::{self, Sink as _, Wrote},
};

/// `initialize`: a session opens, if the handshake succeeds.
pub(super) fn initialize(
    site: &Arc<Site>,
    caller: Caller,
    request: Request<'_>,
) -> Response<HttpBody> {
    let lifecycle = Arc::new(Session::default());
    let limits = site.shared.settings.limits;
    let outbox = Outbox::new(limits);
    let peer = Arc::new(Peer::new(
        caller.clone(),
        outbox,
        Some(Arc::clone(&lifecycle)),
    ));
    let id = request.id.clone().into_static();
    let mut response = sink::Response::default();
    method::serve(&site.shared, &peer, request, &mut response);
    if response.wrote != Wrote::Result {
        return reply::json(StatusCode::OK, response.message);
    }
    let opened = site
        .sessions
        .open(|session| HttpSession::new(session, caller, lifecycle, &site.settings, limits));
    match opened {
        Ok(session) => {
            let mut reply = reply::json(StatusCode::OK, response.message);
            let value = HeaderValue::from_str(&session.id).expect("an id is letters and digits");
            reply.headers_mut().insert(SESSION_ID, value);
            reply
        }
        Err(full) => {
            let error = ErrorObject::internal(full.to_string());
            reply::error(StatusCode::SERVICE_UNAVAILABLE, Some(&id), &error)
        }
    }
}

/// A notification or a response.
pub(super) fn accept(
    site: &Site,
    session: &HttpSession,
    message: &Message<'_>,
) -> Response<HttpBody> {
    if let Message::Notification(notification) = message {
        notice(site, session, notification);
    }
    reply::empty(StatusCode::ACCEPTED)
}

pub(super) fn notice(site: &Site, session: &HttpSession, notification: &Notification<'_>) {
    match &*notification.method {
        "notifications/initialized" => session.initialized(&site.shared),
        "notifications/cancelled" => {
            let params = notification.params.parse::<CancelledNotificationParams>();
            if let Some(id) = params.ok().and_then(|params| params.request_id) {
                session.running.cancel(&id);
            }
        }
        method => tracing::debug!(method, "a notification was ignored"),
    }
}

/// A request. Errors of the protocol are results of HTTP: a legacy client would take a 404 for the
/// end of its session.
pub(super) async fn serve(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    request: Request<'_>,
) -> Response<HttpBody> {
    if let Err(error) = session.running.check(&request) {
        return reply::error(StatusCode::OK, Some(&request.id), &error);
    }
    if session.open_streams() >= site.settings.max_streams {
        return too_many_streams(site);
    }
    let outbox = Outbox::new(site.shared.settings.limits);
    let peer = session.peer(outbox.clone());
    let id = request.id.clone();
    let mut response = sink::Response::default();
    match method::serve(&site.shared, &peer, request, &mut response) {
        Step::Done if outbox.pending_bytes() == 0 => reply::json(StatusCode::OK, response.message),
        Step::Done => {
            let _ = outbox.send(&response.message).await;
            outbox.close();
            stream(site, session, outbox, &[])
        }
        Step::Later(running) => {
            let exchange = Exchange::new(outbox);
            let id = id.into_owned();
            match spawn(session, &exchange, id.clone(), running) {
                Ok(()) => exchange.answer(site, session).await,
                Err(error) => reply::error(StatusCode::OK, Some(&id.as_ref()), &error),
            }
        }
    }
}

/// A refusal for a client that holds too many streams open.
pub(super) fn too_many_streams(site: &Site) -> Response<HttpBody> {
    let max = site.settings.max_streams;
    let message = format!("{max} streams of this session are open: close some first");
    reply::refuse(StatusCode::TOO_MANY_REQUESTS, reply::NOT_HERE, &message)
}

/// The messages of an exchange as a stream that can be resumed.
pub(super) fn stream(
    site: &Site,
    session: &HttpSession,
    outbox: Outbox,
    lines: &[u8],
) -> Response<HttpBody> {
    let stream = session.open_stream(outbox, &site.settings);
    // transports: since 2025-11-25 the first event primes the client to come back. Clients of
    // older revisions choke on an event without data.
    let mut first = match session.revision() {
        Revision::V2025_11_25 => stream.prime(site.settings.retry),
        _ => Vec::new(),
    };
    first.extend(stream.adopt(lines));
    reply::events(stream.read(None, first))
}

/// A call that goes on: it belongs to the session, not to the connection that brought it.
pub(super) fn spawn(
    session: &HttpSession,
    exchange: &Arc<Exchange>,
    id: turnbuckle_protocol::Id,
    running: BoxFuture<sink::Response>,
) -> Result<(), ErrorObject> {
    let (ticket, cancel) = session.running.begin(id)?;
    let exchange = Arc::clone(exchange);
    let table = session.running.clone();
    tokio::spawn(async move {
        match unless(&cancel, running).await {
            Some(response) => {
                let delivering = Box::pin(exchange.deliver(response));
                let _ = unless(&cancel, delivering).await;
            }
            // cancellation: no response is sent for a cancelled request.
            None => exchange.give_up(),
        }
        table.finish(&ticket);
    });
    Ok(())
}

/// One exchange of a session, between the task that serves it and the connection that waits.
pub(super) struct Exchange {
    outbox: Outbox,
    state: Mutex<State>,
}

enum State {
    /// Nobody knows yet whether the answer will be JSON or a stream.
    Waiting(Option<Waker>),
    /// It will be JSON.
    Ready(sink::Response),
    /// It is a stream.
    Streaming,
    /// There will be none.
    Cancelled,
}

impl Exchange {
    pub(super) fn new(outbox: Outbox) -> Arc<Self> {
        Arc::new(Self {
            outbox,
            state: Mutex::new(State::Waiting(None)),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands the response to the connection that waits, or puts it on the stream.
    async fn deliver(&self, response: sink::Response) {
        if let Some(response) = self.settle(response) {
            let _ = self.outbox.send(&response.message).await;
            self.outbox.close();
        }
    }

    /// Gives the response back if a stream is open for it.
    fn settle(&self, response: sink::Response) -> Option<sink::Response> {
        let mut state = self.state();
        let State::Waiting(waker) = &mut *state else {
            return Some(response);
        };
        let waker = waker.take();
        *state = State::Ready(response);
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        None
    }

    fn give_up(&self) {
        let state = std::mem::replace(&mut *self.state(), State::Cancelled);
        self.outbox.close();
        if let State::Waiting(Some(waker)) = state {
            waker.wake();
        }
    }

    /// Answers with whatever comes first: the response, something sent before it, or a long
    /// silence.
    async fn answer(
        self: Arc<Self>,
        site: &Arc<Site>,
        session: &HttpSession,
    ) -> Response<HttpBody> {
        let mut lines = Vec::new();
        let mut quiet = Box::pin(tokio::time::sleep(site.settings.keep_alive));
        poll_fn(|context| {
            let is_settled = match &mut *self.state() {
                State::Waiting(waker) => {
                    *waker = Some(context.waker().clone());
                    false
                }
                _ => true,
            };
            let has_lines = self.outbox.poll_lines(context, &mut lines).is_ready();
            if is_settled || has_lines {
                return Poll::Ready(());
            }
            quiet.as_mut().poll(context)
        })
        .await;
        let state = std::mem::replace(&mut *self.state(), State::Streaming);
        match state {
            State::Ready(response) if lines.is_empty() => {
                return reply::json(StatusCode::OK, response.message);
            }
            State::Ready(response) => {
                self.outbox.clone().put(|out| {
                    out.extend_from_slice(&response.message);
                    response.wrote
                });
                self.outbox.close();
            }
            State::Waiting(_) | State::Streaming | State::Cancelled => {}
        }
        stream(site, session, self.outbox.clone(), &lines)
    }
}

/// Writes an error response into a buffer of its own.
pub(super) fn error_message(id: &turnbuckle_protocol::IdRef<'_>, error: &ErrorObject) -> Vec<u8> {
    let mut message = Vec::new();
    answer::write_error(Ok(id), error, &mut message);
    message
}
