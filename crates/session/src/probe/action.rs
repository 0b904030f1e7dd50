//! What a search wants done next.

use std::time::Duration;

use turnbuckle_protocol::Revision;

use super::{Failure, Verdict};

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
    /// End the connection, start the server anew, and report [`Started`](super::Event::Started),
    /// or [`Closed`](super::Event::Closed) if it cannot be started.
    Reopen,
    /// The search is over. After a legacy verdict send `notifications/initialized`.
    ///
    /// A modern verdict does not always come from a `DiscoverResult`; whoever wants one may have
    /// to ask for it again.
    Ready(Verdict),
    /// The search is over and found nothing to speak: close the connection.
    Fail(Failure),
}
