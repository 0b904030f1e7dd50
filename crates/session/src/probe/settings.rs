//! The settings of a probe.

use std::time::Duration;

use turnbuckle_protocol::Revision;

use super::DetectedRevision;
use crate::Era;

/// How long a server may take to answer `server/discover` before `initialize` is tried as well.
///
/// Every first connection to a server that ignores unknown methods takes this long, so it is short; but
/// it is long enough for an interpreter to start. For a slow server that takes longer, a late answer
/// counts, and it gets twice as much time for it as `initialize` takes.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a server may take to answer if there is no other request to try.
///
/// A minute: a package runner may have to download the server first.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_mins(1);

/// The allowed revisions of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RevisionChoice {
    /// All that the client supports; modern ones are tried first.
    #[default]
    Auto,
    /// The revisions of one era.
    Era(Era),
    /// This one only.
    Revision(Revision),
}

/// The settings of a [`Probe`](super::Probe).
///
/// ```
/// use turnbuckle_protocol::Revision;
/// use turnbuckle_session::probe::{RevisionChoice, Probe, Settings};
///
/// let settings = Settings::new().with_aim(RevisionChoice::Revision(Revision::V2025_06_18));
/// let probe = Probe::new(settings);
/// # let _ = probe;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub(super) aim: RevisionChoice,
    pub(super) supported: Vec<Revision>,
    pub(super) remembered: Option<DetectedRevision>,
    pub(super) probe_timeout: Duration,
    pub(super) handshake_timeout: Duration,
    pub(super) second_way: bool,
    pub(super) second_connection: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

impl Settings {
    /// Creates settings with all revisions, no remembered one, [`PROBE_TIMEOUT`] and
    /// [`HANDSHAKE_TIMEOUT`].
    pub fn new() -> Self {
        Self {
            aim: RevisionChoice::Auto,
            supported: Revision::ALL.to_vec(),
            remembered: None,
            probe_timeout: PROBE_TIMEOUT,
            handshake_timeout: HANDSHAKE_TIMEOUT,
            second_way: false,
            second_connection: false,
        }
    }

    /// Restricts the search to an era or a revision.
    pub fn with_aim(self, aim: RevisionChoice) -> Self {
        Self { aim, ..self }
    }

    /// Sets the revisions that the client supports, in any order.
    pub fn with_supported(self, supported: impl Into<Vec<Revision>>) -> Self {
        Self {
            supported: supported.into(),
            ..self
        }
    }

    /// Sets the result of the last probe.
    pub fn with_remembered(self, detected: DetectedRevision) -> Self {
        Self {
            remembered: Some(detected),
            ..self
        }
    }

    /// Sets how long to wait for an answer to the probe.
    pub fn with_probe_timeout(self, probe_timeout: Duration) -> Self {
        Self {
            probe_timeout,
            ..self
        }
    }

    /// Sets how long to wait for the answer to `initialize`, which has no fallback.
    pub fn with_handshake_timeout(self, handshake_timeout: Duration) -> Self {
        Self {
            handshake_timeout,
            ..self
        }
    }

    /// Sets that reopening uses another transport, such as HTTP+SSE after Streamable HTTP. A handshake
    /// that failed is then tried there too, even if there was no probe before it.
    pub fn with_second_way(self) -> Self {
        Self {
            second_way: true,
            ..self
        }
    }

    /// Sets that a second connection can be opened while the first is open, as a program can be started
    /// twice.
    pub fn with_second_connection(self) -> Self {
        Self {
            second_connection: true,
            ..self
        }
    }

    /// Returns the allowed revisions.
    pub(super) fn allowed(&self) -> Vec<Revision> {
        let fits = |revision: &Revision| match self.aim {
            RevisionChoice::Auto => true,
            RevisionChoice::Era(era) => Era::from(*revision) == era,
            RevisionChoice::Revision(pinned) => *revision == pinned,
        };
        self.supported.iter().copied().filter(fits).collect()
    }
}
