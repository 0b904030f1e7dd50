//! The revisions by their dates.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A revision of the specification, ordered from oldest to newest.
///
/// ```
/// use turnbuckle_protocol::Revision;
///
/// let revision: Revision = "2025-06-18".parse()?;
/// assert!(revision < Revision::LATEST);
/// assert!(!revision.is_modern());
/// # Ok::<(), turnbuckle_protocol::UnknownRevision>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05, the first.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches, tool annotations, audio.
    V2025_03_26,
    /// 2025-06-18: structured results, elicitation, resource links; batches removed.
    V2025_06_18,
    /// 2025-11-25: tasks, icons, tools in sampling, URL elicitation.
    V2025_11_25,
    /// 2026-07-28: no handshake, every request complete in itself.
    V2026_07_28,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];
    /// The revisions that open with `initialize`, oldest first.
    pub const LEGACY: [Self; 4] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
    ];
    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;
    /// The newest revision that opens with `initialize`.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The date, as it stands on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision with this date, if it is one of the five.
    pub fn from_date(date: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == date)
    }

    /// Whether requests are complete in themselves: no handshake, no session.
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A date that is not the date of a revision known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a revision of the Model Context Protocol known here; the newest is {latest}", latest = Revision::LATEST)]
pub struct UnknownRevision(pub String);

impl std::str::FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(date: &str) -> Result<Self, Self::Err> {
        Self::from_date(date).ok_or_else(|| UnknownRevision(date.to_owned()))
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Revision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let date = std::borrow::Cow::<str>::deserialize(deserializer)?;
        date.parse().map_err(de::Error::custom)
    }
}
