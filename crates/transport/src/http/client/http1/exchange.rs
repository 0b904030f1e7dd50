//! One request on a connection, and the head of its response.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode, Uri};
use tokio::io::{AsyncRead, ReadBuf};
use tower_service::Service;

use super::super::BoxError;
use super::super::connector::Connector;
use super::super::stream::ClientStream;
use super::body::{Body, Framing, Separate, says_close};
use super::head::{self, HeadError, MAX_HEAD_BYTES};
use super::pool::Pool;
use super::unsent::Unsent;

/// 8 KiB are read at a time, onto the stack. Most responses arrive in one piece.
const READ_BYTES: usize = 8 * 1024;

/// Sends requests over connections that it opens and keeps. Clones share the connections.
#[derive(Clone)]
pub(in super::super) struct Exchange {
    connector: Connector,
    pool: Arc<Pool>,
}

/// Why a request got no response.
#[derive(Debug)]
pub(in super::super) enum SendError {
    /// Nothing was sent.
    Unsent(BoxError),
    /// The request may have been sent.
    Sent(BoxError),
}

impl Exchange {
    /// Keeps up to `limit` unused connections, each for the time `patience`.
    pub(in super::super) fn new(connector: Connector, limit: usize, patience: Duration) -> Self {
        let pool = Pool::new(limit, patience);
        Self { connector, pool }
    }

    /// Sends a request and waits for the head of its response.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub(in super::super) async fn send(
        &self,
        method: &Method,
        address: &Uri,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response<Body>, SendError> {
        let to = address.authority();
        let to = to.ok_or_else(|| SendError::Unsent("the address has no host".into()))?;
        let head = head::write(method, address, to, headers, body.len());
        // RFC 9112, section 9.6: no request follows on a connection that the client has announced to
        // close.
        let home = (!says_close(headers)).then_some((&self.pool, to));
        let mut unsent = Unsent::new(head.into(), body);
        loop {
            let (mut stream, is_new) = match self.pool.take(to) {
                Some(kept) => (kept, false),
                None => (self.connect(address).await?, true),
            };
            match send_over(&mut stream, &mut unsent).await {
                Ok((head, read)) => {
                    let framing = Framing::of(method, &head);
                    let framing = framing.map_err(|error| SendError::Sent(error.into()))?;
                    let connection = (stream, read, unsent);
                    let body = Separate::new(&head, framing, connection, home);
                    return Ok(head.map(|()| Body::Separate(Box::new(body))));
                }
                Err(error) if unsent.is_begun() => return Err(SendError::Sent(error)),
                Err(error) if is_new => return Err(SendError::Unsent(error)),
                // The server closed an idle connection. Try each idle connection once.
                Err(_) => {}
            }
        }
    }

    /// Closes the unused connections to the server at this address.
    pub(in super::super) fn close_unused(&self, address: &Uri) {
        if let Some(to) = address.authority() {
            self.pool.close(to);
        }
    }

    async fn connect(&self, address: &Uri) -> Result<ClientStream, SendError> {
        let connected = self.connector.clone().call(address.clone()).await;
        Ok(connected.map_err(SendError::Unsent)?.into_inner())
    }
}

/// Sends a request and reads the head of its response. Returns the head with the bytes that were
/// already read of the body.
///
/// A response may come before the server has received the whole request; the rest is then sent while
/// the body is read.
async fn send_over(
    stream: &mut ClientStream,
    unsent: &mut Unsent,
) -> Result<(Response<()>, Bytes), BoxError> {
    let mut reading = HeadReading::default();
    let mut not_sent = None;
    poll_fn(|cx| {
        if not_sent.is_none()
            && let Poll::Ready(Err(error)) = unsent.poll_send(stream, cx)
        {
            if !unsent.is_begun() {
                return Poll::Ready(Err(error.into()));
            }
            // The server may have responded and closed the connection.
            not_sent = Some(error);
        }
        let outcome = ready!(reading.poll(stream, cx));
        Poll::Ready(outcome.map_err(|error| match not_sent.take() {
            // A response that is not HTTP is more informative than a failed write.
            Some(not_sent) if !error.is::<HeadError>() => not_sent.into(),
            _ => error,
        }))
    })
    .await
}

/// A head that arrives in pieces.
#[derive(Default)]
struct HeadReading {
    /// The bytes that have arrived.
    read: Vec<u8>,
    /// The number of bytes of informational responses before the head.
    passed: usize,
}

impl HeadReading {
    fn poll(
        &mut self,
        stream: &mut ClientStream,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(Response<()>, Bytes), BoxError>> {
        loop {
            let mut space = [MaybeUninit::uninit(); READ_BYTES];
            let mut buffer = ReadBuf::uninit(&mut space);
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                // The bytes may not be HTTP and contain no line feed, like the alert of a TLS server.
                head::read(&self.read)?;
                let problem = "the connection was closed before the head of an answer arrived";
                let error = io::Error::new(io::ErrorKind::UnexpectedEof, problem);
                return Poll::Ready(Err(error.into()));
            }
            if let Some(read) = self.take(buffer.filled())? {
                return Poll::Ready(Ok(read));
            }
        }
    }

    /// Adds bytes that have arrived. Returns the head and the bytes after it, once the head is
    /// complete.
    fn take(&mut self, came: &[u8]) -> Result<Option<(Response<()>, Bytes)>, HeadError> {
        let mut joined = std::mem::take(&mut self.read);
        let mut bytes = came;
        if !joined.is_empty() {
            joined.extend_from_slice(came);
            bytes = &joined;
        }
        // The head is parsed from its start each time, so only when it may be complete. The first bytes
        // are parsed in any case: a server that does not speak HTTP may send no line feed, and nothing
        // else.
        if joined.is_empty() || memchr::memchr(b'\n', came).is_some() {
            while let Some((response, end)) = head::read(bytes)? {
                if self.passed + end > MAX_HEAD_BYTES {
                    return Err(HeadError::TooLong);
                }
                let (head, rest) = bytes.split_at(end);
                let status = response.status();
                if !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS {
                    return Ok(Some((response, Bytes::copy_from_slice(rest))));
                }
                self.passed += head.len();
                bytes = rest;
            }
            // Empty lines before a head are skipped now, so that they do not make parsing slower.
            let rest = after_empty_lines(bytes);
            self.passed += bytes.len() - rest.len();
            bytes = rest;
        }
        if self.passed + bytes.len() > MAX_HEAD_BYTES {
            return Err(HeadError::TooLong);
        }
        self.read = if bytes.len() == joined.len() {
            joined
        } else {
            bytes.to_vec()
        };
        Ok(None)
    }
}

/// Removes complete empty lines. A carriage return alone stays: what follows decides whether it is valid.
fn after_empty_lines(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes
        .strip_prefix(b"\n")
        .or_else(|| bytes.strip_prefix(b"\r\n"))
    {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_http_is_an_error_at_once() {
        // The alert of a TLS server, and the greetings of other servers, which then wait for a reply.
        for text in [
            &b"\x15\x03\x01\0\x02\x02\x46"[..],
            b"220 mail.example ESMTP\r\n",
            b"SSH-2.0-x",
        ] {
            let mut reading = HeadReading::default();
            let read = reading.take(text);
            assert!(matches!(read, Err(HeadError::Malformed(_))), "{text:?}");
        }
    }

    #[test]
    fn a_head_that_comes_whole_has_the_same_limit() {
        let fields = format!("a: {}\r\n", "b".repeat(MAX_HEAD_BYTES));
        let text = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
        let read = HeadReading::default().take(text.as_bytes());
        assert!(matches!(read, Err(HeadError::TooLong)));
    }

    #[test]
    fn a_head_is_found_however_its_bytes_are_cut() {
        for (head, status) in [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 200),
            ("HTTP/1.1 200\r\n\r\n", 200),
            ("HTTP/1.1 200 OK\nA: b\n\n", 200),
            ("\r\n\r\nHTTP/1.1 404 No\r\n\r\n", 404),
            (
                "HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
                200,
            ),
            ("HTTP/1.1 101 Switch\r\nA: b\r\n\r\n", 101),
        ] {
            let text = format!("{head}\r\nHTTP/1.1 100 no\r\n\r\n");
            for size in 1..text.len() {
                let mut reading = HeadReading::default();
                let mut pieces = text.as_bytes().chunks(size).enumerate();
                let (read, rest) = pieces
                    .find_map(|(number, piece)| {
                        let (response, rest) = reading.take(piece).unwrap()?;
                        let end = (number * size + piece.len()).min(text.len()) - rest.len();
                        Some((response, end))
                    })
                    .unwrap();
                assert_eq!(read.status(), status, "{head:?} in pieces of {size}");
                assert_eq!(rest, head.len(), "{head:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_carriage_return_alone_is_refused_however_the_bytes_are_cut() {
        for text in [
            "\rHTTP/1.1 200 OK\r\n\r\n",
            "\r\n\r\rHTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 100 Go on\r\n\r\n\rHTTP/1.1 200 OK\r\n\r\n",
        ] {
            for size in 1..=text.len() {
                let mut reading = HeadReading::default();
                let mut pieces = text.as_bytes().chunks(size);
                let read = pieces.try_for_each(|piece| reading.take(piece).map(|_| ()));
                assert!(read.is_err(), "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_head_without_end_is_refused() {
        for piece in [
            "HTTP/1.1 100 Go on\r\n\r\n",
            "\r\n",
            "HTTP/1.1 200 OK\r\nA: ",
            "x",
        ] {
            let mut reading = HeadReading::default();
            let mut taken = 0;
            let error = loop {
                match reading.take(piece.as_bytes()) {
                    Ok(read) => assert!(read.is_none(), "{piece:?}"),
                    Err(error) => break error,
                }
                taken += piece.len();
                assert!(taken <= MAX_HEAD_BYTES, "{piece:?}");
            };
            let is_expected = matches!(error, HeadError::TooLong | HeadError::Malformed(_));
            assert!(is_expected, "{piece:?}: {error}");
        }
    }
}
