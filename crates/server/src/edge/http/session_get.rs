//! `GET` and `DELETE <endpoint>`: the stream of a session, resuming a stream, and ending the session.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts};
use turnbuckle_store::session::SessionChange;

use super::{
    body::HttpBody, event_id::EventId, header_name::LAST_EVENT_ID, media, named_session, notes,
    remote_stream, reply, session_post, session_stream, site::Site,
};

/// Opens the session's stream, or resumes a stream whose connection was interrupted.
pub(super) async fn open(site: &Arc<Site>, parts: &Parts) -> Response<HttpBody> {
    if let Some(refused) = named_session::check_repeated(parts, None) {
        return refused;
    }
    if let Some(revision) = named_session::without_streams(parts) {
        // streamable-http: GET and DELETE do not exist since 2026-07-28.
        let problem =
            format!("{revision} has no streams over GET: send `subscriptions/listen` with POST");
        return reply::not_allowed("POST", &problem);
    }
    if !media::accepts(&parts.headers, b"text/event-stream") {
        return reply::refuse(
            StatusCode::NOT_ACCEPTABLE,
            "open the stream with `Accept: text/event-stream`",
        );
    }
    let session = match named_session::find(site, parts).await {
        Ok(Some(session)) => session,
        Ok(None) => return nameless(),
        Err(response) => return response,
    };
    if let Some(refused) = session_stream::check_count(site, &session) {
        return refused;
    }
    let Some(last) = parts.headers.get(&LAST_EVENT_ID) else {
        if session.at.is_some() {
            // The replica to which the client listens pings it.
            session_post::keep_alive(site, &session);
        }
        return session_stream::open_standing(site, &session);
    };
    let Some(last) = last.to_str().ok().and_then(EventId::parse) else {
        return not_resumable();
    };
    if let Some(replicas) = &site.shared.replicas
        && session.at.as_ref().map(|at| at.place) != last.place
    {
        return Box::pin(remote_stream::resume(site, replicas, &session, last)).await;
    }
    match session.stream(last.stream, &site.settings) {
        Some(stream) => session_stream::resume(site, &session, stream, last.event),
        None => not_resumable(),
    }
}

pub(super) fn not_resumable() -> Response<HttpBody> {
    reply::refuse(
        StatusCode::BAD_REQUEST,
        "the stream of this `Last-Event-ID` cannot be resumed: repeat the request, or leave the \
         header out",
    )
}

/// Ends a session.
pub(super) async fn end(site: &Arc<Site>, parts: &Parts) -> Response<HttpBody> {
    if let Some(refused) = named_session::check_repeated(parts, None) {
        return refused;
    }
    if let Some(revision) = named_session::without_streams(parts) {
        return reply::not_allowed("POST", &format!("{revision} has no sessions to end"));
    }
    match named_session::find(site, parts).await {
        Ok(Some(session)) => {
            if let Some(replicas) = &site.shared.replicas
                && let Err(error) =
                    Box::pin(notes::share(replicas, &session, SessionChange::End)).await
            {
                let refused = reply::error(StatusCode::SERVICE_UNAVAILABLE, None, &error);
                return reply::retry_later(refused);
            }
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
