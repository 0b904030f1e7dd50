//! The body of an answer, read from the connection itself.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, TRANSFER_ENCODING};
use http::response::Parts;
use http::uri::Authority;
use http::{StatusCode, Version};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use super::super::BoxError;
use super::super::stream::ClientStream;
use super::chunked::Chunked;
use super::exchange::Http1Connection;
use super::pool::Pool;

/// 16 KiB are read at a time, into the stack: a body that is waited for has no buffer.
const READ_BYTES: usize = 16 * 1024;

/// 256 KiB are set aside for a body whose length is known, and more as it comes: a server that claims
/// megabytes has to send them.
const FIRST_BYTES: usize = 256 * 1024;

/// The rest of an answer.
pub(in super::super) enum Body {
    /// hyper's pool reads it, in a task of the connection.
    Pooled(Incoming),
    /// It is read from the connection here. Replies are handed through many futures, so they are small.
    Separate(Box<Separate>),
    /// hyper still has the connection, and is driven here.
    Driven(Box<Driven>),
}

impl Body {
    /// The body after this head, on this connection, which goes back to its pool.
    pub(super) fn of(
        head: &Parts,
        incoming: &Incoming,
        stream: ClientStream,
        read: Bytes,
        (pool, to): (&Arc<Pool>, Authority),
    ) -> Self {
        let is_reusable = is_reusable(head);
        let home = is_reusable.then(|| (Arc::downgrade(pool), to));
        let mut separate = Separate {
            framing: Framing::of(head, incoming),
            stream: Some(stream),
            read,
            home,
        };
        separate.give_back_if_ended();
        Self::Separate(Box::new(separate))
    }

    /// The next piece; `None` at the end.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(in super::super) async fn data(&mut self) -> Result<Option<Bytes>, BoxError> {
        std::future::poll_fn(|cx| match self {
            Self::Pooled(incoming) => poll_incoming(incoming, cx),
            Self::Separate(separate) => separate.poll_data(cx),
            Self::Driven(driven) => driven.poll_data(cx),
        })
        .await
    }

    /// How many bytes are to come, if that is known.
    pub(in super::super) fn length(&self) -> Option<u64> {
        match self {
            Self::Pooled(incoming) => incoming.size_hint().exact(),
            Self::Separate(separate) => match separate.framing {
                Framing::Ended => Some(0),
                Framing::Length(length) => Some(length),
                Framing::Chunked(_) | Framing::UntilClosed => None,
            },
            Self::Driven(driven) => driven.incoming.size_hint().exact(),
        }
    }

    /// All of the body if its length is known and it can be read into one buffer.
    ///
    /// `None` leaves the body as it is. It is not limited: look at the [length](Self::length) first.
    pub(in super::super) async fn whole(&mut self) -> Result<Option<Bytes>, BoxError> {
        match self {
            Self::Separate(separate) => separate.whole().await,
            Self::Pooled(_) | Self::Driven(_) => Ok(None),
        }
    }
}

/// How the end of a body is found.
#[derive(Debug)]
enum Framing {
    /// It has been read.
    Ended,
    /// So many bytes are to come.
    Length(u64),
    Chunked(Chunked),
    /// The server closes the connection.
    UntilClosed,
}

impl Framing {
    /// hyper has checked the head, and says how long the body is, if it knows.
    fn of(head: &Parts, incoming: &Incoming) -> Self {
        if incoming.is_end_stream() {
            return Self::Ended;
        }
        if let Some(length) = incoming.size_hint().exact() {
            return Self::Length(length);
        }
        // RFC 9112, section 6.3: another coding after it, and the end is that of the connection.
        let codings = head.headers.get_all(TRANSFER_ENCODING).iter().next_back();
        let codings = codings.and_then(|it| it.to_str().ok()).unwrap_or_default();
        let last = codings.rsplit(',').next().unwrap_or_default();
        if last.trim().eq_ignore_ascii_case("chunked") {
            Self::Chunked(Chunked::new())
        } else {
            Self::UntilClosed
        }
    }
}

/// Whether another request may follow on the connection.
fn is_reusable(head: &Parts) -> bool {
    let options = head.headers.get_all(CONNECTION).iter();
    let mut options = options.flat_map(|it| it.to_str().unwrap_or("close").split(','));
    head.version == Version::HTTP_11
        && head.status != StatusCode::SWITCHING_PROTOCOLS
        && !options.any(|it| it.trim().eq_ignore_ascii_case("close"))
}

/// A body that is read from its connection.
pub(in super::super) struct Separate {
    framing: Framing,
    /// `None` once it went back to its pool or is of no more use.
    stream: Option<ClientStream>,
    /// Bytes of the connection that were read and not looked at.
    read: Bytes,
    /// Where the connection goes when the body has ended.
    home: Option<(Weak<Pool>, Authority)>,
}

impl Separate {
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BoxError>> {
        loop {
            if let Some(data) = self.next_read()? {
                return Poll::Ready(Ok(Some(data)));
            }
            if matches!(self.framing, Framing::Ended) {
                return Poll::Ready(Ok(None));
            }
            // What is empty may still hold the buffer that it was a part of.
            self.read = Bytes::new();
            let Some(stream) = &mut self.stream else {
                return Poll::Ready(Err(cut_off().into()));
            };
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

    /// The next piece of the body among the bytes that were read.
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

    /// Reads a body of a known length straight to where it is kept.
    async fn whole(&mut self) -> Result<Option<Bytes>, BoxError> {
        let Framing::Length(length) = self.framing else {
            return Ok(None);
        };
        let Ok(length) = usize::try_from(length) else {
            return Ok(None);
        };
        if self.read.len() >= length {
            // Most answers came with their head, and are not copied.
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

    /// Hands the connection back to its pool at the end of the body.
    fn give_back_if_ended(&mut self) {
        match &self.framing {
            Framing::Ended | Framing::Length(0) => {}
            Framing::Chunked(chunked) if chunked.is_ended() => {}
            _ => return,
        }
        self.framing = Framing::Ended;
        let home = self.home.take();
        // Bytes after the end are an answer to nothing, and whatever follows could be too.
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
    /// A body that has come and was not wanted leaves a connection that can be used.
    fn drop(&mut self) {
        let has_come = match &self.framing {
            Framing::Length(left) => *left == self.read.len() as u64,
            // Node sends an empty answer like this. It is read as far as it has come.
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

/// Reads what there is; nothing at the end.
fn poll_some(stream: &mut ClientStream, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
    let mut space = [MaybeUninit::uninit(); READ_BYTES];
    let mut buffer = ReadBuf::uninit(&mut space);
    ready!(Pin::new(stream).poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(Bytes::copy_from_slice(buffer.filled())))
}

/// A body that hyper reads while it still sends the request. The connection is not used again.
pub(in super::super) struct Driven {
    incoming: Incoming,
    /// `None` once it has ended.
    connection: Option<Box<Http1Connection>>,
}

impl Driven {
    pub(super) fn new(incoming: Incoming, connection: Box<Http1Connection>) -> Self {
        let connection = Some(connection);
        Self {
            incoming,
            connection,
        }
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BoxError>> {
        if let Poll::Ready(data) = poll_incoming(&mut self.incoming, cx) {
            return Poll::Ready(data);
        }
        if let Some(connection) = &mut self.connection
            && Pin::new(&mut **connection).poll(cx).is_ready()
        {
            self.connection = None;
        }
        poll_incoming(&mut self.incoming, cx)
    }
}

/// The next data that hyper hands over.
fn poll_incoming(
    incoming: &mut Incoming,
    cx: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>, BoxError>> {
    loop {
        let Some(frame) = ready!(Pin::new(&mut *incoming).poll_frame(cx)) else {
            return Poll::Ready(Ok(None));
        };
        // Trailers say nothing that is asked for.
        if let Ok(data) = frame?.into_data() {
            return Poll::Ready(Ok(Some(data)));
        }
    }
}
