//! Settings for the memory that a server may use for its callers.

use std::sync::Arc;

use crate::quota::Quota;

/// 64 MiB: with what the process takes otherwise it stays under 256 MB while everybody sends the
/// largest messages.
const TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// 40 MiB: one message of the largest size with the most values fits, and two callers do not take
/// all there is.
const CALLER_BYTES: usize = 40 * 1024 * 1024;

/// 64 MiB: ten thousand sessions with some kilobytes each, and as much for events.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// 16 MiB: a quarter of it.
const CALLER_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// 64 MiB: some answers of the largest messages' size, and as much as the messages themselves.
const UNSENT_BYTES: usize = 64 * 1024 * 1024;

/// 32 MiB: half of it, so that one caller leaves the other half to the others.
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
    /// Bytes of all messages together; 64 MiB unless set. An eighth is kept for messages of up to
    /// 16 KiB.
    pub total: usize,
    /// Bytes of the messages of one caller; 40 MiB unless set. A caller without an identity is the
    /// address that it calls from.
    pub per_caller: usize,
    /// Bytes that may be kept between messages: the `initialize` params of sessions, subscriptions,
    /// events of streams that clients may resume, and arguments of running tasks. Defaults to 64 MiB.
    pub kept: usize,
    /// Bytes that may be kept between messages for one caller. Defaults to 16 MiB.
    pub kept_per_caller: usize,
    /// Bytes of answers over HTTP that are made and not sent yet, because clients read slowly or not
    /// at all; 64 MiB unless set.
    pub unsent: usize,
    /// Bytes of such answers to one caller; 32 MiB unless set. An answer of more than half of this
    /// counts as half, so that it can be sent when nothing else waits.
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

    /// Sets how many bytes may be kept between messages, for all callers.
    pub fn with_kept(mut self, bytes: usize) -> Self {
        self.kept = bytes;
        self
    }

    /// Sets how many bytes may be kept between messages for one caller.
    pub fn with_kept_per_caller(mut self, bytes: usize) -> Self {
        self.kept_per_caller = bytes;
        self
    }

    /// Sets how many bytes of answers may wait for clients to read them.
    pub fn with_unsent(mut self, bytes: usize) -> Self {
        self.unsent = bytes;
        self
    }

    /// Sets how many bytes of answers may wait for one caller to read them.
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
