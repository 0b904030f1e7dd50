//! Settings for the memory that a server may use for its callers.

use std::sync::Arc;

use crate::quota::Quota;

/// 64 MiB: with the rest of the process it stays under 256 MB while all clients send the largest
/// possible messages.
const TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// 40 MiB: the largest possible message fits, with as many values as it may have, and one caller
/// cannot use up the total.
const CALLER_BYTES: usize = 40 * 1024 * 1024;

/// 64 MiB: ten thousand sessions with a few kilobytes each, and as much for events.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// 16 MiB: a quarter of the total.
const CALLER_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// 64 MiB: a few answers of the size of the largest message, and as much as for messages.
const UNSENT_BYTES: usize = 64 * 1024 * 1024;

/// 32 MiB: half of the total, so that one caller leaves the other half to others.
const CALLER_UNSENT_BYTES: usize = 32 * 1024 * 1024;

/// Limits on the memory of messages while they are read, parsed and served, and on the memory that
/// is kept between messages. Pass it to [`Server::memory_budget`](crate::Server::memory_budget).
///
/// ```
/// use turnbuckle_server::{MemoryBudget, Server};
///
/// let mib = 1024 * 1024;
/// let budget = MemoryBudget::default().with_total(512 * mib).with_per_caller(128 * mib);
/// let server = Server::new("images", "1.0.0").memory_budget(budget);
/// # server.build().unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryBudget {
    /// The memory in bytes for all messages together. Defaults to 64 MiB. An eighth of it is
    /// reserved for messages of up to 16 KiB.
    pub total: usize,
    /// The memory in bytes for the messages of one caller. Defaults to 40 MiB. A caller without an
    /// identity is the address from which it calls.
    pub per_caller: usize,
    /// The memory in bytes for data that is kept between messages: the `initialize` params of
    /// sessions, subscriptions, events of streams that clients may resume, and arguments of running
    /// tasks. Defaults to 64 MiB.
    pub kept: usize,
    /// The memory in bytes for data of one caller that is kept between messages. Defaults to 16
    /// MiB.
    pub kept_per_caller: usize,
    /// The memory in bytes for answers over HTTP that have not been sent yet, because clients read
    /// slowly or not at all. Defaults to 64 MiB.
    pub unsent: usize,
    /// The memory in bytes for unsent answers to one caller. Defaults to 32 MiB. An answer of more
    /// than half of this counts as half, so that it can be sent if no other answer waits.
    pub unsent_per_caller: usize,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self {
            total: TOTAL_BYTES,
            per_caller: CALLER_BYTES,
            kept: KEPT_BYTES,
            kept_per_caller: CALLER_KEPT_BYTES,
            unsent: UNSENT_BYTES,
            unsent_per_caller: CALLER_UNSENT_BYTES,
        }
    }
}

impl MemoryBudget {
    /// Sets how many bytes all messages together may take.
    pub fn with_total(mut self, bytes: usize) -> Self {
        self.total = bytes;
        self
    }

    /// Sets how many bytes the messages of one caller may take.
    pub fn with_per_caller(mut self, bytes: usize) -> Self {
        self.per_caller = bytes;
        self
    }

    /// Sets how many bytes may be kept between messages, for all callers together.
    pub fn with_kept(mut self, bytes: usize) -> Self {
        self.kept = bytes;
        self
    }

    /// Sets how many bytes may be kept between messages for one caller.
    pub fn with_kept_per_caller(mut self, bytes: usize) -> Self {
        self.kept_per_caller = bytes;
        self
    }

    /// Sets how many bytes of answers may wait to be sent, for all callers together.
    pub fn with_unsent(mut self, bytes: usize) -> Self {
        self.unsent = bytes;
        self
    }

    /// Sets how many bytes of answers to one caller may wait to be sent.
    pub fn with_unsent_per_caller(mut self, bytes: usize) -> Self {
        self.unsent_per_caller = bytes;
        self
    }

    pub(crate) fn unsent_quota(self) -> Arc<Quota> {
        Quota::new(self.unsent, self.unsent_per_caller)
    }

    pub(crate) fn kept_quota(self) -> Arc<Quota> {
        Quota::new(self.kept, self.kept_per_caller)
    }
}
