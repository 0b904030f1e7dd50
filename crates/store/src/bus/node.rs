//! The name of a replica.

use std::fmt;

/// Names one process for as long as it runs: 64 random bits, never a host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u64);

/// Characters of a name.
const LENGTH: usize = 16;

impl NodeId {
    /// A node with this number, which has to be random.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Reads a name as [`fmt::Display`] writes it.
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
