//! Counts unknown tokens by the address that sent them.
//!
//! Each unknown token costs a request to an issuer, and anyone can make up tokens. An address that
//! has sent many unknown tokens is refused for a while without a request; tokens that are already
//! known are not counted.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::IpAddr,
    sync::atomic::{AtomicU64, Ordering},
};

use turnbuckle_transport::http::Peer;

/// The number of cells in which addresses are counted, by their digests. Each address has two
/// cells, so that two addresses are counted together only if they share both.
const CELLS: usize = 1024;

/// The period in seconds, after which counting starts again.
const PERIOD: u64 = 60;

/// The bits of a cell that contain the count. The other bits contain the number of the period.
const COUNT_BITS: u32 = 20;

/// How many unknown tokens each address has sent in this period.
#[derive(Debug)]
pub(super) struct Attempts {
    cells: Box<[[AtomicU64; CELLS]; 2]>,
    digest: RandomState,
    pub(super) max: u32,
}

/// The cells of the address that a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin([usize; 2]);

impl Attempts {
    /// Lets every address send this many unknown tokens per minute.
    pub(super) fn new(max: u32) -> Self {
        Self {
            cells: Box::new([const { [const { AtomicU64::new(0) }; CELLS] }; 2]),
            digest: RandomState::new(),
            max: max.min((1 << COUNT_BITS) - 1),
        }
    }

    /// For IPv6 only the first half of the address is used: a client can choose the second half freely.
    pub(super) fn origin(&self, peer: Option<&Peer>) -> Origin {
        let address = peer
            .and_then(Peer::address)
            .map(|all| all.ip().to_canonical());
        let digest = match address {
            Some(IpAddr::V4(address)) => self.digest.hash_one((1_u8, address.octets())),
            Some(IpAddr::V6(address)) => self.digest.hash_one((2_u8, &address.octets()[..8])),
            None => self.digest.hash_one((3_u8, peer.and_then(Peer::user))),
        };
        let cell = |half: u64| usize::try_from(half).unwrap_or(usize::MAX) % CELLS;
        Origin([cell(digest & 0xffff_ffff), cell(digest >> 32)])
    }

    /// Whether an address has sent too many unknown tokens.
    pub(super) fn is_over(&self, origin: Origin, now: u64) -> bool {
        let mut cells = self.cells.iter().zip(origin.0);
        cells.all(|(row, cell)| count(row[cell].load(Ordering::Relaxed), now) >= self.max)
    }

    /// Counts an unknown token.
    pub(super) fn note(&self, origin: Origin, now: u64) {
        for (row, cell) in self.cells.iter().zip(origin.0) {
            let more = |before: u64| {
                let count = u64::from(count(before, now).saturating_add(1).min(self.max));
                Some(((now / PERIOD) << COUNT_BITS) | count)
            };
            let _ = row[cell].fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        }
    }
}

/// The count of a cell, or 0 if it is from an earlier period.
fn count(cell: u64, now: u64) -> u32 {
    if cell >> COUNT_BITS != now / PERIOD {
        return 0;
    }
    u32::try_from(cell & ((1 << COUNT_BITS) - 1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_sends_many_is_over_until_the_next_minute() {
        let attempts = Attempts::new(3);
        let (here, there) = (Origin([1, 2]), Origin([1, 3]));
        for _ in 0..3 {
            assert!(!attempts.is_over(here, 600));
            attempts.note(here, 600);
        }
        assert!(attempts.is_over(here, 659));
        assert!(!attempts.is_over(there, 659));
        assert!(!attempts.is_over(here, 660));
        let unknown = attempts.origin(None);
        assert!(unknown.0.iter().all(|cell| *cell < CELLS));
    }
}
