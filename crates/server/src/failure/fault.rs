//! `Fault`: internal errors. The client gets a number, and the log has the text.

use std::{
    error::Error,
    fmt,
    io::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use tracing::{Dispatch, dispatcher, subscriber::NoSubscriber};
use turnbuckle_base::error_chain::in_one_line;

use super::{Reject, error_texts::ErrorTexts};

/// An internal error of the server.
///
/// It is logged once, with all its sources, under a number. The client gets only the number, which
/// reveals nothing internal and leads to the log entry. A number begins with digits that are random
/// for each process, so that the numbers of replicas differ.
///
/// It is logged with `tracing`, or on stderr if the program has no `tracing` subscriber.
///
/// ```
/// use turnbuckle_server::{Fault, Failure};
///
/// fn save() -> Result<(), Failure> {
///     // The log gets the text; the client gets a number.
///     Err(Failure::Fault(Fault::new("the disk is full")))
/// }
/// # assert!(save().is_err());
/// ```
#[derive(Debug)]
pub struct Fault {
    number: FaultNumber,
    source: Box<dyn Error + Send + Sync>,
}

impl Fault {
    /// Wraps an error and gives it a number. The error is logged, with all its sources, when it is
    /// sent as an answer.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::from_box(source.into())
    }

    pub(crate) fn from_box(source: Box<dyn Error + Send + Sync>) -> Self {
        Self {
            number: FaultNumber::next(),
            source,
        }
    }

    /// Returns the number of the fault, such as `3fa9c1-7`, which the client gets and the log
    /// contains.
    pub fn number(&self) -> String {
        self.number.to_string()
    }

    /// Converts the payload of a panic.
    pub(crate) fn from_panic(payload: &(dyn std::any::Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".into());
        Self::new(format!("the handler panicked: {message}"))
    }

    /// Runs a function and returns its result. If it panics, returns the panic as a fault.
    pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Self> {
        catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Self::from_panic(&*payload))
    }

    /// Logs the fault and returns the error for the client, which has only the number.
    pub(crate) fn into_reject(self) -> Reject {
        self.log();
        Reject::new(
            turnbuckle_protocol::error::code::INTERNAL_ERROR,
            self.masked(),
        )
    }

    /// Like [`into_reject`](Self::into_reject), for a store that cannot be reached: the error tells
    /// the client to try again, because the store may work again by then.
    pub(crate) fn into_unavailable(self) -> Reject {
        self.log();
        let message = format!(
            "a store that the server needs cannot be reached now: try again later; the server's \
             log has it as fault {}",
            self.number
        );
        Reject::new(turnbuckle_protocol::error::code::INTERNAL_ERROR, message)
    }

    /// Logs the fault and returns the text that clients and models may read.
    pub(crate) fn into_text(self, texts: &ErrorTexts) -> String {
        self.log();
        texts.of(&*self.source).unwrap_or_else(|| self.masked())
    }

    fn masked(&self) -> String {
        format!(
            "internal error; the server's log has it as fault {}",
            self.number
        )
    }

    fn log(&self) {
        let story = in_one_line(&*self.source);
        // A number without a log entry is useless: without a subscriber, stderr is the log.
        if dispatcher::get_default(Dispatch::is::<NoSubscriber>) {
            // If stderr is closed the error is lost.
            let _ = writeln!(std::io::stderr(), "fault {}: {story}", self.number);
        } else {
            tracing::error!(fault = %self.number, "{story}");
        }
    }
}

/// The number of a fault: some digits of this process, and a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FaultNumber(u64);

impl FaultNumber {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Display for FaultNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06x}-{}", process_digits(), self.0)
    }
}

/// Returns digits that identify this process among its replicas. They are chosen when the first
/// fault happens.
fn process_digits() -> u32 {
    static DIGITS: OnceLock<u32> = OnceLock::new();
    *DIGITS.get_or_init(|| {
        let mut bytes = [0; 3];
        // Without random bytes, the process id is used.
        match getrandom::fill(&mut bytes) {
            Ok(()) => u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]),
            Err(_) => std::process::id() & 0xff_ffff,
        }
    })
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fault {}: {}", self.number, self.source)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
