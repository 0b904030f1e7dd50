//! The next action of a probe.

use std::time::Duration;

use turnbuckle_protocol::Revision;

use super::{DetectedRevision, ProbeFailure};

/// What to do next. A new action ends the wait of the one before.
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
    /// Send `initialize` at this version, and report [`Timeout`](super::Event::Timeout) likewise.
    SendInitialize {
        /// Its `protocolVersion`.
        version: Revision,
        /// How long to wait.
        within: Duration,
    },
    /// Open a second connection to the server beside the first, send `initialize` there at this
    /// version, and report [`Timeout`](super::Event::Timeout) likewise. Where it cannot be opened,
    /// report [`SecondClosed`](super::Event::SecondClosed).
    ///
    /// An action that sends something is for the first connection, and ends the second.
    OpenSecond {
        /// Its `protocolVersion`.
        version: Revision,
        /// How long to wait for either connection.
        within: Duration,
    },
    /// The first connection is gone: go on with the second as the only one.
    KeepSecond {
        /// How long to wait for its answer.
        within: Duration,
    },
    /// End the second connection, if there is one, and go on waiting for an answer to
    /// `server/discover`.
    AwaitDiscover {
        /// How long to wait.
        within: Duration,
    },
    /// `initialize` has been answered. Leave everything open, and give `server/discover` this much
    /// longer.
    Confirm {
        /// How long to wait.
        within: Duration,
    },
    /// End the connection, start the server again, and report [`Started`](super::Event::Started),
    /// or [`Closed`](super::Event::Closed) if it cannot be started.
    Reopen,
    /// The search is over. After a legacy revision send `notifications/initialized`. Where a second
    /// connection is open, it is the one of a legacy revision, and the first that of a modern one.
    ///
    /// A modern revision does not always come from a `DiscoverResult`; a caller that needs one may
    /// have to send `server/discover` again.
    Ready(DetectedRevision),
    /// The search is over and found nothing to speak: close the connection.
    Fail(ProbeFailure),
}
