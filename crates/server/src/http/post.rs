//! `POST <endpoint>`: a message comes in, and its era is read off it.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode, header, request::Parts};
use http_body::Body;
use turnbuckle_protocol::{
    ErrorObject, Revision,
    envelope::{self, Frame, Message, Request, RequestMeta},
    error::code,
    http::header::{PROTOCOL_VERSION, SESSION_ID},
};
use turnbuckle_session::{Era, era};

use super::{
    batch,
    body::HttpBody,
    modern,
    read::{self, ReadError},
    reply,
    service::{Site, caller},
    session::HttpSession,
    session_post,
};

pub(super) async fn serve<B>(site: &Arc<Site>, parts: &Parts, body: B) -> Response<HttpBody>
where
    B: Body<Data = Bytes> + Send + 'static,
{
    if let Err(response) = check_media(&parts.headers) {
        return response;
    }
    let limit = site.shared.settings.limits.max_message_bytes;
    let body = match read::whole(body, limit, site.settings.body_patience).await {
        Ok(body) => body,
        Err(error) => return unread(&error),
    };
    let frame = match envelope::parse(&body) {
        Ok(frame) => frame,
        Err(malformed) => {
            let code = malformed.kind.code().unwrap_or(code::INVALID_REQUEST);
            let error = ErrorObject::new(code, malformed.message);
            return reply::error(StatusCode::BAD_REQUEST, malformed.id.as_ref(), &error);
        }
    };
    match frame {
        Frame::One(Message::Request(request)) => serve_request(site, parts, request).await,
        Frame::One(message) => match session(site, parts) {
            Ok(Some(session)) => session_post::accept(site, &session, &message),
            Ok(None) => without_session(parts, &message),
            Err(response) => response,
        },
        Frame::Batch(members) => match session(site, parts) {
            Ok(Some(session)) => batch::serve(site, &session, members).await,
            Ok(None) => reply::refuse(
                StatusCode::BAD_REQUEST,
                code::INVALID_REQUEST,
                "batches exist only in sessions of 2025-03-26: send the messages one by one",
            ),
            Err(response) => response,
        },
    }
}

async fn serve_request(
    site: &Arc<Site>,
    parts: &Parts,
    request: Request<'_>,
) -> Response<HttpBody> {
    let meta = request
        .params
        .get("_meta")
        .and_then(RequestMeta::from_raw)
        .unwrap_or_default();
    let version = meta.version();
    let header = parts
        .headers
        .get(PROTOCOL_VERSION)
        .and_then(|value| value.to_str().ok());
    match era::of_post(&request.method, version.as_deref(), header) {
        _ if request.method == "initialize" => {
            session_post::initialize(site, caller(parts), request)
        }
        // A session's own request is legacy, whatever its headers look like.
        Era::Modern if version.is_some() || !parts.headers.contains_key(SESSION_ID) => {
            modern::serve(site, parts, request, version.as_deref()).await
        }
        _ => match session(site, parts) {
            Ok(Some(session)) => session_post::serve(site, &session, request).await,
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

/// The session that a request names: `None` if it names none.
///
/// # Errors
/// 404 for a session that is not, or not the caller's; 400 for a version it does not speak.
#[expect(
    clippy::result_large_err,
    reason = "a refusal is rare, and goes out at once"
)]
pub(super) fn session(
    site: &Site,
    parts: &Parts,
) -> Result<Option<Arc<HttpSession>>, Response<HttpBody>> {
    let Some(id) = parts.headers.get(SESSION_ID) else {
        return Ok(None);
    };
    let found = id
        .to_str()
        .ok()
        .and_then(|id| site.sessions.find(id, &caller(parts)));
    let Some(session) = found else {
        return Err(reply::refuse(
            StatusCode::NOT_FOUND,
            reply::NOT_HERE,
            "there is no such session, or it has ended: send `initialize` to open a new one",
        ));
    };
    // transports: an invalid or unsupported version MUST get 400.
    if let Some(version) = parts.headers.get(PROTOCOL_VERSION) {
        let revision = version.to_str().ok().and_then(Revision::from_date);
        if revision.is_none_or(Revision::is_modern) {
            let version = String::from_utf8_lossy(version.as_bytes());
            return Err(reply::refuse(
                StatusCode::BAD_REQUEST,
                reply::NOT_HERE,
                &format!("`MCP-Protocol-Version: {version}` is not one that a session can speak"),
            ));
        }
    }
    Ok(Some(session))
}

fn without_session(parts: &Parts, message: &Message<'_>) -> Response<HttpBody> {
    let is_modern = parts
        .headers
        .get(PROTOCOL_VERSION)
        .is_some_and(|version| version.as_bytes() == Revision::LATEST.as_str().as_bytes());
    match message {
        // streamable-http: the core defines no notification here, so there is nothing to do.
        Message::Notification(_) if is_modern => reply::empty(StatusCode::ACCEPTED),
        _ => reply::refuse(
            StatusCode::BAD_REQUEST,
            code::INVALID_REQUEST,
            "notifications and responses belong to a session: name it with `Mcp-Session-Id`",
        ),
    }
}

/// The media types that the request has and wants.
#[expect(
    clippy::result_large_err,
    reason = "a refusal is rare, and goes out at once"
)]
fn check_media(headers: &HeaderMap) -> Result<(), Response<HttpBody>> {
    let is_json = headers.get(header::CONTENT_TYPE).is_some_and(|value| {
        let value = value.as_bytes();
        let kind = value
            .split(|byte| *byte == b';')
            .next()
            .unwrap_or_default()
            .trim_ascii();
        kind.eq_ignore_ascii_case(b"application/json")
    });
    if !is_json {
        return Err(reply::refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            reply::NOT_HERE,
            "the body must be `Content-Type: application/json`",
        ));
    }
    if !accepts(headers, b"application/json") && !accepts(headers, b"text/event-stream") {
        return Err(reply::refuse(
            StatusCode::NOT_ACCEPTABLE,
            reply::NOT_HERE,
            "the request must accept both `application/json` and `text/event-stream`",
        ));
    }
    Ok(())
}

/// Whether the request takes this kind of answer. One that does not say takes everything.
pub(super) fn accepts(headers: &HeaderMap, kind: &[u8]) -> bool {
    let mut values = headers.get_all(header::ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let family = kind.split(|byte| *byte == b'/').next().unwrap_or_default();
    values
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .any(|wish| {
            let wish = wish
                .split(|byte| *byte == b';')
                .next()
                .unwrap_or_default()
                .trim_ascii();
            wish.eq_ignore_ascii_case(kind)
                || wish == b"*/*"
                || (wish.ends_with(b"/*") && wish[..wish.len() - 2].eq_ignore_ascii_case(family))
        })
}

pub(super) fn unread(error: &ReadError) -> Response<HttpBody> {
    let status = match error {
        ReadError::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
        ReadError::TooSlow(_) => StatusCode::REQUEST_TIMEOUT,
        ReadError::Broken => StatusCode::BAD_REQUEST,
    };
    reply::refuse(status, reply::NOT_HERE, &error.to_string())
}
