//! What answers are made of: bytes, or a stream of events.

use std::{
    convert::Infallible,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// The body of an answer.
pub struct HttpBody(BodyKind);

enum BodyKind {
    Full(Option<Bytes>),
    /// Bytes of its own, and then some that are shared with other answers.
    InTwo(Bytes, Bytes),
    Stream(Box<dyn StreamBody>),
}

/// A stream of events.
pub(super) trait StreamBody: Send {
    /// The next piece; `None` at the end.
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl HttpBody {
    pub(super) fn empty() -> Self {
        Self(BodyKind::Full(None))
    }

    pub(super) fn in_two(head: Vec<u8>, tail: Bytes) -> Self {
        Self(BodyKind::InTwo(head.into(), tail))
    }

    pub(super) fn stream(body: impl StreamBody + 'static) -> Self {
        Self(BodyKind::Stream(Box::new(body)))
    }

    pub(super) fn full(bytes: impl Into<Bytes>) -> Self {
        Self(BodyKind::Full(Some(bytes.into())))
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut self.0 {
            BodyKind::Full(bytes) => Poll::Ready(bytes.take()),
            BodyKind::InTwo(head, tail) => {
                let (head, tail) = (mem::take(head), mem::take(tail));
                self.0 = BodyKind::Full(Some(tail));
                Poll::Ready(Some(head))
            }
            BodyKind::Stream(body) => body.poll_bytes(context),
        };
        bytes.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, BodyKind::Full(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyKind::Full(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            BodyKind::InTwo(head, tail) => SizeHint::with_exact((head.len() + tail.len()) as u64),
            BodyKind::Stream(_) => SizeHint::default(),
        }
    }
}
