//! Limits on requests and connections of clients.

use std::time::Duration;

/// 10,000: about 130 MB of memory if each connection has an open stream. A process with a lower limit
/// on open files (`ulimit -n`) accepts as many as it can; the others wait.
const MAX_CONNECTIONS: usize = 10_000;

/// 64 KiB: many times more than tokens and mirrored arguments need. Browsers have a similar limit.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// 128: HTTP/2 clients expect about this many; RFC 9113 recommends at least 100.
const MAX_STREAMS: u32 = 128;

/// 10 s: a head fits in a few packets. This is enough time to lose one of them three times.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// 2 min: longer than clients keep an unused connection (90 s in the pools we know), so that the client
/// closes it, and no request is lost on a connection that is being closed.
const IDLE_TIMEOUT: Duration = Duration::from_mins(2);

/// 1 min: a client that reads at all accepts some bytes within that time, over any network.
const WRITE_TIMEOUT: Duration = Duration::from_mins(1);

/// 10 s: below the 30 s that container managers wait before they kill.
const GRACE: Duration = Duration::from_secs(10);

/// The limits of a server's HTTP connections.
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_transport::http::Settings;
///
/// let settings = Settings::default()
///     .with_max_connections(500)
///     .with_grace(Duration::from_secs(2));
/// assert_eq!(settings.max_connections, 500);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The limit on open connections. Further ones are answered with a 503 and closed.
    pub max_connections: usize,
    /// The size limit of a request's head in bytes. A larger one is answered with a 431. HTTP/1.1 also
    /// refuses more than 100 headers.
    pub max_header_bytes: usize,
    /// The limit on concurrent requests on one HTTP/2 connection.
    pub max_streams: u32,
    /// The time limit for a TLS handshake, and for a request's head from its first byte to its last. On
    /// a new connection, also for the first byte.
    pub header_timeout: Duration,
    /// How long a connection may be without a request.
    pub idle_timeout: Duration,
    /// How long a client may leave a response unread.
    pub write_timeout: Duration,
    /// How long requests may take to finish after the server was told to stop.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_connections: MAX_CONNECTIONS,
            max_header_bytes: MAX_HEADER_BYTES,
            max_streams: MAX_STREAMS,
            header_timeout: HEADER_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            write_timeout: WRITE_TIMEOUT,
            grace: GRACE,
        }
    }
}

impl Settings {
    /// Sets the limit on open connections.
    pub fn with_max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// Sets the size limit of a request's head in bytes.
    pub fn with_max_header_bytes(mut self, bytes: usize) -> Self {
        self.max_header_bytes = bytes;
        self
    }

    /// Sets the limit on concurrent requests on one HTTP/2 connection.
    pub fn with_max_streams(mut self, streams: u32) -> Self {
        self.max_streams = streams;
        self
    }

    /// Sets the time limit for a request's head.
    pub fn with_header_timeout(mut self, timeout: Duration) -> Self {
        self.header_timeout = timeout;
        self
    }

    /// Sets how long a connection may be without a request.
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets how long a client may leave a response unread.
    pub fn with_write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// Sets how long requests may take to finish after the server was told to stop.
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }
}
