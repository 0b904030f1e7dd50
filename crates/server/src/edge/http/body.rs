//! The bodies of HTTP answers: bytes, or a stream of events.

use std::{
    convert::Infallible,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::engine::budget::Charge;

/// The body of a response of [`HttpService`](crate::HttpService): a whole message or a stream of
/// events. It implements `http_body::Body`.
pub struct HttpBody {
    kind: BodyKind,
    /// The charge for the request, which is held until the answer has been sent.
    charge: Option<Charge>,
}

enum BodyKind {
    Full(Option<Bytes>),
    /// Bytes of this answer, followed by bytes that are shared with other answers.
    InTwo(Bytes, Bytes),
    Stream(Box<dyn StreamBody>),
}

/// A stream of events.
pub(super) trait StreamBody: Send {
    /// Returns the next part; `None` at the end.
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl HttpBody {
    pub(super) fn empty() -> Self {
        Self::of(BodyKind::Full(None))
    }

    fn of(kind: BodyKind) -> Self {
        let charge = None;
        Self { kind, charge }
    }

    /// Holds the charge for the request until the answer has been sent. If the answer is complete,
    /// the charge is reduced to its length.
    pub(super) fn hold(&mut self, mut charge: Charge) {
        if let Some(length) = self.size_hint().exact() {
            charge.shrink_to(usize::try_from(length).unwrap_or(usize::MAX));
        }
        self.charge = Some(charge);
    }

    pub(super) fn in_two(head: Bytes, tail: Bytes) -> Self {
        Self::of(BodyKind::InTwo(head, tail))
    }

    pub(super) fn stream(body: impl StreamBody + 'static) -> Self {
        Self::of(BodyKind::Stream(Box::new(body)))
    }

    pub(super) fn full(bytes: impl Into<Bytes>) -> Self {
        Self::of(BodyKind::Full(Some(bytes.into())))
    }
}

/// Bytes that hold a value until they are sent. The connection drops the bytes when they have left
/// the process; it drops the body earlier, when the body has no more bytes.
pub(super) fn holding(bytes: impl Into<Bytes>, held: impl Send + Sync + 'static) -> Bytes {
    Bytes::from_owner(HoldingBytes {
        bytes: bytes.into(),
        _held: held,
    })
}

struct HoldingBytes<H> {
    bytes: Bytes,
    _held: H,
}

impl<H> AsRef<[u8]> for HoldingBytes<H> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut self.kind {
            BodyKind::Full(bytes) => Poll::Ready(bytes.take()),
            BodyKind::InTwo(head, tail) => {
                let (head, tail) = (mem::take(head), mem::take(tail));
                self.kind = BodyKind::Full(Some(tail));
                Poll::Ready(Some(head))
            }
            BodyKind::Stream(body) => body.poll_bytes(context),
        };
        bytes.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.kind, BodyKind::Full(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            BodyKind::Full(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            BodyKind::InTwo(head, tail) => SizeHint::with_exact((head.len() + tail.len()) as u64),
            BodyKind::Stream(_) => SizeHint::default(),
        }
    }
}
