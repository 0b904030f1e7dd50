//! Converts responses with an error status into errors.

use std::time::Duration;

use serde_json::Value;
use turnbuckle_transport::http::client::{Reply, StatusCode};

use super::endpoint::Endpoint;
use crate::error::ModelError;

/// At most 64 KiB of an error's body are read, because messages are short.
const MAX_BODY: usize = 64 * 1024;

/// At most 10 s to read an error's body.
const MAX_TIME: Duration = Duration::from_secs(10);

/// At most 500 characters of a message are shown.
const MAX_MESSAGE: usize = 500;

/// The codes of a 429 response for which waiting does not help.
const SPENT: [&str; 4] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "credit_balance_exhausted",
    "enforced_spend_limit_reached",
];

/// Reads the error in a response of an API.
pub(super) async fn read(endpoint: &Endpoint, model: &str, reply: Reply) -> ModelError {
    let status = reply.status();
    let retry_after = retry_after(&reply);
    // The body may never end; the status alone is enough for an error.
    let body = tokio::time::timeout(endpoint.silence().min(MAX_TIME), reply.bytes(MAX_BODY)).await;
    let body = body.ok().and_then(Result::ok).unwrap_or_default();
    let parsed: Value = serde_json::from_slice(&body).unwrap_or_default();
    let message = message(&parsed, &body).unwrap_or_else(|| {
        let reason = status.canonical_reason();
        reason.unwrap_or("the API gave no reason").to_owned()
    });
    let message = endpoint.masked(&message);
    let api = endpoint.name();
    match status {
        StatusCode::UNAUTHORIZED if !endpoint.has_key() => ModelError::NoKey { api },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ModelError::Unauthorized {
            api,
            status: status.as_u16(),
            message,
        },
        StatusCode::NOT_FOUND => ModelError::UnknownModel {
            api,
            model: model.to_owned(),
            message,
        },
        StatusCode::TOO_MANY_REQUESTS => ModelError::RateLimited {
            api,
            message,
            retry_after,
            is_spent: is_spent(&parsed),
        },
        status if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
            ModelError::Unavailable {
                api,
                status: status.as_u16(),
                message,
                retry_after,
            }
        }
        status => ModelError::Refused {
            api,
            status: status.as_u16(),
            message,
        },
    }
}

/// The message of an error, in the forms that the APIs use.
pub(super) fn message(body: &Value, text: &[u8]) -> Option<String> {
    let found = body
        .pointer("/error/message")
        .or_else(|| body.get("error"))
        .or_else(|| body.get("message"))
        .or_else(|| body.get("detail"))
        .and_then(Value::as_str);
    let said = found.map_or_else(|| String::from_utf8_lossy(text).into_owned(), str::to_owned);
    let said = said.trim();
    let short: String = said.chars().take(MAX_MESSAGE).collect();
    (!short.is_empty()).then_some(short)
}

fn is_spent(body: &Value) -> bool {
    ["/error/code", "/error/type", "/error/details/error_code"]
        .iter()
        .filter_map(|pointer| body.pointer(pointer)?.as_str())
        .any(|code| SPENT.contains(&code))
}

/// How long to wait, from the headers: seconds with or without a fraction, a date, or OpenAI's
/// header with milliseconds.
fn retry_after(reply: &Reply) -> Option<Duration> {
    let number = |name: &str| -> Option<f64> {
        let text = reply.headers().get(name)?.to_str().ok()?;
        text.trim().parse().ok()
    };
    let seconds = number("retry-after-ms").map(|millis| millis / 1_000.0);
    let seconds = seconds.or_else(|| number("retry-after"));
    let read = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    read.or_else(|| reply.retry_after())
}
