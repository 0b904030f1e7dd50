//! Drives a connection over any pair of byte streams, in one task.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::error::{TransportError, read_outcome, write_outcome};
use crate::inlet::{Batch, Inlet};
use crate::limits::Limits;
use crate::outbox::{Chunk, Outbox, Taken};
use crate::receive::Receive;

/// 4 batches, up to 256 KiB of input: then the other tasks of this thread get their turn, even if the
/// stream itself never makes the task wait. That is enough for thousands of messages of a flooding
/// peer.
const BATCHES_PER_POLL: usize = 4;

/// Carries messages between a pair of byte streams, a `receiver` and an `outbox`, until both directions
/// have ended.
///
/// The input ends when the peer closes it. The output ends when the outbox is closed and everything is
/// written; it is then shut down and dropped. When one direction has ended, the other has
/// [`Limits::linger`] left. Many small messages that arrive together are passed on together, and their
/// answers are written at once. Nothing is spawned. While more answers than
/// [`Limits::outbox_high_water_bytes`] are unsent, nothing more is read.
///
/// # Errors
/// Fails if a stream fails, or if the peer does not read the last bytes. A peer that closes the
/// connection is not an error.
///
/// # Panics
/// If the runtime has no timer, which is needed for the linger.
///
/// # Cancel safety
/// Dropping the future drops both streams, with all unwritten messages, and closes the outbox.
///
/// ```
/// use turnbuckle_transport::{LineFault, Limits, Outbox, Receive, duplex, run};
///
/// struct Echo(Outbox);
/// impl Receive for Echo {
///     fn receive(&mut self, message: &[u8]) {
///         self.0.push(message);
///     }
///     fn receive_fault(&mut self, _: LineFault<'_>) {}
///     fn closed(&mut self) { self.0.close() }
/// }
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// let (server, mut client) = duplex();
/// client.writer.write_all(b"{}\n").await?;
/// client.writer.shutdown().await?;
/// let outbox = Outbox::new(Limits::default());
/// run(server.reader, server.writer, Echo(outbox.clone()), outbox, Limits::default()).await?;
/// let mut answers = String::new();
/// client.reader.read_to_string(&mut answers).await?;
/// assert_eq!(answers, "{}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn run<R, W, C>(
    read: R,
    write: W,
    receiver: C,
    outbox: Outbox,
    limits: Limits,
) -> Result<(), TransportError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Receive,
{
    let _attached = outbox.attach()?;
    let mut connection = Connection {
        input: Some(read),
        inlet: Inlet::new(receiver, limits),
        batch: Batch::Done,
        output: Some(write),
        chunk: Chunk::default(),
        is_dirty: false,
        outbox,
        outcome: Ok(()),
        linger: limits.linger,
        deadline: None,
    };
    poll_fn(|cx| connection.poll(cx)).await
}

/// Whether a direction made progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Moved,
    Stuck,
}

struct Connection<R, W, C> {
    /// `None` when that direction has ended.
    input: Option<R>,
    output: Option<W>,
    inlet: Inlet<C>,
    /// Whether complete lines are left in the inlet.
    batch: Batch,
    chunk: Chunk,
    /// Whether bytes were written since the last flush.
    is_dirty: bool,
    outbox: Outbox,
    outcome: Result<(), TransportError>,
    linger: Duration,
    /// Set when one direction has ended.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<R, W, C> Connection<R, W, C>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    C: Receive,
{
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        for _ in 0..BATCHES_PER_POLL {
            let input = self.step_input(cx);
            let output = self.step_output(cx);
            if self.input.is_none() && self.output.is_none() {
                return Poll::Ready(std::mem::replace(&mut self.outcome, Ok(())));
            }
            if (input, output) == (Step::Stuck, Step::Stuck) {
                return self.poll_deadline(cx);
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads once and passes on the messages.
    fn step_input(&mut self, cx: &mut Context<'_>) -> Step {
        if self.outbox.is_backlogged() {
            return Step::Stuck; // The output wakes this task when bytes have left.
        }
        if self.inlet.poll_room(cx).is_pending() {
            return Step::Stuck;
        }
        if self.batch == Batch::Done {
            match self.poll_read(cx) {
                Poll::Pending => return Step::Stuck,
                Poll::Ready(Ok(count)) if count > 0 => self.inlet.filled(count),
                Poll::Ready(end) => return self.end_input(end),
            }
        }
        self.outbox.begin_batch();
        self.batch = self.inlet.deliver(&self.outbox);
        self.outbox.end_batch();
        Step::Moved
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(input) = &mut self.input else {
            return Poll::Pending;
        };
        let mut space = ReadBuf::new(self.inlet.space());
        ready!(Pin::new(input).poll_read(cx, &mut space))?;
        Poll::Ready(Ok(space.filled().len()))
    }

    fn end_input(&mut self, end: io::Result<usize>) -> Step {
        self.input = None;
        self.note(end.map(|_| ()).or_else(read_outcome));
        self.outbox.begin_batch();
        self.inlet.finish();
        self.outbox.end_batch();
        Step::Moved
    }

    /// Writes everything that is queued, as far as the peer accepts it.
    fn step_output(&mut self, cx: &mut Context<'_>) -> Step {
        let mut step = Step::Stuck;
        while let Poll::Ready(result) = self.poll_write(cx) {
            step = Step::Moved;
            if let Err(error) = result {
                self.note(write_outcome(error));
                self.end_output();
            }
        }
        step
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(output) = &mut self.output else {
            return Poll::Pending;
        };
        let mut output = Pin::new(output);
        if self.chunk.rest().is_empty() {
            match self.outbox.poll_take(cx, &mut self.chunk) {
                Poll::Ready(Taken::Lines) => {}
                Poll::Ready(Taken::Failed(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Taken::Finished) => {
                    ready!(output.poll_shutdown(cx))?;
                    self.end_output();
                    return Poll::Ready(Ok(()));
                }
                Poll::Pending if self.is_dirty => {
                    ready!(output.as_mut().poll_flush(cx))?;
                    self.is_dirty = false;
                    return Poll::Pending;
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        let Poll::Ready(count) = output.poll_write(cx, self.chunk.rest()) else {
            self.outbox.watch(cx);
            return Poll::Pending;
        };
        let count = count?;
        if count == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        self.is_dirty = true;
        self.outbox.wrote(&mut self.chunk, count);
        Poll::Ready(Ok(()))
    }

    /// Only dropping the stream closes a pipe; shutting it down is not enough.
    fn end_output(&mut self) {
        self.output = None;
        self.chunk = Chunk::default();
        self.outbox.shut();
    }

    /// Keeps the first failure, which is the most informative.
    fn note(&mut self, outcome: Result<(), TransportError>) {
        if self.outcome.is_ok() {
            self.outcome = outcome;
        }
    }

    /// Checks the time limit on waiting for the peer: there is none while both directions are open, and
    /// then it is the linger time.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        if self.input.is_some() && self.output.is_some() && !self.outbox.is_closed() {
            return Poll::Pending;
        }
        let linger = self.linger;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(linger)));
        ready!(deadline.as_mut().poll(cx));
        let bytes = self.outbox.pending_bytes();
        if bytes > 0 {
            self.note(Err(TransportError::Undelivered { bytes, linger }));
        }
        Poll::Ready(std::mem::replace(&mut self.outcome, Ok(())))
    }
}
