//! The id of a replica.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Identifies one process for as long as it runs: 64 random bits, never a host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u64);

/// The length of the text form, in characters.
const LENGTH: usize = 16;

impl NodeId {
    /// Makes the id with this number, which must be random.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The id as a number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Parses the text that [`fmt::Display`] writes. Returns `None` for other texts.
    ///
    /// ```
    /// use turnbuckle_store::bus::NodeId;
    ///
    /// let node = NodeId::new(7);
    /// assert_eq!(NodeId::parse(&node.to_string()), Some(node));
    /// assert_eq!(NodeId::parse("7"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != LENGTH || !text.bytes().all(is_name) {
            return None;
        }
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

impl Serialize for NodeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NodeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not the name of a replica"))
    }
}
