//! Permanent redirects of URLs.

use turnbuckle_base::lock::RwLock;

use super::Address;

/// 16 addresses: a server has one or two. Beyond that, the oldest is forgotten.
const MAX_MOVED: usize = 16;

/// The permanent redirects so far.
#[derive(Debug, Default)]
pub(super) struct Moved(RwLock<Vec<(Address, Address)>>);

impl Moved {
    /// Returns the address for a request to this address.
    pub(super) fn place_of(&self, address: &Address) -> Address {
        let moved = self.0.read();
        let known = moved.iter().find(|(from, _)| from.uri() == address.uri());
        known.map_or(address, |(_, to)| to).clone()
    }

    /// Records a permanent redirect.
    pub(super) fn remember(&self, from: &Address, to: &Address) {
        let mut moved = self.0.write();
        moved.retain(|(known, _)| known.uri() != from.uri());
        if moved.len() == MAX_MOVED {
            moved.remove(0);
        }
        moved.push((from.clone(), to.clone()));
    }

    /// Forgets a redirect, so that the next request uses the original address.
    pub(super) fn forget(&self, from: &Address) {
        if !self.0.read().is_empty() {
            self.0
                .write()
                .retain(|(known, _)| known.uri() != from.uri());
        }
    }
}
