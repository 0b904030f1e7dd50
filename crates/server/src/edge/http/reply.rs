//! HTTP answers of each kind: JSON, empty, an error, a stream.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use turnbuckle_protocol::{
    ErrorObject, IdRef,
    envelope::{self, Malformed, MalformedKind, UnreadableId},
    error::code,
};

use super::body::{HttpBody, holding};
use crate::engine::{budget::OverBudget, sink};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache, no-transform");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const NO: HeaderValue = HeaderValue::from_static("no");

/// After how many seconds to try again if there was no room. Calls usually take less than a second.
const RETRY_AFTER_SECONDS: &str = "1";

/// An answer with a JSON message.
pub(super) fn json(status: StatusCode, message: impl Into<Bytes>) -> Response<HttpBody> {
    json_body(status, HttpBody::full(message))
}

fn json_body(status: StatusCode, body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// An answer with the response to a request.
pub(super) fn whole(status: StatusCode, response: sink::Response) -> Response<HttpBody> {
    let (head, tail, paid) = response.into_parts();
    let head = match paid {
        Some(paid) => holding(head, paid),
        None => head.into(),
    };
    json_body(
        status,
        match tail {
            Some(tail) => HttpBody::in_two(head, tail),
            None => HttpBody::full(head),
        },
    )
}

/// An answer with a status and no body.
pub(super) fn empty(status: StatusCode) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = status;
    response
}

/// An answer with a JSON-RPC error without an id, because the request was rejected before its id
/// was read.
pub(super) fn refuse(status: StatusCode, message: &str) -> Response<HttpBody> {
    error(status, None, &ErrorObject::invalid_request(message))
}

/// An answer with a JSON-RPC error.
pub(super) fn error(
    status: StatusCode,
    id: Option<&IdRef<'_>>,
    error: &ErrorObject,
) -> Response<HttpBody> {
    written(status, id.ok_or(UnreadableId::Omitted), error)
}

/// The refusal of a message for which there is not enough memory.
pub(super) fn over_budget(over: OverBudget, id: Option<&IdRef<'_>>) -> Response<HttpBody> {
    let status = match over {
        OverBudget::Total(_) => StatusCode::SERVICE_UNAVAILABLE,
        OverBudget::Caller(_) => StatusCode::TOO_MANY_REQUESTS,
    };
    let error = ErrorObject::internal(over.to_string());
    retry_later(self::error(status, id, &error))
}

/// Adds the header that says when to try again.
pub(super) fn retry_later(mut response: Response<HttpBody>) -> Response<HttpBody> {
    let seconds = HeaderValue::from_static(RETRY_AFTER_SECONDS);
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
    response
}

/// The refusal of a body that cannot be parsed as a message.
pub(super) fn malformed(malformed: &Malformed<'_>, unreadable: UnreadableId) -> Response<HttpBody> {
    let code = malformed.kind.code().unwrap_or(code::INVALID_REQUEST);
    let error = ErrorObject::new(code, malformed.message.as_str());
    let id = malformed.id.as_ref().ok_or(unreadable);
    let status = match malformed.kind {
        MalformedKind::TooManyNodes => StatusCode::PAYLOAD_TOO_LARGE,
        _ => StatusCode::BAD_REQUEST,
    };
    written(status, id, &error)
}

fn written(
    status: StatusCode,
    id: Result<&IdRef<'_>, UnreadableId>,
    error: &ErrorObject,
) -> Response<HttpBody> {
    let mut message = Vec::new();
    envelope::write_error(&mut message, id, error).expect("an error object is plain JSON");
    json(status, message)
}

/// The refusal of a method; `allow` lists the methods that are allowed.
pub(super) fn not_allowed(allow: &'static str, message: &str) -> Response<HttpBody> {
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, message);
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static(allow));
    response
}

/// An answer with a stream of events.
pub(super) fn events(body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    headers.insert(header::CACHE_CONTROL, NO_CACHE);
    // streamable-http: proxies should pass events on immediately.
    headers.insert(ACCEL_BUFFERING, NO);
    response
}
