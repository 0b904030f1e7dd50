//! Messages of a session: requests, notifications, responses.

use std::sync::Arc;

use http::{HeaderValue, Response, StatusCode, request::Parts};
use turnbuckle_protocol::{
    Id,
    envelope::{self, Message, Raw, Request},
};
use turnbuckle_session::Era;
use turnbuckle_store::session::SessionChange;
use turnbuckle_transport::Outbox;

use super::{
    at_replica::AtReplica,
    body::HttpBody,
    event_id::Carries,
    guard,
    header_name::SESSION_ID,
    notes, reply, routed,
    session::HttpSession,
    session_exchange::SessionExchange,
    session_stream,
    sessions::{self, NoSession},
    site::Site,
};
use crate::{
    Caller,
    client::{
        Peer, Session,
        keep_alive::{self as pings, Reach},
        requests,
    },
    edge::notification,
    engine::{
        Served, Wrote, admission,
        budget::Charge,
        method, sink,
        unsent::{self, Unsent},
    },
    replica::{HandshakeRest, Place, Replicas},
};

/// Handles `initialize`: opens a session if the handshake succeeds.
pub(super) async fn initialize(
    site: &Arc<Site>,
    parts: &Parts,
    request: &Request<'_>,
) -> Response<HttpBody> {
    let (caller, key) = (site.caller(parts), site.key(parts));
    let kept = method::kept_bytes(&request.params);
    let has_room = || site.shared.allowances.kept.has_room(key, kept);
    if let Err(over) = site.shared.allowances.kept.check_part(kept) {
        return NoSession::NoMemory(over).refuse(Some(&request.id));
    }
    if let Err(full) = site.sessions.make_room(key, has_room) {
        return full.refuse(Some(&request.id));
    }
    let place = site
        .shared
        .replicas
        .as_ref()
        .map(|replicas| replicas.new_place());
    let lifecycle = Session::new(site.shared.context.changes.hub(), key)
        .with_notices(site.shared.notices_of(&caller));
    let lifecycle = Arc::new(match place {
        Some(place) => lifecycle.with_prefix(&place.prefix()),
        None => lifecycle,
    });
    let limits = site.shared.settings.limits;
    let peer = Arc::new(Peer::new(
        caller.clone(),
        Outbox::new(limits),
        Some(Arc::clone(&lifecycle)),
        site.closing.clone(),
    ));
    let mut response = sink::Response::default();
    match admission::admit(&site.shared, &peer, Era::Legacy, request) {
        Ok(incoming) => drop(method::serve(&site.shared, &incoming, &mut response)),
        Err(inadmissible) => inadmissible.refuse(&request.id, &mut response),
    }
    if response.wrote != Wrote::Result {
        return reply::whole(StatusCode::OK, response);
    }
    let (id, at) = match Box::pin(named(site, &peer, place)).await {
        Ok(named) => named,
        Err(refused) => return refused.refuse(Some(&request.id)),
    };
    if let Err(full) = make_room_everywhere(site, parts, &caller) {
        return full.refuse(Some(&request.id));
    }
    let opened = site.sessions.open(id, key, |id| {
        let (closing, payer) = (site.closing.clone(), site.payer(parts));
        HttpSession::new(id, at, caller, lifecycle, limits, closing, payer)
    });
    match opened {
        Ok(session) => {
            let mut reply = reply::whole(StatusCode::OK, response);
            let value = HeaderValue::from_str(&session.id).expect("an id is letters and digits");
            reply.headers_mut().insert(&SESSION_ID, value);
            reply
        }
        Err(full) => full.refuse(Some(&request.id)),
    }
}

/// Ends a session of the caller if it has too many on all replicas together.
fn make_room_everywhere(site: &Site, parts: &Parts, caller: &Caller) -> Result<(), NoSession> {
    // There may be many callers with unknown addresses, so each replica counts them on its own.
    let counted = site.counted(parts);
    let counted = counted.filter(|counted| !counted.is_unknown(caller));
    let (Some(replicas), Some(counted)) = (&site.shared.replicas, counted) else {
        return Ok(());
    };
    let name = || counted.name(caller).into();
    let Some(ended) = site.sessions.make_room_everywhere(counted.key, name)? else {
        return Ok(());
    };
    let others = Arc::clone(replicas);
    // This task ends when the other replicas know it, or cannot be told.
    replicas.spawn(async move {
        if let Err(error) = notes::share(&others, &ended, SessionChange::End).await {
            tracing::warn!(
                reason = error.message,
                "a session was ended on this replica, but the other replicas could not be told"
            );
        }
    });
    Ok(())
}

/// Makes the id of a new session: random, or an encrypted handshake if there are replicas.
async fn named(
    site: &Site,
    peer: &Peer,
    place: Option<Place>,
) -> Result<(Box<str>, Option<AtReplica>), NoSession> {
    let (Some(replicas), Some(place)) = (&site.shared.replicas, place) else {
        return Ok((sessions::new_id()?, None));
    };
    let no_handshake = || NoSession::NoId("the session ended during `initialize`".into());
    let handshake = {
        let lifecycle = peer.lifecycle().ok_or_else(no_handshake)?;
        let revision = lifecycle.revision().ok_or_else(no_handshake)?;
        let opened = lifecycle.client().ok_or_else(no_handshake)?;
        let rest = HandshakeRest {
            caller: peer.caller().id().map(str::to_owned),
            info: opened.client.info.clone(),
            capabilities: opened.client.capabilities.clone(),
        };
        Replicas::handshake(revision, &opened.promised, rest)
    };
    let left = replicas.time_left(&handshake);
    let (id, key) = replicas.make_id(handshake).await.map_err(NoSession::NoId)?;
    Ok((id.into(), Some(AtReplica::new(replicas, place, key, left))))
}

/// Handles a notification or a response.
pub(super) async fn accept(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    message: &Message<'_>,
) -> Response<HttpBody> {
    if let Some(replicas) = &site.shared.replicas
        && let Some(answer) = Box::pin(routed::accept(replicas, session, message)).await
    {
        return answer;
    }
    match message {
        Message::Notification(notification) => {
            notification::take(&site.shared, &session.peer, &session.running, notification);
            if notification.method == "notifications/initialized" {
                keep_alive(site, session);
            }
        }
        Message::Response(response) => {
            session.peer.answer(response);
        }
        Message::Request(_) => {}
    }
    reply::empty(StatusCode::ACCEPTED)
}

/// Fails the question to which an unreadable answer belongs, on the replica that asked it.
pub(super) async fn unanswered(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    id: &Id,
    problem: &str,
) {
    let error = requests::unreadable(problem);
    if let Ok(error) = serde_json::value::to_raw_value(&error) {
        let response = envelope::Response::new(Some(id.as_ref()), Err(Raw::from(&*error)));
        accept(site, session, &Message::Response(response)).await;
    }
}

/// Pings the client from now on while it listens, if the settings require that. If the client has
/// failed, its session ends. A client that still runs can open another session.
pub(super) fn keep_alive(site: &Arc<Site>, session: &Arc<HttpSession>) {
    let pings = site.shared.settings.keep_alive;
    let Some(pings) = pings.filter(|_| session.peer.begin_pings()) else {
        return;
    };
    let peer = Arc::clone(&session.peer);
    let (site, session) = (Arc::downgrade(site), Arc::downgrade(session));
    // This task ends with the session, which closes its outbox.
    tokio::spawn(async move {
        let reach = || match session.upgrade() {
            Some(session) if session.is_listening() => Reach::Listening,
            Some(_) => Reach::Away,
            None => Reach::Over,
        };
        let has_failed = pings::has_failed(peer, pings, reach).await;
        if let (true, Some(site), Some(session)) = (has_failed, site.upgrade(), session.upgrade()) {
            site.sessions.end(&session);
        }
    });
}

/// Handles a request. JSON-RPC errors are sent with status 200, because legacy clients take a 404
/// for the end of their session.
pub(super) async fn serve(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    caller: Caller,
    request: &Request<'_>,
    charge: &mut Option<Charge>,
) -> Response<HttpBody> {
    if let Err(error) = session.running.check(request) {
        return reply::error(StatusCode::OK, Some(&request.id), &error);
    }
    if let Some(refused) = session_stream::check_count(site, session) {
        return refused;
    }
    let outbox = unsent::outbox(&site.shared, session.payer_key());
    let peer = session.peer_of(caller, outbox.clone());
    let mut response = sink::Response::default();
    let served = match admission::admit(&site.shared, &peer, Era::Legacy, request) {
        Ok(incoming) => {
            if let Some(refused) = guard::check_scopes(site, &incoming) {
                return refused;
            }
            method::serve(&site.shared, &incoming, &mut response)
        }
        Err(inadmissible) => {
            inadmissible.refuse(&request.id, &mut response);
            Served::Done
        }
    };
    let Some(running) = served.later(&peer) else {
        if let Some(replicas) = &site.shared.replicas
            && response.wrote == Wrote::Result
            && let Some(change) = notes::of(request)
            && let Err(error) = Box::pin(notes::share(replicas, session, change)).await
        {
            return reply::error(StatusCode::OK, Some(&request.id), &error);
        }
        let payer = || session.payer_key();
        let response = unsent::pay(&site.shared, response, &request.id, payer);
        if outbox.pending_bytes() == 0 {
            return reply::whole(StatusCode::OK, response);
        }
        response.push_to(&outbox);
        outbox.close();
        let carries = Carries::Call(Some(request.id.clone().into_owned()));
        return session_stream::open(site, session, outbox, &carries);
    };
    // The call continues without the connection that carried the request.
    let running = match charge.take_if(|charge| !charge.is_small()) {
        Some(charge) => charge.hold(running),
        None => running,
    };
    let running = match &site.shared.replicas {
        Some(replicas) => notes::shared_after(replicas, session, request, running),
        None => running,
    };
    let id = request.id.clone().into_owned();
    let unsent = Unsent::of(&site.shared, session.payer_key());
    match SessionExchange::spawn(session, outbox, id, running, unsent) {
        Ok(exchange) => exchange.answer(site, session).await,
        Err(error) => reply::error(StatusCode::OK, Some(&request.id), &error),
    }
}
