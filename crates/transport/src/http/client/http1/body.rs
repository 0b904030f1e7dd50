//! The body of a response, read directly from the connection.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::uri::Authority;
use http::{HeaderMap, Method, Response, StatusCode, Version};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use super::super::BoxError;
use super::super::stream::ClientStream;
use super::chunked::Chunked;
use super::head::HeadError;
use super::pool::Pool;
use super::unsent::Unsent;

/// 16 KiB are read at a time, onto the stack: a body that is being waited for has no buffer.
const READ_BYTES: usize = 16 * 1024;

/// 256 KiB are allocated for a body whose length is known, and more as it arrives: a server that claims
/// megabytes must also send them.
const FIRST_BYTES: usize = 256 * 1024;

/// The rest of a response.
pub(in super::super) enum Body {
    /// hyper reads it, in a task of the connection.
    Pooled(Incoming),
    /// It is read from the connection here. Boxed, because replies pass through many futures and must
    /// be small.
    Separate(Box<Separate>),
}

impl Body {
    /// Returns the next piece; `None` at the end.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(in super::super) async fn data(&mut self) -> Result<Option<Bytes>, BoxError> {
        std::future::poll_fn(|cx| match self {
            Self::Pooled(incoming) => poll_incoming(incoming, cx),
            Self::Separate(separate) => separate.poll_data(cx),
        })
        .await
    }

    /// Returns how many bytes are still to come, if that is known.
    pub(in super::super) fn length(&self) -> Option<u64> {
        match self {
            Self::Pooled(incoming) => incoming.size_hint().exact(),
            Self::Separate(separate) => match separate.framing {
                Framing::Ended => Some(0),
                Framing::Length(length) => Some(length),
                Framing::Chunked(_) | Framing::UntilClosed => None,
            },
        }
    }

    /// Returns the whole body if its length is known and it can be read into one buffer.
    ///
    /// `None` leaves the body unchanged. There is no limit: check the [length](Self::length) first.
    pub(in super::super) async fn whole(&mut self) -> Result<Option<Bytes>, BoxError> {
        match self {
            Self::Separate(separate) => separate.whole().await,
            Self::Pooled(_) => Ok(None),
        }
    }
}

/// How the end of a body is found.
#[derive(Debug, PartialEq)]
pub(super) enum Framing {
    /// The body has ended.
    Ended,
    /// This many bytes are to come.
    Length(u64),
    Chunked(Chunked),
    /// The body ends when the server closes the connection.
    UntilClosed,
}

impl Framing {
    /// The rules of RFC 9112, section 6.3.
    pub(super) fn of(method: &Method, head: &Response<()>) -> Result<Self, HeadError> {
        let status = head.status();
        if has_no_body(status) || *method == Method::HEAD {
            return Ok(Self::Ended);
        }
        if head.headers().contains_key(TRANSFER_ENCODING) {
            if head.version() == Version::HTTP_10 {
                return Err(HeadError::Length(TRANSFER_ENCODING));
            }
            // The client offered no other coding. Another one could not be decoded here, and a double
            // `chunked` is forbidden, because proxies may find another end of the body.
            let mut codings = codings(head.headers());
            return match (codings.next(), codings.next()) {
                (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") => {
                    Ok(Self::Chunked(Chunked::new()))
                }
                // An old name for "no coding".
                (Some(coding), None) if coding.eq_ignore_ascii_case("identity") => {
                    Ok(Self::UntilClosed)
                }
                _ => Err(HeadError::coding(head.headers())),
            };
        }
        // A length may be repeated if it is the same each time.
        let mut length = None;
        for lengths in head.headers().get_all(CONTENT_LENGTH) {
            for text in lengths.to_str().unwrap_or_default().split(',') {
                let text = text.trim();
                let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
                let number = text.parse().ok().filter(|_| is_number);
                if number.is_none() || length.is_some_and(|it| Some(it) != number) {
                    return Err(HeadError::Length(CONTENT_LENGTH));
                }
                length = number;
            }
        }
        Ok(match length {
            None => Self::UntilClosed,
            Some(0) => Self::Ended,
            Some(length) => Self::Length(length),
        })
    }
}

/// Whether responses with this status have no body.
fn has_no_body(status: StatusCode) -> bool {
    [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&status)
        || status.is_informational()
}

/// The transfer codings of a message, in the order in which they were applied.
fn codings(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let fields = headers.get_all(TRANSFER_ENCODING).iter();
    // A value that is not text is not a known coding.
    let all = fields.flat_map(|it| it.to_str().unwrap_or("?").split(','));
    all.map(str::trim).filter(|it| !it.is_empty())
}

/// Whether a response without a body announces one, which may then follow.
fn announces_body(headers: &HeaderMap) -> bool {
    let lengths = headers.get_all(CONTENT_LENGTH);
    headers.contains_key(TRANSFER_ENCODING) || lengths.iter().any(|it| it != "0")
}

/// Whether another request may follow on the connection.
fn is_reusable(head: &Response<()>) -> bool {
    let headers = head.headers();
    head.version() == Version::HTTP_11
        && head.status() != StatusCode::SWITCHING_PROTOCOLS
        && !says_close(headers)
        // RFC 9112, section 6.3: a proxy may have found another end of the body.
        && !(headers.contains_key(TRANSFER_ENCODING) && headers.contains_key(CONTENT_LENGTH))
        && !(has_no_body(head.status()) && announces_body(headers))
}

/// Whether a head says that the connection closes after the message.
pub(super) fn says_close(headers: &HeaderMap) -> bool {
    let options = headers.get_all(CONNECTION).iter();
    let mut options = options.flat_map(|it| it.to_str().unwrap_or("close").split(','));
    options.any(|it| it.trim().eq_ignore_ascii_case("close"))
}

/// A body that is read from its connection.
pub(in super::super) struct Separate {
    framing: Framing,
    /// `None` after it was returned to its pool or became useless.
    stream: Option<ClientStream>,
    /// The rest of the request, if the response came before the server had received all of it. The
    /// connection is then not reused.
    unsent: Option<Box<Unsent>>,
    /// Bytes that were read from the connection but not processed.
    read: Bytes,
    /// The pool that gets the connection when the body has ended.
    home: Option<(Weak<Pool>, Authority)>,
}

impl Separate {
    /// Creates the body after this head, on this connection, which returns to its pool if it has one.
    pub(super) fn new(
        head: &Response<()>,
        framing: Framing,
        (stream, read, unsent): (ClientStream, Bytes, Unsent),
        home: Option<(&Arc<Pool>, &Authority)>,
    ) -> Self {
        let unsent = (!unsent.is_sent()).then(|| Box::new(unsent));
        let home = home.filter(|_| unsent.is_none() && is_reusable(head));
        let mut separate = Self {
            framing,
            stream: Some(stream),
            unsent,
            read,
            home: home.map(|(pool, to)| (Arc::downgrade(pool), to.clone())),
        };
        separate.give_back_if_ended();
        separate
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BoxError>> {
        loop {
            if let Some(data) = self.next_read()? {
                return Poll::Ready(Ok(Some(data)));
            }
            if matches!(self.framing, Framing::Ended) {
                return Poll::Ready(Ok(None));
            }
            // An empty slice may still hold the buffer that it was a part of.
            self.read = Bytes::new();
            let Some(stream) = &mut self.stream else {
                return Poll::Ready(Err(cut_off().into()));
            };
            if let Some(unsent) = &mut self.unsent
                && unsent.poll_send(stream, cx).is_ready()
            {
                // If this failed, the server may have sent its response and closed the connection.
                self.unsent = None;
            }
            let outcome = ready!(poll_some(stream, cx));
            self.read = outcome.inspect_err(|_| self.stream = None)?;
            if self.read.is_empty() {
                self.stream = None;
                if !matches!(self.framing, Framing::UntilClosed) {
                    return Poll::Ready(Err(cut_off().into()));
                }
                self.framing = Framing::Ended;
            }
        }
    }

    /// Returns the next piece of the body among the bytes that were read.
    fn next_read(&mut self) -> Result<Option<Bytes>, BoxError> {
        let data = match &mut self.framing {
            Framing::Ended => None,
            _ if self.read.is_empty() => None,
            Framing::UntilClosed => Some(std::mem::take(&mut self.read)),
            Framing::Length(left) => {
                let here = usize::try_from(*left).unwrap_or(usize::MAX);
                let data = self.read.split_to(here.min(self.read.len()));
                *left -= data.len() as u64;
                Some(data)
            }
            Framing::Chunked(chunked) => chunked.next(&mut self.read).inspect_err(|_| {
                self.stream = None;
            })?,
        };
        self.give_back_if_ended();
        Ok(data)
    }

    /// Reads a body of known length directly into its final buffer.
    async fn whole(&mut self) -> Result<Option<Bytes>, BoxError> {
        let Framing::Length(length) = self.framing else {
            return Ok(None);
        };
        let Ok(length) = usize::try_from(length) else {
            return Ok(None);
        };
        if self.unsent.is_some() {
            return Ok(None);
        }
        if self.read.len() >= length {
            // Most bodies have arrived together with their head, and are not copied.
            return self.next_read();
        }
        let Some(stream) = &mut self.stream else {
            return Err(cut_off().into());
        };
        let mut all = BytesMut::with_capacity(length.min(FIRST_BYTES));
        all.extend_from_slice(&std::mem::take(&mut self.read));
        while all.len() < length {
            if all.len() == all.capacity() {
                all.reserve((length - all.len()).min(all.len()));
            }
            let mut rest = stream.take((length - all.len()) as u64);
            if rest.read_buf(&mut all).await? == 0 {
                return Err(cut_off().into());
            }
        }
        self.framing = Framing::Length(0);
        self.give_back_if_ended();
        Ok(Some(all.freeze()))
    }

    /// Returns the connection to its pool at the end of the body.
    fn give_back_if_ended(&mut self) {
        match &self.framing {
            Framing::Ended | Framing::Length(0) => {}
            Framing::Chunked(chunked) if chunked.is_ended() => {}
            _ => return,
        }
        self.framing = Framing::Ended;
        let home = self.home.take();
        // Bytes after the end belong to no request, and the same may be true of all further bytes.
        let stream = self.stream.take().filter(|_| self.read.is_empty());
        self.read = Bytes::new();
        if let (Some(stream), Some((pool, to))) = (stream, home)
            && let Some(pool) = pool.upgrade()
        {
            pool.put(to, stream);
        }
    }
}

impl Drop for Separate {
    /// If the body has arrived but was not read, the connection can still be reused.
    fn drop(&mut self) {
        let has_come = match &self.framing {
            Framing::Length(left) => *left == self.read.len() as u64,
            // Node sends an empty response like this. Only the bytes that have already arrived are
            // processed.
            Framing::Chunked(_) => true,
            Framing::Ended | Framing::UntilClosed => false,
        };
        while has_come && matches!(self.next_read(), Ok(Some(_))) {}
    }
}

fn cut_off() -> io::Error {
    let problem = "the connection was closed in the middle of the body";
    io::Error::new(io::ErrorKind::UnexpectedEof, problem)
}

/// Reads the available bytes; none at the end.
fn poll_some(stream: &mut ClientStream, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
    let mut space = [MaybeUninit::uninit(); READ_BYTES];
    let mut buffer = ReadBuf::uninit(&mut space);
    ready!(Pin::new(stream).poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(Bytes::copy_from_slice(buffer.filled())))
}

/// Polls hyper for the next data.
fn poll_incoming(
    incoming: &mut Incoming,
    cx: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>, BoxError>> {
    loop {
        let Some(frame) = ready!(Pin::new(&mut *incoming).poll_frame(cx)) else {
            return Poll::Ready(Ok(None));
        };
        // Trailers are not used.
        if let Ok(data) = frame?.into_data() {
            return Poll::Ready(Ok(Some(data)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::head;
    use super::*;

    fn framing(method: &Method, text: &str) -> Result<Framing, HeadError> {
        let (head, _) = head::read(format!("{text}\r\n\r\n").as_bytes())
            .unwrap()
            .unwrap();
        Framing::of(method, &head)
    }

    #[test]
    fn the_end_of_a_body_is_found_as_the_rules_say() {
        let chunked = || Framing::Chunked(Chunked::new());
        for (text, wanted) in [
            ("HTTP/1.1 200 OK", Framing::UntilClosed),
            ("HTTP/1.1 200 OK\r\ncontent-length: 0", Framing::Ended),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5", Framing::Length(5)),
            (
                "HTTP/1.0 200 OK\r\ncontent-length: 5, 5\r\ncontent-length: 5",
                Framing::Length(5),
            ),
            ("HTTP/1.1 204 OK\r\ncontent-length: 5", Framing::Ended),
            ("HTTP/1.1 304 OK\r\ncontent-length: 5", Framing::Ended),
            ("HTTP/1.1 101 OK\r\ncontent-length: 5", Framing::Ended),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\ncontent-length: 5",
                chunked(),
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: ,chunked ,",
                chunked(),
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: identity",
                Framing::UntilClosed,
            ),
        ] {
            assert_eq!(framing(&Method::POST, text).unwrap(), wanted, "{text}");
        }
        let text = "HTTP/1.1 200 OK\r\ncontent-length: 5";
        assert_eq!(framing(&Method::HEAD, text).unwrap(), Framing::Ended);
    }

    #[test]
    fn a_connection_is_used_again_unless_its_end_or_that_of_the_body_is_in_doubt() {
        for (text, wanted) in [
            ("HTTP/1.1 200 OK", true),
            (
                "HTTP/1.1 200 OK\r\nconnection: x\r\nconnection: keep-alive, Close",
                false,
            ),
            ("HTTP/1.0 200 OK\r\nconnection: keep-alive", false),
            ("HTTP/1.1 101 Switch", false),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 5",
                false,
            ),
            ("HTTP/1.1 204 No\r\ncontent-length: 0", true),
            ("HTTP/1.1 204 No\r\ncontent-length: 5", false),
            ("HTTP/1.1 304 No\r\ntransfer-encoding: chunked", false),
        ] {
            let (head, _) = head::read(format!("{text}\r\n\r\n").as_bytes())
                .unwrap()
                .unwrap();
            assert_eq!(is_reusable(&head), wanted, "{text}");
        }
    }

    #[test]
    fn a_body_whose_end_is_in_doubt_is_refused() {
        for fields in [
            "content-length: -1",
            "content-length: +1",
            "content-length:",
            "content-length: 1, 2",
            "content-length: 1\r\ncontent-length: 2",
            "content-length: 18446744073709551616",
        ] {
            let error = framing(&Method::POST, &format!("HTTP/1.1 200 OK\r\n{fields}"));
            assert!(matches!(error, Err(HeadError::Length(_))), "{fields}");
        }
        for codings in [
            "gzip, chunked",
            "gzip\r\ntransfer-encoding: chunked",
            "chunked, gzip",
            "chunked, chunked",
            "\u{e9}",
            "",
        ] {
            let text = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: {codings}");
            let error = framing(&Method::POST, &text);
            assert!(matches!(error, Err(HeadError::Coding(_))), "{codings}");
        }
        let error = framing(
            &Method::POST,
            "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked",
        );
        assert!(matches!(error, Err(HeadError::Length(_))));
    }
}
