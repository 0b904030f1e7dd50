//! HTTP responses to the page.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use serde::Serialize;
use turnbuckle::TextResponse;

use super::{
    events::EventStream,
    problem::{Problem, Who},
};

pub(super) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// A response with bytes of this media type.
pub(super) fn bytes(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()).boxed_unsync());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A text response from the program that serves beside the page.
pub(super) fn text(text: TextResponse) -> Answer {
    let added = text.headers().to_vec();
    let mut answer = bytes(text.status(), text.media_type(), text.into_text());
    answer.headers_mut().extend(added);
    answer
}

/// A JSON response.
pub(super) fn json(value: &impl Serialize) -> Answer {
    status_json(StatusCode::OK, value)
}

pub(super) fn status_json(status: StatusCode, value: &impl Serialize) -> Answer {
    let body = serde_json::to_vec(value).unwrap_or_default();
    bytes(status, "application/json", body)
}

/// The response to a request that was done and has no result.
pub(super) fn done() -> Answer {
    json(&serde_json::json!({ "ok": true }))
}

/// An event stream, for as long as the page listens.
pub(super) fn events(stream: EventStream) -> Answer {
    let mut answer = Response::new(stream.boxed_unsync());
    let headers = answer.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A refusal with the reason.
pub(super) fn refused(status: StatusCode, problem: &Problem) -> Answer {
    #[derive(Serialize)]
    struct Refused<'a> {
        error: &'a Problem,
    }
    status_json(status, &Refused { error: problem })
}

pub(super) fn wrong(status: StatusCode, message: impl Into<String>) -> Answer {
    refused(status, &Problem::new(Who::Validation, message))
}

pub(super) fn not_found(what: &str) -> Answer {
    wrong(StatusCode::NOT_FOUND, format!("unknown {what}"))
}
