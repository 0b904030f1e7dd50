//! The key under which the usage of a caller is counted.

#[cfg(feature = "http")]
use std::fmt;
use std::{
    hash::{BuildHasher as _, Hash, RandomState},
    sync::OnceLock,
};

/// One caller, for quotas.
///
/// It is a digest with a key of this process. It has the same size for every caller, and a caller
/// cannot choose an id that has the same digest as another caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallerKey(u64);

/// A caller whose requests are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedCaller {
    pub(crate) key: CallerKey,
    /// The address it calls from, if the caller is not identified.
    #[cfg(feature = "http")]
    pub(crate) address: Option<CallerAddress>,
}

/// The address of a caller, reduced to the part by which callers are distinguished.
#[cfg(feature = "http")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallerAddress {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl From<CallerKey> for CountedCaller {
    fn from(key: CallerKey) -> Self {
        Self {
            key,
            #[cfg(feature = "http")]
            address: None,
        }
    }
}

#[cfg(feature = "http")]
impl fmt::Display for CallerAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(octets) => write!(out, "v4:{:08x}", u32::from_be_bytes(*octets)),
            Self::V6(octets) => write!(out, "v6:{:016x}", u64::from_be_bytes(*octets)),
        }
    }
}

static DIGEST: OnceLock<RandomState> = OnceLock::new();

impl CallerKey {
    pub(crate) fn digest(who: impl Hash) -> Self {
        Self(DIGEST.get_or_init(RandomState::new).hash_one(who))
    }

    /// The index of this caller's cell in each of two tables of this many cells.
    pub(super) fn cells(self, count: usize) -> [usize; 2] {
        let cell = |half: u64| usize::try_from(half).unwrap_or(usize::MAX) % count;
        [cell(self.0 & 0xffff_ffff), cell(self.0 >> 32)]
    }

    /// The key with this number.
    pub(crate) fn of_number(number: u64) -> Self {
        Self(number)
    }

    /// The number of the key, for code that has its own counters.
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}
