//! The key of a caller for quotas: its id, or its address if it is not identified.

use super::Caller;
#[cfg(feature = "http")]
use crate::quota::CallerAddress;
use crate::quota::{CallerKey, CountedCaller};

impl CallerKey {
    /// The key of an identified caller, or of the user who started the process.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self::digest((0_u8, caller.id()))
    }

    /// The key of a caller over HTTP. For a caller without an id it is made from the client's
    /// address. Only the first half of an IPv6 address counts, because a client can choose the
    /// second half freely.
    #[cfg(feature = "http")]
    pub(crate) fn over_http(
        caller: &Caller,
        peer: Option<&turnbuckle_transport::http::Peer>,
    ) -> Self {
        if caller.id().is_some() {
            return Self::of(caller);
        }
        let Some(peer) = peer else {
            return Self::of(caller);
        };
        match CallerAddress::of(peer) {
            Some(CallerAddress::V4(octets)) => Self::digest((1_u8, octets)),
            Some(CallerAddress::V6(octets)) => Self::digest((2_u8, octets)),
            None => Self::digest((3_u8, peer.user())),
        }
    }
}

#[cfg(feature = "http")]
impl CallerAddress {
    /// The address that a client calls from; `None` for a process on this machine.
    pub(crate) fn of(peer: &turnbuckle_transport::http::Peer) -> Option<Self> {
        use std::net::IpAddr;

        Some(match peer.address()?.ip().to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => Self::V6(*address.octets().first_chunk()?),
        })
    }
}

impl CountedCaller {
    /// Whether this caller cannot be distinguished from others: it has neither an id nor an
    /// address.
    pub(crate) fn is_unknown(&self, caller: &Caller) -> bool {
        caller.id().is_none() && !self.has_address()
    }

    #[cfg(feature = "http")]
    fn has_address(&self) -> bool {
        self.address.is_some()
    }

    /// Without HTTP, callers have no addresses.
    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "with HTTP, the address is a field")]
    fn has_address(&self) -> bool {
        false
    }

    /// The name by which all replicas count the caller. Callers that have neither an id nor an
    /// address are counted as one.
    #[cfg(feature = "http")]
    pub(crate) fn name(&self, caller: &Caller) -> String {
        match (caller.id(), self.address) {
            (Some(id), _) => format!("caller:{id}"),
            (None, Some(address)) => address.to_string(),
            (None, None) => "unknown".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_told_apart_by_their_ids() {
        let key = |caller: &Caller| CallerKey::of(caller);
        assert_eq!(key(&Caller::new("ada")), key(&Caller::new("ada")));
        assert_ne!(key(&Caller::new("ada")), key(&Caller::new("eve")));
        assert_ne!(key(&Caller::new("")), key(&Caller::local()));
    }
}
