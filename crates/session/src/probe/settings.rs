//! The settings of a probe.

use std::time::Duration;

use turnbuckle_protocol::Revision;

use super::DetectedRevision;
use crate::Era;

/// How long a server may take to answer `server/discover` before `initialize` is tried as well.
///
/// Servers that ignore what they do not know cost every first connection this long, so it is
/// short; it still covers the start of an interpreter. A slow server that takes longer loses
/// nothing: its late answer counts, and it is given twice as long for it as `initialize` takes.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a server may take to answer where no other question is left to ask it.
///
/// A minute: a package runner may have to download the server first.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_mins(1);

/// Which revisions a search may end with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RevisionChoice {
    /// Any that the client supports; modern ones first.
    #[default]
    Auto,
    /// Those of one era.
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
    /// Every revision, nothing remembered, [`PROBE_TIMEOUT`] and [`HANDSHAKE_TIMEOUT`].
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

    /// Pins an era or a revision.
    pub fn with_aim(self, aim: RevisionChoice) -> Self {
        Self { aim, ..self }
    }

    /// The revisions the client speaks, in any order.
    pub fn with_supported(self, supported: impl Into<Vec<Revision>>) -> Self {
        Self {
            supported: supported.into(),
            ..self
        }
    }

    /// The result of the last probe.
    pub fn with_remembered(self, detected: DetectedRevision) -> Self {
        Self {
            remembered: Some(detected),
            ..self
        }
    }

    /// Waits this long for an answer to the probe.
    pub fn with_probe_timeout(self, probe_timeout: Duration) -> Self {
        Self {
            probe_timeout,
            ..self
        }
    }

    /// Waits this long for the answer to `initialize`, which has no fallback.
    pub fn with_handshake_timeout(self, handshake_timeout: Duration) -> Self {
        Self {
            handshake_timeout,
            ..self
        }
    }

    /// Says that opening again goes another way, as HTTP+SSE is another way than Streamable HTTP:
    /// then a handshake that failed is worth trying there, even one that no probe came before.
    pub fn with_second_way(self) -> Self {
        Self {
            second_way: true,
            ..self
        }
    }

    /// Says that the server may be reached a second time while the first connection is open, as a
    /// program may be started twice.
    pub fn with_second_connection(self) -> Self {
        Self {
            second_connection: true,
            ..self
        }
    }

    /// The revisions the search may end with.
    pub(super) fn allowed(&self) -> Vec<Revision> {
        let fits = |revision: &Revision| match self.aim {
            RevisionChoice::Auto => true,
            RevisionChoice::Era(era) => Era::from(*revision) == era,
            RevisionChoice::Revision(pinned) => *revision == pinned,
        };
        self.supported.iter().copied().filter(fits).collect()
    }
}
