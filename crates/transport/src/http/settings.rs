//! Limits for requests and connections of clients.

use std::time::Duration;

/// 10,000: some 130 MB of memory when each holds a stream open. A process that may not have so many
/// open files (`ulimit -n`) takes as many as it can and leaves the rest waiting.
const MAX_CONNECTIONS: usize = 10_000;

/// 64 KiB: tokens and mirrored arguments fit many times over. Browsers stop at about as much.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// 128: what HTTP/2 clients reckon with; RFC 9113 recommends at least 100.
const MAX_STREAMS: u32 = 128;

/// 10 s: a head fits in a few packets. This leaves time to lose one of them three times.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// 2 min: longer than clients keep an unused connection (90 s in the pools we know), so that it is
/// the client who closes it, and no request is lost on a connection that is just being closed.
const IDLE_TIMEOUT: Duration = Duration::from_mins(2);

/// 1 min: a client that reads at all takes some bytes within that time, over any network.
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
    /// Connections at once. One more is answered with a 503 and closed.
    pub max_connections: usize,
    /// Bytes of a request's head. A larger one is answered with a 431. HTTP/1.1 also refuses more
    /// than 100 headers.
    pub max_header_bytes: usize,
    /// Requests at once on one connection of HTTP/2.
    pub max_streams: u32,
    /// Time for a handshake of TLS, and for a request's head from its first byte to its last. On a
    /// new connection also the time until the first byte.
    pub header_timeout: Duration,
    /// How long a connection may be without a request.
    pub idle_timeout: Duration,
    /// How long a client may leave what is sent to it unread.
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
    /// Sets how many connections there may be at once.
    pub fn with_max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// Sets how many bytes a request's head may have.
    pub fn with_max_header_bytes(mut self, bytes: usize) -> Self {
        self.max_header_bytes = bytes;
        self
    }

    /// Sets how many requests one connection of HTTP/2 may have at once.
    pub fn with_max_streams(mut self, streams: u32) -> Self {
        self.max_streams = streams;
        self
    }

    /// Sets the time for a request's head.
    pub fn with_header_timeout(mut self, timeout: Duration) -> Self {
        self.header_timeout = timeout;
        self
    }

    /// Sets how long a connection may be without a request.
    pub fn with_idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets how long a client may leave what is sent to it unread.
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
