//! The events of a run, in order.

use std::{
    fmt::{self, Write as _},
    sync::Arc,
};

use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;

/// The events of a run: a line for each event, with its time in milliseconds.
///
/// The contents of messages are left out: session ids, keys and the ids of tasks come from the operating system and
/// differ from run to run. Where, when and how many bytes passed is the same in each run.
#[derive(Clone)]
pub(super) struct Trace {
    began: Instant,
    text: Arc<Mutex<String>>,
}

impl Trace {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            text: Arc::default(),
        }
    }

    pub(super) fn note(&self, event: fmt::Arguments<'_>) {
        let at = self.began.elapsed().as_millis();
        // Writing to a string cannot fail.
        let _ = writeln!(self.text.lock(), "{at:>8} {event}");
    }

    /// The whole text.
    pub(super) fn text(&self) -> String {
        self.text.lock().clone()
    }
}
