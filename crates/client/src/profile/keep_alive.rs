//! How often servers are asked for a sign of life.

use std::time::Duration;

/// How long a server may take to answer a ping.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How many pings in a row may stay without an answer.
const FAILURES: u32 = 3;

/// Asks servers for a sign of life now and then: `ping`, or in the modern era, which has none,
/// `server/discover`. See [`Client::keep_alive`](crate::Client::keep_alive).
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_client::{Client, KeepAlive};
///
/// let pings = KeepAlive::every(Duration::from_secs(30)).timeout(Duration::from_secs(5)).failures(2);
/// let client = Client::new("my-app", "0.3.0").keep_alive(pings);
/// # let _ = client;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "it is given to `Client::keep_alive`"]
pub struct KeepAlive {
    pub(crate) every: Duration,
    pub(crate) timeout: Duration,
    pub(crate) failures: u32,
    pub(crate) pipes: Pipes,
}

/// Whether servers over pipes are asked, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pipes {
    /// A process that ends is noticed without it.
    LeftAlone,
    Asked,
}

impl KeepAlive {
    /// A ping after so much time. Each has 10 s, and three in a row may stay without an answer.
    /// Only servers at a URL are asked: the end of a process is noticed by itself.
    pub fn every(time: Duration) -> Self {
        Self {
            every: time,
            timeout: TIMEOUT,
            failures: FAILURES,
            pipes: Pipes::LeftAlone,
        }
    }

    /// Gives a server this long to answer.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Counts the connection as failed after so many pings in a row without an answer; at least one.
    pub fn failures(self, failures: u32) -> Self {
        Self {
            failures: failures.max(1),
            ..self
        }
    }

    /// Also asks servers over stdio and other pipes.
    pub fn on_pipes(self) -> Self {
        Self {
            pipes: Pipes::Asked,
            ..self
        }
    }
}
