//! The child's standard input and output as the streams of a connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{ChildStderr, ChildStdout};

use super::process::{Pipe, Process};

/// Both pipes of a child, for [`run`](crate::run).
#[derive(Debug)]
pub struct Pipes {
    /// The child's standard output.
    pub reader: ChildReader,
    /// The child's standard input.
    pub writer: ChildWriter,
}

/// The standard output of a child.
///
/// It ends when the last process that holds it has exited, or when the child was ended and its output
/// was read completely: a process that escaped does not keep the connection open.
#[derive(Debug)]
pub struct ChildReader(Tail<ChildStdout>);

/// The standard input of a child, closed when this is dropped, shut down, or the child is ended.
#[derive(Debug)]
pub struct ChildWriter(Arc<Process>);

impl Pipes {
    pub(super) fn new(stdout: ChildStdout, process: &Arc<Process>) -> Self {
        Self {
            reader: ChildReader(Tail::of_stdout(stdout, process.clone())),
            writer: ChildWriter(process.clone()),
        }
    }
}

impl AsyncRead for ChildReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, space)
    }
}

impl AsyncWrite for ChildWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = self
            .0
            .with_stdin(cx, |stdin, cx| Pin::new(stdin).poll_write(cx, bytes));
        polled.unwrap_or_else(|| Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(())) // A pipe holds nothing back.
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close_stdin();
        Poll::Ready(Ok(()))
    }
}

impl Drop for ChildWriter {
    fn drop(&mut self) {
        self.0.close_stdin();
    }
}

/// A pipe from the child that ends with the child, even if another process still holds the pipe.
#[derive(Debug)]
pub(super) struct Tail<R> {
    stream: R,
    process: Arc<Process>,
    pipe: Pipe,
}

impl Tail<ChildStdout> {
    fn of_stdout(stream: ChildStdout, process: Arc<Process>) -> Self {
        Self {
            stream,
            process,
            pipe: Pipe::Stdout,
        }
    }
}

impl Tail<ChildStderr> {
    pub(super) fn of_stderr(stream: ChildStderr, process: Arc<Process>) -> Self {
        Self {
            stream,
            process,
            pipe: Pipe::Stderr,
        }
    }
}

impl<R: AsyncRead + Direct + Unpin> AsyncRead for Tail<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(result) = Pin::new(&mut self.stream).poll_read(cx, space) {
            return Poll::Ready(result);
        }
        ready!(self.process.poll_ended(self.pipe, cx));
        // The runtime may not know about the last bytes yet, so read from the pipe directly.
        self.stream.read_directly(space)
    }
}

/// Reading without the runtime, for a pipe to which nothing more will be written.
pub(super) trait Direct {
    /// Reads the available bytes; no bytes mean the end.
    fn read_directly(&mut self, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>>;
}

#[cfg(unix)]
impl<R: std::os::fd::AsFd> Direct for R {
    fn read_directly(&mut self, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        use rustix::io::Errno;
        loop {
            match rustix::io::read(&*self, space.initialize_unfilled()) {
                Ok(count) => {
                    space.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(Errno::AGAIN) => return Poll::Ready(Ok(())),
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }
}

#[cfg(not(unix))]
impl<R> Direct for R {
    /// Here a helper thread reads the stream and still has to deliver the last bytes; and without
    /// process groups it is unknown whether another process holds the pipe.
    fn read_directly(&mut self, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}
