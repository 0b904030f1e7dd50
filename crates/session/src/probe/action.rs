//! The next action of a probe.

use std::time::Duration;

use turnbuckle_protocol::Revision;

use super::{DetectedRevision, ProbeFailure};

/// What to do next. A new action replaces the wait of the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send `server/discover` at this version, and report
    /// [`Timeout`](super::Event::Timeout) if nothing was reported within this time.
    SendDiscover {
        /// The version for its `_meta`.
        version: Revision,
        /// How long to wait.
        within: Duration,
    },
    /// Send `initialize` at this version, and report [`Timeout`](super::Event::Timeout) in the same
    /// way.
    SendInitialize {
        /// Its `protocolVersion`.
        version: Revision,
        /// How long to wait.
        within: Duration,
    },
    /// Open a second connection to the server, keep the first one open, send `initialize` on the second
    /// at this version, and report [`Timeout`](super::Event::Timeout) in the same way. If it cannot be
    /// opened, report [`SecondClosed`](super::Event::SecondClosed).
    ///
    /// A later action that sends a request is for the first connection, and ends the second.
    OpenSecond {
        /// Its `protocolVersion`.
        version: Revision,
        /// How long to wait for either connection.
        within: Duration,
    },
    /// The first connection has closed: continue with the second as the only one.
    KeepSecond {
        /// How long to wait for its answer.
        within: Duration,
    },
    /// End the second connection, if there is one, and continue to wait for an answer to
    /// `server/discover`.
    AwaitDiscover {
        /// How long to wait.
        within: Duration,
    },
    /// `initialize` was answered. Leave all connections open, and wait for `server/discover` this much
    /// longer.
    Confirm {
        /// How long to wait.
        within: Duration,
    },
    /// End the connection, start the server again, and report [`Started`](super::Event::Started),
    /// or [`Closed`](super::Event::Closed) if it cannot be started.
    Reopen,
    /// The search has succeeded. After a legacy revision send `notifications/initialized`. If a second
    /// connection is open, a legacy revision belongs to the second, and a modern one to the first.
    ///
    /// A modern revision is not always the result of a `DiscoverResult`; a caller that needs one may
    /// have to send `server/discover` again.
    Ready(DetectedRevision),
    /// The search has failed: close the connection.
    Fail(ProbeFailure),
}
