//! Settings for pings.

use std::time::Duration;

/// How long the other end may take to answer a ping.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How many pings in a row may stay without an answer.
const FAILURES: u32 = 3;

/// Pings the other end at intervals, to notice that it no longer answers. A setting of clients and
/// servers.
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_transport::KeepAlive;
///
/// let pings = KeepAlive::every(Duration::from_secs(30)).timeout(Duration::from_secs(5)).failures(2);
/// assert_eq!(pings.failures, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "it is given to a client or a server"]
pub struct KeepAlive {
    /// How much time passes between two pings.
    pub every: Duration,
    /// How long the other end may take to answer, also while it waits for an answer itself.
    pub timeout: Duration,
    /// How many pings in a row may stay without an answer before the connection counts as failed.
    pub failures: u32,
    /// Whether the other end is also asked over stdio and other pipes.
    pub on_pipes: bool,
}

impl KeepAlive {
    /// Pings at this interval. An answer may take 10 s, and three pings in a row may stay without
    /// an answer. Pipes are not pinged, because the end of a process is noticed anyway.
    pub fn every(time: Duration) -> Self {
        Self {
            every: time,
            timeout: TIMEOUT,
            failures: FAILURES,
            on_pipes: false,
        }
    }

    /// Gives the other end this long to answer.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets after how many pings in a row without an answer the connection counts as failed; at
    /// least one.
    pub fn failures(self, failures: u32) -> Self {
        Self {
            failures: failures.max(1),
            ..self
        }
    }

    /// Also pings over stdio and other pipes.
    pub fn on_pipes(self) -> Self {
        Self {
            on_pipes: true,
            ..self
        }
    }
}
