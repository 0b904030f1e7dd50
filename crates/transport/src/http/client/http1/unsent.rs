//! The part of a request that is still to be written.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::AsyncWrite;

use super::super::stream::ClientStream;

/// The rest of a request.
pub(super) struct Unsent {
    head: Bytes,
    body: Bytes,
    is_begun: bool,
    is_flushed: bool,
}

impl Unsent {
    pub(super) fn new(head: Bytes, body: Bytes) -> Self {
        Self {
            head,
            body,
            is_begun: false,
            is_flushed: false,
        }
    }

    /// Whether any part of the request was written.
    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Whether the whole request was written.
    pub(super) fn is_sent(&self) -> bool {
        self.is_flushed
    }

    /// Writes until everything is sent.
    pub(super) fn poll_send(
        &mut self,
        stream: &mut ClientStream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !(self.head.is_empty() && self.body.is_empty()) {
            let parts = [IoSlice::new(&self.head), IoSlice::new(&self.body)];
            let written = ready!(Pin::new(&mut *stream).poll_write_vectored(cx, &parts))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.is_begun = true;
            let of_head = written.min(self.head.len());
            self.head.advance(of_head);
            self.body.advance(written - of_head);
        }
        ready!(Pin::new(stream).poll_flush(cx))?;
        self.is_flushed = true;
        Poll::Ready(Ok(()))
    }
}
