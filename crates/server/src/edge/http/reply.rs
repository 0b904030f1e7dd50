//! Answers by their kinds: JSON, nothing, an error, a stream.

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

/// When to try again after a refusal for want of room: calls take less than a second.
const RETRY_AFTER_SECONDS: &str = "1";

/// A JSON message.
pub(super) fn json(status: StatusCode, message: impl Into<Bytes>) -> Response<HttpBody> {
    json_body(status, HttpBody::full(message))
}

fn json_body(status: StatusCode, body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// A response to a request.
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

/// A status and nothing more.
pub(super) fn empty(status: StatusCode) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = status;
    response
}

/// A JSON-RPC error without an id: the request was refused before its id was read.
pub(super) fn refuse(status: StatusCode, message: &str) -> Response<HttpBody> {
    error(status, None, &ErrorObject::invalid_request(message))
}

/// A JSON-RPC error.
pub(super) fn error(
    status: StatusCode,
    id: Option<&IdRef<'_>>,
    error: &ErrorObject,
) -> Response<HttpBody> {
    written(status, id.ok_or(UnreadableId::Omitted), error)
}

/// A refusal of a message for which there is no memory now.
pub(super) fn over_budget(over: OverBudget, id: Option<&IdRef<'_>>) -> Response<HttpBody> {
    let status = match over {
        OverBudget::Total(_) => StatusCode::SERVICE_UNAVAILABLE,
        OverBudget::Caller(_) => StatusCode::TOO_MANY_REQUESTS,
    };
    let error = ErrorObject::internal(over.to_string());
    retry_later(self::error(status, id, &error))
}

/// Says when to try again.
pub(super) fn retry_later(mut response: Response<HttpBody>) -> Response<HttpBody> {
    let seconds = HeaderValue::from_static(RETRY_AFTER_SECONDS);
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
    response
}

/// A refusal of a body that cannot be read as a message.
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

/// Only these methods are allowed here.
pub(super) fn not_allowed(allow: &'static str, message: &str) -> Response<HttpBody> {
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, message);
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static(allow));
    response
}

/// A stream of events.
pub(super) fn events(body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    headers.insert(header::CACHE_CONTROL, NO_CACHE);
    // streamable-http: proxies should pass events on at once.
    headers.insert(ACCEL_BUFFERING, NO);
    response
}
