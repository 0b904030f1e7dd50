//! HTTP+SSE, the transport of 2024-11-05: a stream of events, and an endpoint for POST requests.
//!
//! The session is the stream: it begins with a `GET`, whose first event tells the client where to
//! post, and ends with the connection.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{Response, StatusCode, request::Parts};
use http_body::Body;
use turnbuckle_protocol::{
    ErrorObject,
    envelope::{self, Frame, Message},
};
use turnbuckle_session::Era;
use turnbuckle_store::bus::NodeId;
use turnbuckle_transport::{Held, Outbox, http::sse};

use super::{
    body::{HttpBody, StreamBody},
    elsewhere,
    keep_alive::{KeepAlive, append_lines},
    media, mirror, named_session, read, reply, routed,
    sessions::{self, NoSession},
    site::Site,
    sse_session::SseSession,
};
use crate::{
    Caller,
    client::Peer,
    edge::connection::Connection,
    engine::{
        admission,
        budget::{Charge, LARGE_BYTES},
    },
    replica::{CallFailed, Message as ToReplica, Outcome, Place, Replicas},
};

/// How long another replica may take to accept a message. It accepts none while its client does not
/// read.
const FORWARD_WITHIN: Duration = Duration::from_secs(25);

/// Opens the stream.
pub(super) fn open(site: &Arc<Site>, parts: &Parts) -> Response<HttpBody> {
    if let Some(refused) = named_session::check_repeated(parts, None) {
        return refused;
    }
    if !media::accepts(&parts.headers, b"text/event-stream") {
        return reply::refuse(
            StatusCode::NOT_ACCEPTABLE,
            "open the stream with `Accept: text/event-stream`",
        );
    }
    let caller = site.caller(parts);
    let open = |id| SseSession::new(id, caller, &site.shared, &site.payer(parts));
    let opened = new_id(site).and_then(|id| site.sessions.open_sse(id, site.key(parts), open));
    let session = match opened {
        Ok(session) => session,
        Err(full) => return full.refuse(None),
    };
    let mut start = Vec::new();
    // The path is relative to the stream's own URL, so that it works behind any prefix and proxy.
    let up = if parts.uri.path().ends_with('/') {
        "../"
    } else {
        ""
    };
    let place = format!("{up}messages?session={}", session.id);
    sse::Frame::of(place.as_bytes())
        .with_event("endpoint")
        .append_to(&mut start);
    reply::events(HttpBody::stream(SseBody {
        site: Arc::clone(site),
        session,
        start,
        keep_alive: KeepAlive::new(site.settings.keep_alive),
    }))
}

/// Handles a posted message; its answer is sent on the stream.
pub(super) async fn receive<B>(site: &Arc<Site>, parts: &Parts, body: B) -> Response<HttpBody>
where
    B: Body<Data = Bytes> + Send + 'static,
{
    if let Some(refused) = named_session::check_repeated(parts, None) {
        return refused;
    }
    if let Some(refused) = media::check_content(&parts.headers) {
        return refused;
    }
    let query = parts.uri.query().unwrap_or_default();
    let id = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("session="));
    let caller = site.caller(parts);
    if let Some(replicas) = &site.shared.replicas
        && let Some(id) = id
        && let Some((place, _)) = Place::split(id)
        && place.node != replicas.node
    {
        return Box::pin(forward(site, replicas, parts, body, (place.node, id))).await;
    }
    let Some(session) = id.and_then(|id| site.sessions.find_sse(id, caller.id())) else {
        return unknown();
    };
    let (body, paid) = match read::whole(body, site, || site.key(parts)).await {
        Ok(read) => read,
        Err(error) => return error.answer(),
    };
    // If the client posts but does not read, it waits here, so that answers do not fill the memory.
    if session.outbox.ready().await.is_err() {
        return reply::refuse(StatusCode::GONE, "the stream has ended");
    }
    let mut connection = session.connection();
    if site.guard.is_some() || site.shared.context.reads_http() {
        // The permissions of the caller can change from one token to the next, and so can the
        // headers of its requests.
        connection.called_by(caller);
    }
    if body.len() <= LARGE_BYTES {
        return take(site, parts, &connection, &body, paid);
    }
    let (shared, parts) = (Arc::clone(site), parts.clone());
    let taking = async move { take(&shared, &parts, &connection, &body, paid) };
    elsewhere::begin(&site.shared.allowances.budget, Box::pin(taking)).await
}

/// Makes the id of a new session. If there are replicas, it contains the replica that has the
/// stream.
fn new_id(site: &Site) -> Result<Box<str>, NoSession> {
    let id = sessions::new_id()?;
    Ok(match &site.shared.replicas {
        Some(replicas) => format!("{}{id}", replicas.new_place().prefix()).into(),
        None => id,
    })
}

fn unknown() -> Response<HttpBody> {
    let message = "the session is unknown, or its stream has ended: open a new stream";
    reply::refuse(StatusCode::NOT_FOUND, message)
}

/// Passes on a message for a session whose stream is on another replica.
async fn forward<B>(
    site: &Arc<Site>,
    replicas: &Arc<Replicas>,
    parts: &Parts,
    body: B,
    (node, session): (NodeId, &str),
) -> Response<HttpBody>
where
    B: Body<Data = Bytes> + Send + 'static,
{
    let (body, _paid) = match read::whole(body, site, || site.key(parts)).await {
        Ok(read) => read,
        Err(error) => return error.answer(),
    };
    if body.len() <= LARGE_BYTES {
        return send(site, replicas, parts, body, (node, session)).await;
    }
    let (shared, replicas) = (Arc::clone(site), Arc::clone(replicas));
    let (parts, session) = (parts.clone(), session.to_owned());
    let sending =
        async move { send(&shared, &replicas, &parts, body, (node, session.as_str())).await };
    elsewhere::begin(&site.shared.allowances.budget, Box::pin(sending)).await
}

/// Sends a message to the replica that has the stream of its session.
async fn send(
    site: &Arc<Site>,
    replicas: &Replicas,
    parts: &Parts,
    body: Bytes,
    (node, session): (NodeId, &str),
) -> Response<HttpBody> {
    if let Some(refused) = contradiction(site, parts, &body) {
        return refused;
    }
    let Ok(body) = String::from_utf8(body.into()) else {
        return reply::refuse(StatusCode::BAD_REQUEST, "the body is not UTF-8");
    };
    let caller = site.caller(parts);
    let message = ToReplica::Post {
        session: session.to_owned(),
        caller: caller.id().map(str::to_owned),
        scopes: caller.scopes().to_vec(),
        body,
    };
    match replicas.call(node, message, FORWARD_WITHIN).await {
        Ok(Outcome::Done) => reply::empty(StatusCode::ACCEPTED),
        Ok(_) | Err(CallFailed::NoSuchNode) => unknown(),
        Err(late @ CallFailed::Late) => routed::unreachable(&late),
    }
}

/// Handles a message that was posted to another replica; `None` if the session is not here.
pub(super) fn forwarded(
    site: &Arc<Site>,
    session: &str,
    caller: Option<&str>,
    scopes: &[String],
    body: &str,
) -> Option<BoxFuture<'static, Outcome>> {
    let session = site.sessions.find_sse(session, caller)?;
    let mut connection = session.connection();
    if let Some(id) = caller
        && site.guard.is_some()
    {
        // Other attributes that the guard set belong to the token that opened the session. They are
        // not used for a token with other scopes.
        let caller = if session.caller.scopes() == scopes {
            session.caller.clone()
        } else {
            Caller::new(id).with_scopes(scopes.iter().cloned())
        };
        connection.called_by(caller);
    }
    let (body, budget) = (body.to_owned(), Arc::clone(&site.shared.allowances.budget));
    Some(Box::pin(async move {
        if session.outbox.ready().await.is_err() {
            return Outcome::NotHere;
        }
        let is_large = body.len() > LARGE_BYTES;
        let taking = async move { connection.receive_paid(body.as_bytes(), None) };
        if is_large {
            elsewhere::begin(&budget, Box::pin(taking)).await;
        } else {
            taking.await;
        }
        Outcome::Done
    }))
}

fn take(
    site: &Arc<Site>,
    parts: &Parts,
    connection: &Connection,
    body: &[u8],
    paid: Option<Charge>,
) -> Response<HttpBody> {
    if let Some(refused) = contradiction(site, parts, body) {
        return refused;
    }
    connection.receive_paid(body, paid);
    reply::empty(StatusCode::ACCEPTED)
}

/// Returns a refusal if the headers of a modern request contradict its body.
///
/// The revision of HTTP+SSE does not have these headers, so they do not apply to messages of its
/// sessions. But a modern request is checked wherever it is posted, because a proxy may have acted
/// on its headers.
fn contradiction(site: &Arc<Site>, parts: &Parts, body: &[u8]) -> Option<Response<HttpBody>> {
    let max_nodes = site.shared.settings.limits.nodes_of(body.len());
    let parsed = envelope::parse_within(body, max_nodes);
    let Ok((Frame::One(Message::Request(request)), _)) = parsed else {
        return None;
    };
    if !admission::names_version(&request) || request.method == "initialize" {
        return None;
    }
    let outbox = Outbox::new(site.shared.settings.limits);
    let closing = site.closing.clone();
    let peer = Arc::new(Peer::new(site.caller(parts), outbox, None, closing));
    let admitted = admission::admit(&site.shared, &peer, Era::Modern, &request);
    let relay = site
        .shared
        .relay
        .as_deref()
        .map(|relay| (relay, peer.caller()));
    let problem = mirror::check(&parts.headers, &request, admitted.as_ref().ok(), relay).err()?;
    let error = ErrorObject::header_mismatch(problem);
    Some(reply::error(
        StatusCode::BAD_REQUEST,
        Some(&request.id),
        &error,
    ))
}

/// The event stream of a session.
struct SseBody {
    site: Arc<Site>,
    session: Arc<SseSession>,
    start: Vec<u8>,
    keep_alive: KeepAlive,
}

impl StreamBody for SseBody {
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = std::mem::take(&mut self.start);
        let mut held = Held::default();
        if events.is_empty() {
            let (outbox, mut lines) = (&self.session.outbox, Vec::new());
            if outbox.poll_lines_holding(context, &mut lines, &mut held) == Poll::Ready(None) {
                return Poll::Ready(None);
            }
            append_lines(&lines, &mut events);
        }
        self.keep_alive.poll_piece(context, events, held)
    }
}

impl Drop for SseBody {
    /// The session ends with its stream.
    fn drop(&mut self) {
        self.site.sessions.end_sse(&self.session.id);
        self.session.outbox.close();
    }
}
