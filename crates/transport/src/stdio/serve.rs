//! Serves a connection over standard input and output, or over two files.

use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::claim::Claim;
use super::file::Output;
use super::reader::Reader;
use super::writer;
use crate::error::{TransportError, read_outcome, write_outcome};
use crate::inlet::Inlet;
use crate::limits::Limits;
use crate::outbox::{Attached, Outbox};
use crate::receive::Receive;

/// Two: each thread sends one report.
const REPORTS: usize = 2;

/// Serves one client over this process's standard input and output.
///
/// Messages are passed to `receiver` on a separate thread, inside the runtime's context, and answers
/// that it pushes are written by that thread, one write for a batch. Messages that others queue are
/// written at once by a second thread.
///
/// The future is ready when the input has ended and the outbox is closed and written, or when the
/// outbox is closed earlier; late answers have [`Limits::linger`] after the end of the input.
///
/// On Unix, standard output is standard error for everything else while this runs, and standard input
/// is empty, so a stray `println!`, a C library or a child process cannot disturb the protocol. Both
/// are restored at the end. On other systems nothing is redirected.
///
/// # Errors
/// Fails if a stream fails, if the client does not read the last bytes, or if standard input and output
/// are already served. A client that closes the connection is not an error.
///
/// # Panics
/// If `receiver` panics, the panic is resumed here. Also panics outside of a tokio runtime with a
/// timer.
///
/// # Cancel safety
/// Dropping the future closes the outbox and restores standard input and output. The reading thread
/// cannot be interrupted in its read: it keeps `receiver`, reads the next input, discards it and ends.
/// (The same happens if the outbox is closed before the input ends.) It does not keep the process from
/// exiting.
pub async fn serve_stdio<C: Receive + 'static>(
    receiver: C,
    outbox: Outbox,
    limits: Limits,
) -> Result<(), TransportError> {
    let in_use = InUse::begin()?;
    let claim = Claim::take().map_err(TransportError::Claim)?;
    let (input, output) = claim.files().map_err(TransportError::Claim)?;
    let inlet = Inlet::new(receiver, limits).starting_small();
    let threads = Threads::start(input, output, inlet, outbox, in_use)?;
    threads.finish(limits).await
}

/// Serves one client over two blocking files, such as pipes, exactly as [`serve_stdio`] does over
/// standard input and output.
///
/// # Errors
/// Fails as [`serve_stdio`] does.
///
/// # Panics
/// Panics as [`serve_stdio`] does.
///
/// # Cancel safety
/// The same as for [`serve_stdio`]. `input` is closed when the reading thread ends, `output` at once or
/// after the current write.
pub async fn serve_files<C: Receive + 'static>(
    input: File,
    output: File,
    receiver: C,
    outbox: Outbox,
    limits: Limits,
) -> Result<(), TransportError> {
    let inlet = Inlet::new(receiver, limits);
    let threads = Threads::start(input, output, inlet, outbox, ())?;
    threads.finish(limits).await
}

/// Marks standard input as in use, until its reading thread has ended: there is only one per process.
struct InUse;

static IS_IN_USE: AtomicBool = AtomicBool::new(false);

impl InUse {
    fn begin() -> Result<Self, TransportError> {
        if IS_IN_USE.swap(true, Ordering::AcqRel) {
            Err(TransportError::StdioInUse)
        } else {
            Ok(Self)
        }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        IS_IN_USE.store(false, Ordering::Release);
    }
}

/// How a thread ended.
enum Report {
    Read(thread::Result<io::Result<()>>),
    Written(io::Result<()>),
}

/// The two threads of a connection. Dropping this tells them to end.
struct Threads {
    reports: mpsc::Receiver<Report>,
    outbox: Outbox,
    output: Arc<Output>,
    is_stopped: Arc<AtomicBool>,
    _attached: Attached,
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.output.close();
    }
}

impl Threads {
    /// Starts the threads. `kept` lives until the reading thread ends.
    fn start<C: Receive + 'static>(
        input: File,
        output: File,
        inlet: Inlet<C>,
        outbox: Outbox,
        kept: impl Send + 'static,
    ) -> Result<Self, TransportError> {
        let (sender, reports) = mpsc::channel(REPORTS);
        let threads = Self {
            reports,
            _attached: outbox.attach()?,
            outbox,
            output: Arc::new(Output::new(output)),
            is_stopped: Arc::new(AtomicBool::new(false)),
        };
        // The reader is started first: it writes answers itself, and a client is waiting.
        threads.start_reader(input, inlet, sender.clone(), kept)?;
        threads.start_writer(sender)?;
        Ok(threads)
    }

    fn start_writer(&self, reports: mpsc::Sender<Report>) -> Result<(), TransportError> {
        let (outbox, output) = (self.outbox.clone(), self.output.clone());
        let body = move || {
            let written = writer::write_all(&outbox, &output);
            outbox.shut();
            let _ = reports.try_send(Report::Written(written));
        };
        start("mcp-stdout", body)
    }

    fn start_reader<C: Receive + 'static>(
        &self,
        input: File,
        inlet: Inlet<C>,
        reports: mpsc::Sender<Report>,
        kept: impl Send + 'static,
    ) -> Result<(), TransportError> {
        let (outbox, output) = (self.outbox.clone(), self.output.clone());
        let (is_stopped, runtime) = (self.is_stopped.clone(), Handle::current());
        let body = move || {
            let read = catch_unwind(AssertUnwindSafe(|| {
                let _context = runtime.enter();
                Reader::new(inlet, &outbox, &output, &is_stopped).read_all(&input)
            }));
            drop((input, kept));
            let _ = reports.try_send(Report::Read(read));
        };
        start("mcp-stdin", body)
    }

    /// Waits for one direction to end, and then for the other, at most for the linger time.
    async fn finish(mut self, limits: Limits) -> Result<(), TransportError> {
        let mut outcome = Ok(());
        if let Some(report) = self.first_report_or_close().await {
            let is_written = matches!(report, Report::Written(_));
            outcome = outcome_of(report);
            if is_written {
                return outcome;
            }
        }
        let last = timeout(limits.linger, async {
            while let Some(report) = self.reports.recv().await {
                if matches!(report, Report::Written(_)) {
                    return outcome_of(report);
                }
                outcome_of(report)?;
            }
            Ok(())
        });
        let last = match last.await {
            Ok(last) => last,
            Err(_elapsed) => match self.outbox.pending_bytes() {
                0 => Ok(()),
                bytes => Err(TransportError::Undelivered {
                    bytes,
                    linger: limits.linger,
                }),
            },
        };
        outcome.and(last)
    }

    async fn first_report_or_close(&mut self) -> Option<Report> {
        let mut closed = pin!(self.outbox.closed());
        poll_fn(|cx| {
            if let Poll::Ready(report) = self.reports.poll_recv(cx) {
                return Poll::Ready(report);
            }
            closed.as_mut().poll(cx).map(|()| None)
        })
        .await
    }
}

fn start(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), TransportError> {
    // Detached on purpose: neither thread can be interrupted, and both end with their connection.
    let thread = thread::Builder::new().name(name.to_owned()).spawn(body);
    thread.map(drop).map_err(TransportError::Thread)
}

fn outcome_of(report: Report) -> Result<(), TransportError> {
    match report {
        Report::Read(Ok(read)) => read.or_else(read_outcome),
        Report::Read(Err(panic)) => resume_unwind(panic),
        Report::Written(written) => written.or_else(write_outcome),
    }
}
