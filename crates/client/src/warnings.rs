//! Warnings about parts of messages that could not be read and were left out.

use std::collections::VecDeque;

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::ReadWarning;

/// How many warnings of a connection are kept until they are read. The oldest are dropped first.
const MAX_WAITING: usize = 256;

/// The warnings of one connection that were not read yet.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<VecDeque<ReadWarning>>);

impl Warnings {
    /// Stores warnings, and logs them.
    #[cold]
    pub(crate) fn add(&self, server: &str, warnings: Vec<ReadWarning>) {
        let mut waiting = self.0.lock();
        for warning in warnings {
            tracing::warn!(server, "{warning}");
            if waiting.len() == MAX_WAITING {
                waiting.pop_front();
            }
            waiting.push_back(warning);
        }
    }

    /// Removes and returns all warnings.
    pub(crate) fn take(&self) -> Vec<ReadWarning> {
        std::mem::take(&mut *self.0.lock()).into()
    }
}
