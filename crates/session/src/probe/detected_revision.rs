//! The result of a probe, in a form that can be stored.

use serde::{Deserialize, Serialize};
use turnbuckle_protocol::Revision;

use crate::Era;

/// The detected revision of a server.
///
/// Store it under a key that identifies the server (its program and arguments, or its origin) and pass
/// it to the next [`Settings`](super::Settings).
///
/// ```
/// use turnbuckle_session::{Era, DetectedRevision};
///
/// let detected: DetectedRevision = serde_json::from_str(r#"{ "revision": "2025-06-18" }"#)?;
/// assert_eq!(detected.era(), Era::Legacy);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DetectedRevision {
    /// The revision that both sides use.
    pub revision: Revision,
}

impl DetectedRevision {
    /// Returns the era of the revision.
    pub fn era(self) -> Era {
        self.revision.into()
    }
}
