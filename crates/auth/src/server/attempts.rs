//! Unknown tokens, counted by the address that sent them.
//!
//! Each token costs a question to an issuer, and anyone can make tokens up. An address that has
//! sent many unknown tokens is refused without a question for a while; tokens that are known
//! already are not counted.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::IpAddr,
    sync::atomic::{AtomicU64, Ordering},
};

use turnbuckle_transport::http::Peer;

/// Cells in which addresses are counted, by their digests: two for each, so that two addresses count
/// for each other only if they share both.
const CELLS: usize = 1024;

/// Seconds in which the count starts over.
const PERIOD: u64 = 60;

/// Bits of a cell that count; the others are the number of the period.
const COUNT_BITS: u32 = 20;

/// How many unknown tokens each address has sent of late.
#[derive(Debug)]
pub(super) struct Attempts {
    cells: Box<[[AtomicU64; CELLS]; 2]>,
    digest: RandomState,
    pub(super) max: u32,
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin([usize; 2]);

impl Attempts {
    /// Lets every address send so many in a minute.
    pub(super) fn new(max: u32) -> Self {
        Self {
            cells: Box::new([const { [const { AtomicU64::new(0) }; CELLS] }; 2]),
            digest: RandomState::new(),
            max: max.min((1 << COUNT_BITS) - 1),
        }
    }

    /// Of IPv6 the first half of the address counts: a client can choose the second half freely.
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

    /// Whether an address has sent too many.
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

/// The count of a cell, if it is of this period.
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
