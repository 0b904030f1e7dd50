//! Who pays: callers told apart for quotas, whether they are known or not.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::OnceLock,
};

use super::Caller;

/// One caller, for quotas: by its id, or by where it calls from if nobody knows who it is.
///
/// A digest with a key of this process: it has the same size for everybody, and nobody can choose an
/// id that has the digest of somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallerKey(u64);

static DIGEST: OnceLock<RandomState> = OnceLock::new();

impl CallerKey {
    /// A caller who is known, or the user who started the process.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self::digest((0_u8, caller.id()))
    }

    /// A caller over HTTP. One whom nobody knows is known by the address: of IPv6 by the first half,
    /// because every customer has as many of the second as it likes.
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

    fn digest(who: impl std::hash::Hash) -> Self {
        Self(DIGEST.get_or_init(RandomState::new).hash_one(who))
    }

    /// Two places in tables of this many cells, in which callers are counted.
    pub(crate) fn cells(self, count: usize) -> [usize; 2] {
        let cell = |half: u64| usize::try_from(half).unwrap_or(usize::MAX) % count;
        [cell(self.0 & 0xffff_ffff), cell(self.0 >> 32)]
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
        assert!(key(&Caller::local()).cells(7).iter().all(|cell| *cell < 7));
    }
}
