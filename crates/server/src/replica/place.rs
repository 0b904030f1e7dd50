//! The place of a session on a replica. The ids of its requests and events begin with it.

use std::fmt;

use turnbuckle_protocol::IdRef;
use turnbuckle_store::bus::NodeId;

/// Identifies the part of a session on one replica: the node, and a number that the node uses only
/// once. The ids of server requests and of events begin with it, so that they lead to their replica
/// and are never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: NodeId,
    pub(crate) number: u64,
}

impl Place {
    /// Parses the place at the beginning of an id, and returns it with the rest of the id.
    pub(crate) fn split(id: &str) -> Option<(Self, &str)> {
        let (place, rest) = id.split_once('-')?;
        let (node, number) = place.split_once('.')?;
        let place = Self {
            node: NodeId::parse(node)?,
            number: number.parse().ok()?,
        };
        Some((place, rest))
    }

    /// The place at the beginning of the id of a server request.
    pub(crate) fn of(id: &IdRef<'_>) -> Option<Self> {
        match id {
            IdRef::Text(text) => Self::split(text).map(|(place, _)| place),
            _ => None,
        }
    }

    /// The beginning of the ids of requests from this place.
    pub(crate) fn prefix(self) -> String {
        format!("{self}-")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.node, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_off_the_ids_that_begin_with_it() {
        let place = Place {
            node: NodeId::new(0xabc),
            number: 12,
        };
        let id = format!("{}s3-4", place.prefix());
        assert_eq!(id, "0000000000000abc.12-s3-4");
        assert_eq!(Place::split(&id), Some((place, "s3-4")));
        for strange in [
            "",
            "1",
            "1-2",
            "abc.1-2",
            "0000000000000abc.-2",
            "0000000000000abc.1",
        ] {
            assert_eq!(Place::split(strange), None, "{strange}");
        }
    }
}
