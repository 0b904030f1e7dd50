//! The revisions and their dates.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::rules::{Era, Rules};

macro_rules! declare {
    ($($(#[$docs:meta])* $variant:ident $module:ident $date:literal;)+) => {
        /// A revision of the specification, ordered from oldest to newest.
        ///
        /// Its [`rules`](Self::rules) say what differs from other revisions.
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
        #[non_exhaustive]
        pub enum Revision {
            $($(#[$docs])* $variant,)+
        }

        impl Revision {
            /// Every revision, oldest first.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the date, in the form in which it is sent.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $date,)+
                }
            }

            /// Returns the rules of the revision.
            pub const fn rules(self) -> &'static Rules {
                match self {
                    $(Self::$variant => &super::$module::RULES,)+
                }
            }
        }
    };
}

crate::each_revision!(declare);

impl Revision {
    /// The revisions with a handshake (`initialize`), oldest first.
    pub const LEGACY: &'static [Self] = Self::ALL.split_at(legacy_count()).0;
    /// The revisions without a handshake, oldest first.
    pub const MODERN: &'static [Self] = Self::ALL.split_at(legacy_count()).1;
    /// Every revision, newest first, as servers list them.
    pub const NEWEST_FIRST: &'static [Self] = &reversed();
    /// The newest revision.
    pub const LATEST: Self = Self::ALL[Self::ALL.len() - 1];
    /// The newest revision with a handshake.
    pub const LATEST_LEGACY: Self = Self::LEGACY[Self::LEGACY.len() - 1];
    /// The revision of a client that uses Streamable HTTP with a session but sends no version.
    // transports, 2025-06-18: a server that gets no `MCP-Protocol-Version` SHOULD assume this one.
    pub const WITHOUT_VERSION_HEADER: Self = Self::V2025_03_26;

    /// Returns the revision with this date, if it is known here.
    pub fn from_date(date: &str) -> Option<Self> {
        Self::NEWEST_FIRST
            .iter()
            .copied()
            .find(|revision| revision.as_str() == date)
    }

    /// Returns the index of the revision in [`Self::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the era of the revision.
    pub const fn era(self) -> Era {
        self.rules().era
    }

    /// Returns whether the revision is modern: without handshake and session.
    pub const fn is_modern(self) -> bool {
        matches!(self.era(), Era::Modern)
    }
}

impl From<Revision> for Era {
    fn from(revision: Revision) -> Self {
        revision.era()
    }
}

/// The number of revisions with a handshake. They come before all others.
const fn legacy_count() -> usize {
    let mut count = 0;
    while count < Revision::ALL.len() && !Revision::ALL[count].is_modern() {
        count += 1;
    }
    count
}

const fn reversed() -> [Revision; Revision::ALL.len()] {
    let mut reversed = [Revision::V2024_11_05; Revision::ALL.len()];
    let mut index = 0;
    while index < reversed.len() {
        reversed[index] = Revision::ALL[reversed.len() - 1 - index];
        index += 1;
    }
    reversed
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a date that is not the date of a known revision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a known revision of the Model Context Protocol; the newest is {latest}",
    latest = Revision::LATEST
)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_in_the_order_of_their_dates() {
        assert!(Revision::ALL.is_sorted());
        assert!(Revision::ALL.is_sorted_by_key(|revision| revision.as_str()));
        for (index, revision) in Revision::ALL.iter().enumerate() {
            assert_eq!(revision.index(), index);
            assert_eq!(Revision::from_date(revision.as_str()), Some(*revision));
        }
        let newest_first: Vec<_> = Revision::ALL.iter().rev().collect();
        assert!(Revision::NEWEST_FIRST.iter().eq(newest_first));
    }

    #[test]
    fn each_revision_has_one_era_and_the_legacy_ones_come_first() {
        assert!(
            Revision::LEGACY
                .iter()
                .all(|revision| !revision.is_modern())
        );
        assert!(Revision::MODERN.iter().all(|revision| revision.is_modern()));
        let both = [Revision::LEGACY, Revision::MODERN].concat();
        assert_eq!(both, Revision::ALL);
        assert_eq!(Revision::LATEST_LEGACY, Revision::V2025_11_25);
    }
}
