//! The body of a request, which records whether hyper has read it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::watched::Progress;

/// A body in one piece.
pub(super) struct Unsent {
    bytes: Bytes,
    progress: Arc<Progress>,
}

impl Unsent {
    pub(super) fn new(bytes: Bytes, progress: Arc<Progress>) -> Self {
        // hyper does not ask for what is empty.
        if bytes.is_empty() {
            progress.body_taken();
        }
        Self { bytes, progress }
    }
}

impl Body for Unsent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.bytes.is_empty() {
            return Poll::Ready(None);
        }
        self.progress.body_taken();
        Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}
