//! What browsers are told about pages of other origins, where the settings say so.

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use turnbuckle_protocol::http::header::PARAM_PREFIX;

use super::{
    body::HttpBody,
    reply,
    settings::{Cors, HttpSettings},
};

/// Headers that a page may send.
const REQUEST_HEADERS: &str = "authorization, content-type, accept, dpop, last-event-id, mcp-method, \
     mcp-name, mcp-protocol-version, mcp-session-id, traceparent, tracestate, baggage";

/// Headers that a page may read.
const RESPONSE_HEADERS: HeaderValue =
    HeaderValue::from_static("mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce");

/// How long a browser may remember a permission, in seconds. Browsers cap it at some hours; ten
/// minutes spare nearly every question and let a change of settings through soon.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The origin to tell a browser about, where CORS is on. The door has let it in already.
pub(super) fn origin(settings: &HttpSettings, headers: &HeaderMap) -> Option<HeaderValue> {
    match settings.cors {
        Cors::Silent => None,
        Cors::Allowed => headers.get(header::ORIGIN).cloned(),
    }
}

/// The answer to a browser that asks before it sends.
pub(super) fn preflight(request: &HeaderMap) -> Response<HttpBody> {
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("POST, GET, DELETE, OPTIONS"),
    );
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        allowed_headers(request),
    );
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response
}

/// Lets a page of this origin read the answer.
pub(super) fn allow_reading(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

/// The fixed ones, and arguments as headers, whose names only the tools know.
fn allowed_headers(request: &HeaderMap) -> HeaderValue {
    let wanted = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS);
    let wanted = wanted.and_then(|wanted| wanted.to_str().ok());
    let mut allowed = REQUEST_HEADERS.to_owned();
    for name in wanted.unwrap_or_default().split(',').map(str::trim) {
        if name.to_ascii_lowercase().starts_with(PARAM_PREFIX) {
            allowed.push_str(", ");
            allowed.push_str(name);
        }
    }
    HeaderValue::from_str(&allowed).unwrap_or(HeaderValue::from_static(REQUEST_HEADERS))
}
