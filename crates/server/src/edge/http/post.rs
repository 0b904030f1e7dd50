//! `POST <endpoint>`: a message comes in, and its era is read off it.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode, request::Parts};
use http_body::Body;
use turnbuckle_protocol::{
    ErrorObject, Revision,
    envelope::{self, Frame, Message, Raw, Request},
    error::code,
    http::header::{PROTOCOL_VERSION, SESSION_ID},
};
use turnbuckle_session::{Era, era};

use super::{
    batch, body::HttpBody, media, modern, named_session, read, reply, session_post, site::Site,
};
use crate::{edge::batch as edge_batch, engine::admission};

/// Bytes of an `initialize`. What the client says of itself is kept for as long as the session
/// lasts, so ten thousand sessions must not be able to keep ten thousand large messages.
const MAX_INITIALIZE_BYTES: usize = 128 * 1024;

pub(super) async fn serve<B>(site: &Arc<Site>, parts: &Parts, body: B) -> Response<HttpBody>
where
    B: Body<Data = Bytes> + Send + 'static,
{
    if let Some(refused) = media::check(&parts.headers) {
        return refused;
    }
    let limit = site.shared.settings.limits.max_message_bytes;
    let body = match read::whole(body, limit, site.settings.body_patience).await {
        Ok(body) => body,
        Err(error) => return error.answer(),
    };
    // Told apart before it is parsed, so that a batch that is not allowed is not read.
    if body.trim_ascii_start().first() == Some(&b'[') {
        if let Some(refused) = named_session::check_repeated(parts, None) {
            return refused;
        }
        return match named_session::find(site, parts) {
            Ok(Some(session)) => batch::serve(site, &session, site.caller(parts), &body),
            Ok(None) => batch::unknown(),
            Err(response) => response,
        };
    }
    let message = match envelope::parse(&body) {
        Ok(Frame::One(message)) => message,
        Ok(Frame::Batch(_)) => return batch::unknown(),
        Err(malformed) => {
            let session = named_session::find(site, parts).ok().flatten();
            let unreadable = session.map_or(Revision::LATEST.rules().unreadable_id, |session| {
                edge_batch::unreadable(&session.peer)
            });
            return reply::malformed(&malformed, unreadable);
        }
    };
    let id = match &message {
        Message::Request(request) => Some(&request.id),
        Message::Notification(_) | Message::Response(_) => None,
    };
    if let Some(refused) = named_session::check_repeated(parts, id) {
        return refused;
    }
    match &message {
        Message::Request(request) if request.method == "initialize" => {
            initialize(site, parts, request, body.len())
        }
        Message::Request(request) => serve_request(site, parts, request).await,
        message => accept(site, parts, message),
    }
}

/// Takes a notification or a response.
fn accept(site: &Arc<Site>, parts: &Parts, message: &Message<'_>) -> Response<HttpBody> {
    if let Message::Notification(notice) = message
        && named_session::modern_revision(parts).is_some()
    {
        // streamable-http: the core defines no notification here; an extension may.
        let (extensions, caller) = (&site.shared.extensions, site.caller(parts));
        extensions.notify(&notice.method, &notice.params, &caller);
        return reply::empty(StatusCode::ACCEPTED);
    }
    match named_session::find(site, parts) {
        Ok(Some(session)) => session_post::accept(site, &session, message),
        Ok(None) => reply::refuse(
            StatusCode::BAD_REQUEST,
            "notifications and responses belong to a session: name it with `Mcp-Session-Id`",
        ),
        Err(response) => response,
    }
}

fn initialize(
    site: &Arc<Site>,
    parts: &Parts,
    request: &Request<'_>,
    length: usize,
) -> Response<HttpBody> {
    // A legacy client puts its version elsewhere. A request that names a modern revision in its
    // header and in `_meta` means a method that is not there, and an unknown method MUST be a 404.
    if let Some(revision) = named_session::modern_revision(parts)
        && admission::names_version(request)
    {
        let message = format!("{revision} has no `initialize`: send the request itself");
        let error = ErrorObject::new(code::METHOD_NOT_FOUND, message);
        return reply::error(StatusCode::NOT_FOUND, Some(&request.id), &error);
    }
    if length > MAX_INITIALIZE_BYTES {
        let error = ErrorObject::invalid_request(format!(
            "an `initialize` may have at most {MAX_INITIALIZE_BYTES} bytes"
        ));
        return reply::error(StatusCode::PAYLOAD_TOO_LARGE, Some(&request.id), &error);
    }
    session_post::initialize(site, site.caller(parts), request)
}

async fn serve_request(
    site: &Arc<Site>,
    parts: &Parts,
    request: &Request<'_>,
) -> Response<HttpBody> {
    let version = request.params.meta().and_then(|meta| meta.protocol_version);
    let header = parts.headers.get(PROTOCOL_VERSION);
    let header = header.and_then(|value| value.to_str().ok());
    match era::of_post(&request.method, version.map(Raw::get), header) {
        // A session's own request is legacy, whatever its headers look like.
        Era::Modern if version.is_some() || !parts.headers.contains_key(SESSION_ID) => {
            modern::serve(site, parts, request).await
        }
        _ => match named_session::find(site, parts) {
            Ok(Some(session)) => {
                session_post::serve(site, &session, site.caller(parts), request).await
            }
            Ok(None) => {
                let error = ErrorObject::invalid_request(
                    "the request belongs to no session: send `initialize` first and repeat the \
                     `Mcp-Session-Id` that it is answered with, or put the protocol version and \
                     the client's capabilities into the request's `_meta`",
                );
                reply::error(StatusCode::BAD_REQUEST, Some(&request.id), &error)
            }
            Err(response) => response,
        },
    }
}
