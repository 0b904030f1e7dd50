//! `GET` and `DELETE <endpoint>`: the standing stream of a session, resuming a stream, and the end.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts};
use turnbuckle_protocol::{
    Revision,
    http::header::{LAST_EVENT_ID, PROTOCOL_VERSION},
};

use super::{
    body::HttpBody, event_stream::Begin, media, post, replay::parse_id, reply, service::Site,
    session_post,
};

/// Opens the standing stream, or resumes one that broke.
pub(super) fn open(site: &Arc<Site>, parts: &Parts) -> Response<HttpBody> {
    if let Some(revision) = without_sessions(parts) {
        // streamable-http: GET and DELETE are gone from 2026-07-28.
        let problem = format!("{revision} has no GET: send `subscriptions/listen`");
        return reply::not_allowed("POST", &problem);
    }
    if let Some(refused) = post::check_repeated(parts, None) {
        return refused;
    }
    if !media::accepts(&parts.headers, b"text/event-stream") {
        return reply::refuse(
            StatusCode::NOT_ACCEPTABLE,
            reply::NOT_HERE,
            "a stream is opened with `Accept: text/event-stream`",
        );
    }
    let session = match post::session(site, parts) {
        Ok(Some(session)) => session,
        Ok(None) => return nameless(),
        Err(response) => return response,
    };
    if session.open_streams() >= site.settings.max_streams {
        return session_post::too_many_streams(site);
    }
    let Some(last) = parts.headers.get(LAST_EVENT_ID) else {
        let stream = session.open_stream(Arc::clone(&session.standing), &site.settings);
        return reply::events(stream.read(site, &session, Begin::With(Vec::new())));
    };
    let place = last.to_str().ok().and_then(parse_id);
    let found =
        place.and_then(|(stream, event)| Some((session.stream(stream, &site.settings)?, event)));
    match found {
        Some((stream, event)) => reply::events(stream.read(site, &session, Begin::After(event))),
        None => reply::refuse(
            StatusCode::BAD_REQUEST,
            reply::NOT_HERE,
            "`Last-Event-ID` names no stream that can be resumed: repeat the request, or leave \
             the header out",
        ),
    }
}

/// Ends a session.
pub(super) fn end(site: &Arc<Site>, parts: &Parts) -> Response<HttpBody> {
    if let Some(revision) = without_sessions(parts) {
        return reply::not_allowed("POST", &format!("{revision} has no sessions to end"));
    }
    if let Some(refused) = post::check_repeated(parts, None) {
        return refused;
    }
    match post::session(site, parts) {
        Ok(Some(session)) => {
            site.sessions.end(&session);
            reply::empty(StatusCode::NO_CONTENT)
        }
        Ok(None) => nameless(),
        Err(response) => response,
    }
}

/// The revision that a request names, if that revision has no `GET` and `DELETE`.
pub(super) fn without_sessions(parts: &Parts) -> Option<Revision> {
    let version = parts.headers.get(PROTOCOL_VERSION)?.to_str().ok()?;
    Revision::from_date(version).filter(|revision| !revision.rules().standing_streams)
}

fn nameless() -> Response<HttpBody> {
    reply::refuse(
        StatusCode::BAD_REQUEST,
        reply::NOT_HERE,
        "name the session with `Mcp-Session-Id`; clients of 2024-11-05 open `/sse`",
    )
}
