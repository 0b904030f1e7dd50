//! Settings for pings.

use std::time::Duration;

/// How long the peer may take to answer a ping.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How many pings in a row may remain without an answer.
const FAILURES: u32 = 3;

/// Pings the peer at intervals, to detect that it does not answer any more. A setting of clients and
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
#[must_use = "it has no effect until it is given to a client or a server"]
pub struct KeepAlive {
    /// The time between two pings.
    pub every: Duration,
    /// How long the peer may take to answer, even while it waits for an answer itself.
    pub timeout: Duration,
    /// How many pings in a row may remain without an answer before the connection counts as failed.
    pub failures: u32,
    /// Whether peers on stdio and other pipes are pinged as well.
    pub on_pipes: bool,
}

impl KeepAlive {
    /// Pings at this interval. By default an answer may take 10 s, and three pings in a row without an
    /// answer are a failure. Pipes are not pinged, because the end of a process is detected anyway.
    pub fn every(time: Duration) -> Self {
        Self {
            every: time,
            timeout: TIMEOUT,
            failures: FAILURES,
            on_pipes: false,
        }
    }

    /// Sets how long the peer may take to answer.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets after how many pings in a row without an answer the connection counts as failed; at least
    /// one.
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
