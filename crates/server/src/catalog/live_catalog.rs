//! The catalog of a running server, and the steps of a change.

use std::sync::Arc;

use turnbuckle_base::lock::RwLock;

use super::Snapshot;
use crate::{
    Changes, Leniency,
    handler::{LogOffer, StateTypes},
};

/// The catalog of a running server, and what it takes to change it.
pub(crate) struct LiveCatalog {
    pub(super) snapshot: RwLock<Arc<Snapshot>>,
    pub(super) leniency: Leniency,
    pub(super) states: StateTypes,
    logging: Arc<LogOffer>,
    pub(super) changes: Changes,
}

impl LiveCatalog {
    pub(crate) fn new(
        snapshot: Snapshot,
        leniency: Leniency,
        states: StateTypes,
        logging: Arc<LogOffer>,
        changes: Changes,
    ) -> Self {
        offer_logs(&snapshot, &logging);
        Self {
            snapshot: RwLock::new(Arc::new(snapshot)),
            leniency,
            states,
            logging,
            changes,
        }
    }

    /// The lists can be filled from outside of the server from now on: they are declared to every
    /// client that connects, unless the author chose which lists are declared.
    pub(super) fn hand_out(&self) {
        // Lists that are declared already leave the catalog, and what was written of it, as it is.
        let _ = self.change(
            |snapshot| {
                if snapshot.hand_out() { Ok(()) } else { Err(()) }
            },
        );
    }

    /// Changes the catalog, or leaves it unchanged if there is an error.
    pub(super) fn change<T, E>(
        &self,
        change: impl FnOnce(&mut Snapshot) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut snapshot = self.snapshot.write();
        let mut next = Snapshot::clone(&snapshot);
        let changed = change(&mut next)?;
        offer_logs(&next, &self.logging);
        *snapshot = Arc::new(next);
        Ok(changed)
    }
}

fn offer_logs(snapshot: &Snapshot, logging: &LogOffer) {
    if snapshot.open_offer().logs {
        logging.make();
    }
    if snapshot.hides_logs() {
        logging.make_for_some();
    }
}
