//! The media types in `Content-Type` and `Accept`.

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::{body::HttpBody, reply};

/// The value that nearly every client sends.
const USUAL_ACCEPT: &[u8] = b"application/json, text/event-stream";

/// Returns a refusal unless the body is JSON and the client accepts both JSON and a stream.
pub(super) fn check(headers: &HeaderMap) -> Option<Response<HttpBody>> {
    if let Some(refused) = check_content(headers) {
        return Some(refused);
    }
    let is_usual = headers
        .get(header::ACCEPT)
        .is_some_and(|value| value.as_bytes() == USUAL_ACCEPT);
    // streamable-http: the client MUST list both types; the server chooses one of them.
    if is_usual || (accepts(headers, b"application/json") && accepts(headers, b"text/event-stream"))
    {
        return None;
    }
    Some(reply::refuse(
        StatusCode::NOT_ACCEPTABLE,
        "the request must accept both `application/json` and `text/event-stream`",
    ))
}

/// Returns a refusal unless the body is JSON without an encoding.
pub(super) fn check_content(headers: &HeaderMap) -> Option<Response<HttpBody>> {
    let is_identity = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if !headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .all(is_identity)
    {
        let mut response = reply::refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body must not be compressed: leave out `Content-Encoding`",
        );
        response.headers_mut().insert(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("identity"),
        );
        return Some(response);
    }
    // RFC 9112, section 6.1: a server that does not know a transfer coding should answer with 501.
    if !is_chunked_at_most(headers) {
        return Some(reply::refuse(
            StatusCode::NOT_IMPLEMENTED,
            "`Transfer-Encoding` may only be `chunked`: send the body without other codings",
        ));
    }
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| kind_of(value.as_bytes()).eq_ignore_ascii_case(b"application/json"));
    if is_json {
        return None;
    }
    Some(reply::refuse(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "the body must be `Content-Type: application/json`",
    ))
}

/// Whether the body has no transfer coding besides `chunked`.
fn is_chunked_at_most(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::TRANSFER_ENCODING).iter();
    let mut codings = values
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii);
    codings.all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"chunked"))
}

/// Whether the client accepts this type of answer. Without an `Accept` header it accepts every
/// type.
pub(super) fn accepts(headers: &HeaderMap, kind: &[u8]) -> bool {
    let mut values = headers.get_all(header::ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let family = kind.split(|byte| *byte == b'/').next().unwrap_or_default();
    values
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(kind_of)
        .any(|wish| {
            wish.eq_ignore_ascii_case(kind)
                || wish == b"*/*"
                || wish
                    .strip_suffix(b"/*")
                    .is_some_and(|wish| wish.eq_ignore_ascii_case(family))
        })
}

/// Returns a media type without its parameters.
fn kind_of(value: &[u8]) -> &[u8] {
    let kind = value.split(|byte| *byte == b';').next();
    kind.unwrap_or_default().trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(accept: &[&'static str]) -> HeaderMap {
        accept
            .iter()
            .map(|value| (header::ACCEPT, value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn wishes_are_read_in_every_form() {
        let taken: [&[&str]; 7] = [
            &[],
            &["*/*"],
            &["text/*"],
            &["Text/Event-Stream;q=0.1"],
            &["application/json , text/event-stream"],
            &["application/json", "text/event-stream"],
            &["TEXT/*;q=0.5"],
        ];
        for accept in taken {
            assert!(
                accepts(&headers(accept), b"text/event-stream"),
                "{accept:?}"
            );
        }
        let others: [&[&str]; 5] = [
            &[""],
            &["application/json"],
            &["application/*"],
            &["text/event-streams"],
            &["text"],
        ];
        for accept in others {
            assert!(
                !accepts(&headers(accept), b"text/event-stream"),
                "{accept:?}"
            );
        }
    }
}
