//! `GET` and `DELETE <endpoint>`: the standing stream of a session, resuming a stream, and the end.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts};
use turnbuckle_protocol::http::header::LAST_EVENT_ID;

use super::{
    body::HttpBody, media, named_session, replay::parse_id, reply, session_stream, site::Site,
};

/// Opens the standing stream, or resumes one that broke.
pub(super) fn open(site: &Arc<Site>, parts: &Parts) -> Response<HttpBody> {
    if let Some(refused) = named_session::check_repeated(parts, None) {
        return refused;
    }
    if let Some(revision) = named_session::without_streams(parts) {
        // streamable-http: GET and DELETE are gone from 2026-07-28.
        let problem = format!("{revision} has no GET: send `subscriptions/listen`");
        return reply::not_allowed("POST", &problem);
    }
    if !media::accepts(&parts.headers, b"text/event-stream") {
        return reply::refuse(
            StatusCode::NOT_ACCEPTABLE,
            "a stream is opened with `Accept: text/event-stream`",
        );
    }
    let session = match named_session::find(site, parts) {
        Ok(Some(session)) => session,
        Ok(None) => return nameless(),
        Err(response) => return response,
    };
    if let Some(refused) = session_stream::check_count(site, &session) {
        return refused;
    }
    let Some(last) = parts.headers.get(LAST_EVENT_ID) else {
        return session_stream::open_standing(site, &session);
    };
    let place = last.to_str().ok().and_then(parse_id);
    let found =
        place.and_then(|(stream, event)| Some((session.stream(stream, &site.settings)?, event)));
    match found {
        Some((stream, event)) => session_stream::resume(site, &session, stream, event),
        None => reply::refuse(
            StatusCode::BAD_REQUEST,
            "`Last-Event-ID` names no stream that can be resumed: repeat the request, or leave \
             the header out",
        ),
    }
}

/// Ends a session.
pub(super) fn end(site: &Arc<Site>, parts: &Parts) -> Response<HttpBody> {
    if let Some(refused) = named_session::check_repeated(parts, None) {
        return refused;
    }
    if let Some(revision) = named_session::without_streams(parts) {
        return reply::not_allowed("POST", &format!("{revision} has no sessions to end"));
    }
    match named_session::find(site, parts) {
        Ok(Some(session)) => {
            site.sessions.end(&session);
            reply::empty(StatusCode::NO_CONTENT)
        }
        Ok(None) => nameless(),
        Err(response) => response,
    }
}

fn nameless() -> Response<HttpBody> {
    reply::refuse(
        StatusCode::BAD_REQUEST,
        "name the session with `Mcp-Session-Id`; clients of 2024-11-05 open `/sse`",
    )
}
