//! A connection while hyper uses it: it gives hyper no bytes after the head of the answer.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, ReadBuf};

use super::super::stream::ClientStream;

/// How far a request and its answer are. One task reads and writes it.
#[derive(Debug, Default)]
pub(super) struct Progress {
    is_body_taken: AtomicBool,
    is_sent: AtomicBool,
    has_heard: AtomicBool,
    is_head_read: AtomicBool,
    is_let_through: AtomicBool,
}

impl Progress {
    /// Begins on another connection, which takes the request from the start.
    pub(super) fn begin(&self) {
        self.is_sent.store(false, Ordering::Relaxed);
        self.has_heard.store(false, Ordering::Relaxed);
        self.is_head_read.store(false, Ordering::Relaxed);
    }

    /// hyper has the whole body of the request.
    pub(super) fn body_taken(&self) {
        self.is_body_taken.store(true, Ordering::Relaxed);
    }

    /// Whether the operating system has all of the request.
    pub(super) fn is_sent(&self) -> bool {
        self.is_sent.load(Ordering::Relaxed)
    }

    /// Whether anything came back, be it the end.
    pub(super) fn has_heard(&self) -> bool {
        self.has_heard.load(Ordering::Relaxed)
    }

    /// Whether hyper was given the whole head of the answer.
    pub(super) fn is_head_read(&self) -> bool {
        self.is_head_read.load(Ordering::Relaxed)
    }

    /// Gives hyper the body too.
    pub(super) fn let_through(&self) {
        self.is_let_through.store(true, Ordering::Relaxed);
    }
}

/// A connection that notes its progress, and keeps the body of the answer from hyper, which would take
/// some of it off the wire and not say how much.
pub(super) struct Watched {
    io: TokioIo<ClientStream>,
    progress: Arc<Progress>,
    head: HeadScan,
    /// Bytes after the head.
    kept: Bytes,
}

impl Watched {
    pub(super) fn new(stream: ClientStream, progress: Arc<Progress>) -> Self {
        Self {
            io: TokioIo::new(stream),
            progress,
            head: HeadScan::default(),
            kept: Bytes::new(),
        }
    }

    /// The connection, and what was read of the body.
    pub(super) fn into_parts(self) -> (ClientStream, Bytes) {
        (self.io.into_inner(), self.kept)
    }

    /// Reads as far as the head goes.
    fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut space = [MaybeUninit::uninit(); HEAD_BYTES];
        let room = buffer.remaining().min(HEAD_BYTES);
        let mut read = ReadBuf::uninit(&mut space[..room]);
        ready!(Pin::new(self.io.inner_mut()).poll_read(cx, &mut read))?;
        let read = read.filled();
        let head = match self.head.end_in(read) {
            None => read,
            Some(end) => {
                self.progress.is_head_read.store(true, Ordering::Relaxed);
                let (head, body) = read.split_at(end);
                self.kept = Bytes::copy_from_slice(body);
                head
            }
        };
        buffer.put_slice(head);
        Poll::Ready(Ok(()))
    }
}

/// 8 KiB are read at a time, as hyper does it.
const HEAD_BYTES: usize = 8 * 1024;

/// Finds the empty line that ends a head.
#[derive(Default)]
struct HeadScan {
    /// The beginning of the first line: `HTTP/1.1 200`.
    status: [u8; 12],
    /// Bytes of the head so far, without the ends of its lines.
    seen: usize,
    /// The same for the line that has begun.
    line: usize,
}

impl HeadScan {
    /// Where the body begins. Heads of informational answers come before the one that is meant.
    fn end_in(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().copied().enumerate() {
            match byte {
                b'\r' => {}
                b'\n' if self.line > 0 => self.line = 0,
                // Empty lines before the first are skipped, as hyper does.
                b'\n' if self.seen == 0 => {}
                b'\n' if self.is_informational() => *self = Self::default(),
                b'\n' => return Some(at + 1),
                _ => {
                    if let Some(place) = self.status.get_mut(self.seen) {
                        *place = byte;
                    }
                    self.seen += 1;
                    self.line += 1;
                }
            }
        }
        None
    }

    fn is_informational(&self) -> bool {
        let status = &self.status[9..];
        status[0] == b'1' && status != b"101"
    }
}

impl Read for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let outcome = if !self.progress.is_head_read() {
            ready!(self.poll_head(cx, buffer))
        } else if !self.progress.is_let_through.load(Ordering::Relaxed) {
            return Poll::Pending;
        } else if self.kept.is_empty() {
            ready!(Pin::new(&mut self.io).poll_read(cx, buffer))
        } else {
            let here = self.kept.len().min(buffer.remaining());
            buffer.put_slice(&self.kept.split_to(here));
            Ok(())
        };
        self.progress.has_heard.store(true, Ordering::Relaxed);
        Poll::Ready(outcome)
    }
}

impl Write for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_flush(cx))?;
        // hyper flushes the connection when it has written all that it was given.
        if self.progress.is_body_taken.load(Ordering::Relaxed) {
            self.progress.is_sent.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_begins_after_the_empty_line_however_the_bytes_are_cut() {
        for head in [
            "HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
            "HTTP/1.1 200\r\n\r\n",
            "HTTP/1.1 200 OK\nA: b\n\n",
            "\r\n\r\nHTTP/1.1 404 No\r\n\r\n",
            "HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 101 Switch\r\nA: b\r\n\r\n",
        ] {
            let text = format!("{head}\r\nHTTP/1.1 100 no\r\n\r\n");
            for size in 1..text.len() {
                let mut scan = HeadScan::default();
                let mut pieces = text.as_bytes().chunks(size).enumerate();
                let end =
                    pieces.find_map(|(number, piece)| Some(number * size + scan.end_in(piece)?));
                assert_eq!(end, Some(head.len()), "{head:?} in pieces of {size}");
            }
        }
    }
}
