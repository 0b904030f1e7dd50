//! How much of its memory budget a server uses.

use std::fmt;

/// How many bytes of its [`MemoryBudget`](crate::MemoryBudget) a server uses at a moment, for
/// metrics and tests. Created by [`LiveServer::memory_usage`](crate::LiveServer::memory_usage).
///
/// All numbers are zero when no request is served, no session or subscription is open, no task
/// runs, and no answer waits to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUsage {
    /// Bytes of messages that are arriving or being served. Limited by
    /// [`MemoryBudget::total`](crate::MemoryBudget::total).
    pub messages: usize,
    /// Bytes of data that is kept between messages. Limited by
    /// [`MemoryBudget::kept`](crate::MemoryBudget::kept).
    pub kept: usize,
    /// Bytes of answers over HTTP that have not been sent yet. Limited by
    /// [`MemoryBudget::unsent`](crate::MemoryBudget::unsent).
    pub unsent: usize,
}

impl MemoryUsage {
    /// Whether all numbers are zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for MemoryUsage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            messages,
            kept,
            unsent,
        } = self;
        write!(
            out,
            "{messages} bytes of messages, {kept} kept and {unsent} unsent"
        )
    }
}
