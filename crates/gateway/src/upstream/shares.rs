//! Limits the processes of a server that one caller can have.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use turnbuckle_base::lock::Mutex;

use super::processes::ProcessPlaces;

/// Each caller can have at most half of the processes, so that calls which wait for their users do
/// not keep out all others.
pub(super) struct Shares {
    each: usize,
    /// The callers that hold processes. Each place keeps the share that it came from.
    callers: Mutex<HashMap<String, Weak<ProcessPlaces>>>,
}

impl Shares {
    pub(super) fn of(processes: usize) -> Self {
        Self {
            each: processes.div_ceil(2),
            callers: Mutex::default(),
        }
    }

    /// The process places of one caller.
    pub(super) fn of_caller(&self, caller: &str) -> Arc<ProcessPlaces> {
        let mut callers = self.callers.lock();
        if let Some(share) = callers.get(caller).and_then(Weak::upgrade) {
            return share;
        }
        callers.retain(|_, share| share.strong_count() > 0);
        let share = ProcessPlaces::new(self.each);
        callers.insert(caller.to_owned(), Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_caller_has_half_of_the_places_and_is_forgotten_when_it_has_none() {
        let shares = Shares::of(7);
        let ada = shares.of_caller("ada");
        let mut held = Vec::new();
        while ada.free() > 0 {
            held.extend(ada.wait(|| ()).await);
        }
        assert_eq!(held.len(), 4);
        drop(ada);
        assert_eq!(shares.of_caller("ada").free(), 0);
        assert_eq!(shares.of_caller("bob").free(), 4);
        drop(held);
        assert_eq!(shares.of_caller("ada").free(), 4);
        assert_eq!(Shares::of(1).of_caller("ada").free(), 1);
    }
}
