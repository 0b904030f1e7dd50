//! A response, read as a whole or event by event.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Response, StatusCode};
use turnbuckle_base::lock::Mutex;

use super::http1::Body;
use super::{Address, BoxError, HttpError};
use crate::http::sse::{self, Decoder, Event};

/// A response whose body was not read yet. Dropping it closes the stream of its request.
pub struct Reply {
    address: Address,
    /// The lock is never contended. It makes a reply `Sync`, although the streams of an application
    /// need not be.
    response: Response<Mutex<Body>>,
}

impl Reply {
    pub(super) fn new(address: Address, response: Response<Body>) -> Self {
        let response = response.map(Mutex::new);
        Self { address, response }
    }

    /// Returns the status.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Returns the address that responded, after redirects.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns how long the server asks to wait, by its `Retry-After` header.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(self.headers(), SystemTime::now())
    }

    /// Whether the body is an event stream.
    pub fn is_events(&self) -> bool {
        self.is(sse::CONTENT_TYPE)
    }

    /// Whether the `Content-Type` of the body is JSON.
    pub fn is_json(&self) -> bool {
        self.is("application/json")
    }

    fn is(&self, media_type: &str) -> bool {
        let given = self.headers().get(CONTENT_TYPE);
        let given = given.and_then(|value| value.to_str().ok()).unwrap_or("");
        let given = given.split(';').next().unwrap_or("").trim();
        given.eq_ignore_ascii_case(media_type)
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// Fails if it is longer than `limit` bytes, or if the connection breaks.
    pub async fn bytes(self, limit: usize) -> Result<Bytes, HttpError> {
        let Self { address, response } = self;
        let mut body = response.into_body().into_inner();
        // The header is not used, because it may be a list, or be overridden by another header.
        if body.length().is_some_and(|length| length > limit as u64) {
            return Err(HttpError::TooLarge { limit });
        }
        let whole = body.whole().await;
        if let Some(whole) = whole.map_err(|source| broken(&address, source))? {
            return Ok(whole);
        }
        let mut first = Bytes::new();
        let mut all = BytesMut::new();
        while let Some(chunk) = data(&mut body, &address).await? {
            if all.len() + first.len() + chunk.len() > limit {
                return Err(HttpError::TooLarge { limit });
            }
            // Most bodies arrive in one piece, which is not copied.
            if first.is_empty() && all.is_empty() {
                first = chunk;
                continue;
            }
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&chunk);
        }
        Ok(if all.is_empty() { first } else { all.freeze() })
    }

    /// Reads the body event by event. An event may have up to `limit` bytes.
    pub fn events(self, limit: usize) -> Events {
        Events {
            address: self.address,
            body: self.response.into_body().into_inner(),
            decoder: Decoder::new().with_max_event_bytes(limit),
            ready: VecDeque::new(),
            limit,
        }
    }
}

/// The events of a response. Dropping it closes the stream.
pub struct Events {
    address: Address,
    body: Body,
    decoder: Decoder,
    ready: VecDeque<Event>,
    limit: usize,
}

impl Events {
    /// Returns the next event; `None` at the end of the stream.
    ///
    /// # Errors
    /// Fails if an event is too long, or if the connection breaks.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<Event>, HttpError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            // Free the memory, because the next event may come hours later.
            self.ready = VecDeque::new();
            let Some(chunk) = data(&mut self.body, &self.address).await? else {
                return Ok(None);
            };
            if self.decoder.feed(&chunk, &mut self.ready).is_err() && self.ready.is_empty() {
                return Err(HttpError::TooLarge { limit: self.limit });
            }
        }
    }
}

/// Parses `Retry-After`: seconds, or a date, which is compared with `now`.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

async fn data(body: &mut Body, address: &Address) -> Result<Option<Bytes>, HttpError> {
    body.data().await.map_err(|source| broken(address, source))
}

fn broken(address: &Address, source: BoxError) -> HttpError {
    HttpError::Broken {
        address: address.clone(),
        source,
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("address", &self.address)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_wait_is_read_as_seconds_or_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let read = |text| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
            retry_after(&headers, now)
        };
        assert_eq!(read("120"), Some(Duration::from_mins(2)));
        assert_eq!(read(" 0 "), Some(Duration::ZERO));
        assert_eq!(
            read("Sun, 06 Nov 1994 08:50:07 GMT"),
            Some(Duration::from_secs(30))
        );
        // A date in the past means now.
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("soon"), None);
        assert_eq!(read("-1"), None);
    }
}
