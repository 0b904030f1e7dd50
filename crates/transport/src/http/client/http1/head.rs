//! Writes the heads of requests and parses the heads of responses.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri, Version};
use std::mem::MaybeUninit;

/// 64 KiB, for fields and informational responses together. Node sends 16 KiB at most, nginx 8.
pub(super) const MAX_HEAD_BYTES: usize = 64 * 1024;

/// 100 fields, as in hyper. Only the stack holds them during parsing.
const MAX_FIELDS: usize = 100;

/// Why the head of a response cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub(in super::super) enum HeadError {
    #[error("the head of the answer is not valid HTTP/1.1: cannot read {0}")]
    Malformed(&'static str),
    #[error("the head of the answer is longer than {MAX_HEAD_BYTES} bytes")]
    TooLong,
    #[error("the answer has an invalid `{0}` header, so its end is not known")]
    Length(HeaderName),
    #[error("the answer has `transfer-encoding: {0}`; only `chunked` can be read")]
    Coding(String),
}

impl HeadError {
    /// The error for the transfer codings of this message.
    pub(super) fn coding(headers: &HeaderMap) -> Self {
        /// How many characters of the values an error shows.
        const SHOWN: usize = 80;
        let fields = headers.get_all(TRANSFER_ENCODING).iter();
        let texts: Vec<_> = fields
            .map(|it| String::from_utf8_lossy(it.as_bytes()))
            .collect();
        Self::Coding(texts.join(", ").chars().take(SHOWN).collect())
    }
}

impl From<httparse::Error> for HeadError {
    fn from(error: httparse::Error) -> Self {
        Self::Malformed(match error {
            httparse::Error::HeaderName => "the name of a field",
            httparse::Error::HeaderValue => "the value of a field",
            httparse::Error::NewLine => "the end of a line",
            httparse::Error::Status => "the status",
            httparse::Error::Token => "a character",
            httparse::Error::TooManyHeaders => "more than 100 fields",
            httparse::Error::Version => "the version",
        })
    }
}

/// Writes the head of a request whose body has this many bytes.
///
/// It writes the length of the body itself: fields that would contradict it are left out.
pub(super) fn write(
    method: &Method,
    address: &Uri,
    to: &Authority,
    headers: &HeaderMap,
    length: usize,
) -> Vec<u8> {
    let path = address.path_and_query().map_or("/", |path| path.as_str());
    let fields = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4);
    // The text beside the fields is shorter than 100 bytes.
    let size = fields.sum::<usize>() + path.len() + to.as_str().len() + 100;
    let mut head = Vec::with_capacity(size);
    push(
        &mut head,
        [
            method.as_str(),
            if path.starts_with('/') { " " } else { " /" },
            path,
        ],
    );
    push(&mut head, [" HTTP/1.1\r\n"]);
    if !headers.contains_key(HOST) {
        push(&mut head, ["host: ", to.host()]);
        let usual = if address.scheme() == Some(&Scheme::HTTPS) {
            443
        } else {
            80
        };
        if let Some(port) = to.port().filter(|port| port.as_u16() != usual) {
            push(&mut head, [":", port.as_str()]);
        }
        push(&mut head, ["\r\n"]);
    }
    for (name, value) in headers {
        if name == CONTENT_LENGTH || name == TRANSFER_ENCODING {
            continue;
        }
        push(&mut head, [name.as_str(), ": "]);
        head.extend_from_slice(value.as_bytes());
        push(&mut head, ["\r\n"]);
    }
    // A GET without a length has no body; a POST without one could have any (RFC 9110, section 8.6).
    if length > 0 || matches!(*method, Method::POST | Method::PUT | Method::PATCH) {
        push(&mut head, ["content-length: ", &length.to_string(), "\r\n"]);
    }
    push(&mut head, ["\r\n"]);
    head
}

fn push<const PARTS: usize>(head: &mut Vec<u8>, parts: [&str; PARTS]) {
    for part in parts {
        head.extend_from_slice(part.as_bytes());
    }
}

/// Parses the head at the start of `bytes`, and returns it with its length. `None` if it is incomplete.
pub(super) fn read(bytes: &[u8]) -> Result<Option<(Response<()>, usize)>, HeadError> {
    let mut fields = [MaybeUninit::uninit(); MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut []);
    let outcome = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut parsed,
        bytes,
        &mut fields,
    )?;
    let httparse::Status::Complete(end) = outcome else {
        return Ok(None);
    };
    let mut response = Response::new(());
    let status = parsed.code.unwrap_or_default();
    *response.status_mut() =
        StatusCode::from_u16(status).map_err(|_| HeadError::Malformed("the status"))?;
    *response.version_mut() = match parsed.version {
        Some(1) => Version::HTTP_11,
        _ => Version::HTTP_10,
    };
    // The values share one copy of the bytes.
    let kept = Bytes::copy_from_slice(&bytes[..end]);
    let headers = response.headers_mut();
    headers.reserve(parsed.headers.len());
    for field in parsed.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes());
        let name = name.map_err(|_| HeadError::Malformed("the name of a field"))?;
        let start = field.value.as_ptr().addr() - bytes.as_ptr().addr();
        let value = kept.slice(start..start + field.value.len());
        let value = HeaderValue::from_maybe_shared(value);
        let value = value.map_err(|_| HeadError::Malformed("the value of a field"))?;
        headers.append(name, value);
    }
    Ok(Some((response, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(address: &str, headers: &HeaderMap, method: &Method, length: usize) -> String {
        let address: Uri = address.parse().unwrap();
        let to = address.authority().unwrap().clone();
        String::from_utf8(write(method, &address, &to, headers, length)).unwrap()
    }

    #[test]
    fn a_request_says_where_it_goes_and_how_long_its_body_is() {
        let none = HeaderMap::new();
        let get = |address| written(address, &none, &Method::GET, 0);
        assert_eq!(get("http://a"), "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        assert_eq!(
            get("http://a:80/b?c=d"),
            "GET /b?c=d HTTP/1.1\r\nhost: a\r\n\r\n"
        );
        assert_eq!(
            get("http://a:81?c"),
            "GET /?c HTTP/1.1\r\nhost: a:81\r\n\r\n"
        );
        assert_eq!(
            get("http://u:p@[::1]:81/"),
            "GET / HTTP/1.1\r\nhost: [::1]:81\r\n\r\n"
        );
        assert_eq!(get("https://a:443/"), "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        let empty = written("http://a/", &none, &Method::POST, 0);
        assert_eq!(
            empty,
            "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n"
        );
    }

    #[test]
    fn fields_cannot_contradict_the_length_of_the_body() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("7"));
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        headers.insert(HOST, HeaderValue::from_static("other"));
        headers.append("a", HeaderValue::from_static("1"));
        headers.append("a", HeaderValue::from_static("2"));
        let text = written("http://a/", &headers, &Method::POST, 3);
        let mut lines: Vec<_> = text.trim_end().lines().collect();
        lines[1..].sort_unstable();
        let wanted = [
            "POST / HTTP/1.1",
            "a: 1",
            "a: 2",
            "content-length: 3",
            "host: other",
        ];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn a_head_is_read_as_far_as_it_goes() {
        let text = b"HTTP/1.1 404 Not here\r\nA: b\r\nc:d \r\nA:\r\n\r\nbody";
        for cut in 0..text.len() - 4 {
            assert!(read(&text[..cut]).unwrap().is_none(), "{cut}");
        }
        let (head, end) = read(text).unwrap().unwrap();
        assert_eq!(
            (head.status(), &text[end..]),
            (StatusCode::NOT_FOUND, &b"body"[..])
        );
        assert_eq!(head.version(), Version::HTTP_11);
        let values: Vec<_> = head.headers().get_all("a").iter().collect();
        assert_eq!(values, ["b", ""]);
        assert_eq!(head.headers()["c"], "d");
    }

    #[test]
    fn what_is_not_a_head_is_an_error() {
        for text in [
            "220 mail.example ESMTP\r\n\r\n".to_owned(),
            "HTTP/2.0 200 OK\r\n\r\n".to_owned(),
            "HTTP/1.1 2x0 OK\r\n\r\n".to_owned(),
            "HTTP/1.1 099 OK\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\na b: c\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\na: \0\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\na: b\r\n folded\r\n\r\n".to_owned(),
            format!(
                "HTTP/1.1 200 OK\r\n{}\r\n",
                "a: b\r\n".repeat(MAX_FIELDS + 1)
            ),
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_makes_it_panic(input in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            let mut text = b"HTTP/1.1 200\r\n".to_vec();
            let _ = read(&input);
            text.extend_from_slice(&input);
            let _ = read(&text);
        }
    }
}
