//! Small public documents: health, and the metadata of a guard.

use http::{HeaderValue, Method, Response, StatusCode, header, request::Parts};

use super::{body::HttpBody, reply};

/// `GET /healthz`: reports that the process answers. It does not report whether the tools work.
pub(super) fn health() -> Response<HttpBody> {
    reply::json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec())
}

/// A public document of the server's guard.
pub(super) fn document(parts: &Parts, document: &[u8]) -> Response<HttpBody> {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return reply::not_allowed("GET", "read this document with GET");
    }
    let mut response = reply::json(StatusCode::OK, document.to_vec());
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    response
}
