//! The byte stream of a connection, with counters.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::preface::Preface;
use super::state::ConnectionState;
use crate::http::listen::ServerStream;

/// A stream that begins with the bytes that were already read, and reports its reads and writes.
pub(super) struct Wire {
    stream: ServerStream,
    preface: Preface,
    state: Arc<ConnectionState>,
}

impl Wire {
    pub(super) fn new(stream: ServerStream, preface: Preface, state: Arc<ConnectionState>) -> Self {
        Self {
            stream,
            preface,
            state,
        }
    }

    fn noted(&self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &outcome {
            Poll::Ready(_) => self.state.wrote(),
            Poll::Pending => self.state.write_blocked(),
        }
        outcome
    }

    /// TLS buffers what the socket does not accept, so flushing can block too.
    fn noted_flush(&self, outcome: &Poll<io::Result<()>>) {
        match outcome {
            Poll::Ready(_) => self.state.flushed(),
            Poll::Pending => self.state.write_blocked(),
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        // Together with the bytes after it, in one read: hyper doubles its buffer, for the life of the
        // connection, if a first read fills less than its initial size.
        let has_poured = wire.preface.pour(buffer);
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut wire.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            wire.state.read();
        }
        match outcome {
            Poll::Pending if has_poured => Poll::Ready(Ok(())),
            outcome => outcome,
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        let outcome = Pin::new(&mut wire.stream).poll_write(cx, bytes);
        wire.noted(outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        let outcome = Pin::new(&mut wire.stream).poll_write_vectored(cx, slices);
        wire.noted(outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        let outcome = Pin::new(&mut wire.stream).poll_flush(cx);
        wire.noted_flush(&outcome);
        outcome
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        let outcome = Pin::new(&mut wire.stream).poll_shutdown(cx);
        wire.noted_flush(&outcome);
        outcome
    }
}
