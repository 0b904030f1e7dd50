//! Internal errors: ours. The peer gets a number, the log gets the story.

use std::{
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU64, Ordering},
};

use turnbuckle_base::error_chain::in_one_line;

use super::Reject;

/// Something broke on our side.
///
/// It is logged once, with all its sources, under a number; the peer sees only the number, so that
/// nothing internal leaks and the two can still be brought together.
#[derive(Debug)]
pub struct Fault {
    number: u64,
    source: Box<dyn Error + Send + Sync>,
}

impl Fault {
    /// Wraps an error.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::from_box(source.into())
    }

    pub(crate) fn from_box(source: Box<dyn Error + Send + Sync>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            source,
        }
    }

    /// What a panic carried, as a fault.
    pub(crate) fn from_panic(payload: &(dyn std::any::Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".into());
        Self::new(format!("the handler panicked: {message}"))
    }

    /// What a function gives, or the fault that its panic is.
    pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Self> {
        catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Self::from_panic(&*payload))
    }

    /// Logs the fault and gives what the peer may see of it.
    pub(crate) fn into_reject(self) -> Reject {
        let story = in_one_line(&*self.source);
        tracing::error!(fault = self.number, "{story}");
        Reject::new(
            turnbuckle_protocol::error::code::INTERNAL_ERROR,
            format!(
                "internal error; the server's log has it as fault {}",
                self.number
            ),
        )
    }
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
