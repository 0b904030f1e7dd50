//! Who pays: by its id, or by where it calls from if it is not identified.

use super::Caller;
use crate::quota::CallerKey;

impl CallerKey {
    /// A caller who is known, or the user who started the process.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self::digest((0_u8, caller.id()))
    }

    /// A caller over HTTP. Without an identity it is the client's address: of IPv6 the first half,
    /// because a client can choose the second half freely.
    #[cfg(feature = "http")]
    pub(crate) fn over_http(
        caller: &Caller,
        peer: Option<&turnbuckle_transport::http::Peer>,
    ) -> Self {
        use std::net::IpAddr;

        if caller.id().is_some() {
            return Self::of(caller);
        }
        let Some(peer) = peer else {
            return Self::of(caller);
        };
        match peer.address().map(|address| address.ip().to_canonical()) {
            Some(IpAddr::V4(address)) => Self::digest((1_u8, address.octets())),
            Some(IpAddr::V6(address)) => Self::digest((2_u8, &address.octets()[..8])),
            None => Self::digest((3_u8, peer.user())),
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
