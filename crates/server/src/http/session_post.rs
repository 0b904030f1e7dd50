//! Messages of a session: requests, notifications, responses.

use std::sync::Arc;

use http::{HeaderValue, Response, StatusCode};
use turnbuckle_protocol::{
    CancelledNotificationParams, ErrorObject,
    envelope::{Message, Notification, Request},
    http::header::SESSION_ID,
};
use turnbuckle_transport::Outbox;

use super::{
    body::HttpBody, event_stream::Begin, reply, service::Site, session::HttpSession,
    session_exchange::Exchange, turn::Source,
};
use crate::{
    Caller, method,
    peer::{Peer, Session},
    roots,
    sink::{self, Wrote},
};

/// `initialize`: a session opens, if the handshake succeeds.
pub(super) fn initialize(
    site: &Arc<Site>,
    caller: Caller,
    request: Request<'_>,
) -> Response<HttpBody> {
    let lifecycle = Arc::new(Session::new(site.shared.office.hub()));
    let limits = site.shared.settings.limits;
    let outbox = Outbox::new(limits);
    let peer = Arc::new(Peer::new(
        caller.clone(),
        outbox,
        Some(Arc::clone(&lifecycle)),
        site.closing.clone(),
    ));
    let id = request.id.clone().into_static();
    let mut response = sink::Response::default();
    method::serve(&site.shared, &peer, request, &mut response);
    if response.wrote != Wrote::Result {
        return reply::whole(StatusCode::OK, response);
    }
    let opened = site
        .sessions
        .open(|id| HttpSession::new(id, caller, lifecycle, limits, site.closing.clone()));
    match opened {
        Ok(session) => {
            let mut reply = reply::whole(StatusCode::OK, response);
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
    match message {
        Message::Notification(notification) => notice(site, session, notification),
        Message::Response(response) => session.lifecycle.requests.answer(response),
        Message::Request(_) => {}
    }
    reply::empty(StatusCode::ACCEPTED)
}

pub(super) fn notice(site: &Site, session: &HttpSession, notification: &Notification<'_>) {
    match &*notification.method {
        "notifications/initialized" => session.initialized(),
        "notifications/cancelled" => {
            let params = notification.params.parse::<CancelledNotificationParams>();
            if let Some(id) = params.ok().and_then(|params| params.request_id) {
                session.running.cancel(&id);
            }
        }
        "notifications/roots/list_changed" => {
            if let Some(hook) = &site.shared.on_roots_changed {
                roots::changed(hook, session.standing_peer());
            }
        }
        method => {
            let extensions = &site.shared.extensions;
            if !extensions.notify(method, &notification.params, &session.caller) {
                tracing::debug!(method, "a notification was ignored");
            }
        }
    }
}

/// A request. Errors of the protocol are results of HTTP: a legacy client would take a 404 for the
/// end of its session.
pub(super) async fn serve(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    caller: Caller,
    request: Request<'_>,
) -> Response<HttpBody> {
    if let Err(error) = session.running.check(&request) {
        return reply::error(StatusCode::OK, Some(&request.id), &error);
    }
    if session.open_streams() >= site.settings.max_streams {
        return too_many_streams(site);
    }
    let outbox = Outbox::new(site.shared.settings.limits);
    let peer = session.peer(caller, outbox.clone());
    let id = request.id.clone();
    let mut response = sink::Response::default();
    let step = method::serve(&site.shared, &peer, request, &mut response);
    let Some(running) = step.later(&peer) else {
        if outbox.pending_bytes() == 0 {
            return reply::whole(StatusCode::OK, response);
        }
        outbox.push(&response.into_message());
        outbox.close();
        return stream(site, session, outbox, Vec::new());
    };
    let id = id.into_owned();
    match Exchange::spawn(session, outbox, id.clone(), running) {
        Ok(exchange) => exchange.answer(site, session).await,
        Err(error) => reply::error(StatusCode::OK, Some(&id.as_ref()), &error),
    }
}

/// A refusal for a client that holds too many streams open.
pub(super) fn too_many_streams(site: &Site) -> Response<HttpBody> {
    let max = site.settings.max_streams;
    let message = format!("{max} streams of this session are open: close some first");
    reply::refuse(StatusCode::TOO_MANY_REQUESTS, reply::NOT_HERE, &message)
}

/// The messages of an exchange as a stream that can be resumed; `lines` were taken already.
pub(super) fn stream(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    outbox: Outbox,
    lines: Vec<u8>,
) -> Response<HttpBody> {
    let source = Arc::new(Source::new(outbox));
    let stream = session.open_stream(source, &site.settings);
    reply::events(stream.read(site, session, Begin::With(lines)))
}
