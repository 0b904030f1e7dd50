//! Responses, and the errors of OAuth.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use serde_json::{Value, json};

/// A response of the server.
pub(super) type Reply = Response<Full<Bytes>>;

/// The header that contains a nonce.
const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// An error in the form of RFC 6749, 5.2 and its successors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) description: String,
    pub(super) nonce: Option<String>,
}

impl Problem {
    pub(super) fn new(code: &'static str, description: impl Into<String>) -> Self {
        let status = match code {
            "invalid_client" => StatusCode::UNAUTHORIZED,
            _ => StatusCode::BAD_REQUEST,
        };
        Self {
            status,
            code,
            description: description.into(),
            nonce: None,
        }
    }

    pub(super) fn reply(&self) -> Reply {
        let body = json!({ "error": self.code, "error_description": self.description });
        let mut reply = json_with(self.status, &body);
        if self.status == StatusCode::UNAUTHORIZED {
            let basic = HeaderValue::from_static("Basic realm=\"test\"");
            reply.headers_mut().insert(header::WWW_AUTHENTICATE, basic);
        }
        let nonce = self.nonce.as_deref();
        if let Some(nonce) = nonce.and_then(|nonce| HeaderValue::from_str(nonce).ok()) {
            reply.headers_mut().insert(NONCE, nonce);
        }
        reply
    }
}

/// A JSON response that may be cached.
pub(super) fn document(body: &Value) -> Reply {
    let mut reply = json_with(StatusCode::OK, body);
    reply.headers_mut().remove(header::CACHE_CONTROL);
    reply
}

/// A JSON response that must not be cached.
pub(super) fn json(body: &Value) -> Reply {
    json_with(StatusCode::OK, body)
}

pub(super) fn json_with(status: StatusCode, body: &Value) -> Reply {
    let mut reply = text(status, body.to_string());
    let headers = reply.headers_mut();
    let kind = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, kind);
    // RFC 6749, 5.1: a MUST for responses with tokens.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Clients may also run in web pages.
    let any_origin = HeaderValue::from_static("*");
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any_origin);
    reply
}

/// A text response for people.
pub(super) fn text(status: StatusCode, text: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(text.into()));
    *reply.status_mut() = status;
    reply
}

/// Redirects a browser.
pub(super) fn redirect(to: &str) -> Reply {
    let mut reply = text(StatusCode::FOUND, "");
    if let Ok(to) = HeaderValue::from_str(to) {
        reply.headers_mut().insert(header::LOCATION, to);
    }
    reply
}
