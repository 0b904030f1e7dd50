//! The catalog of a running server, and how it is changed.

use std::sync::Arc;

use turnbuckle_base::lock::RwLock;

use super::Snapshot;
use crate::{
    Changes, Leniency,
    handler::{LogOffer, StateTypes},
};

/// The current snapshot, and everything that is needed to change it.
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

    /// Notes that code outside of the server can add entries from now on. All lists are then
    /// declared to clients that connect, unless the author chose which lists are declared.
    pub(super) fn hand_out(&self) {
        // If the lists are declared already, the snapshot with its written pages is kept.
        let _ = self.change(
            |snapshot| {
                if snapshot.hand_out() { Ok(()) } else { Err(()) }
            },
        );
    }

    /// Applies a change to the catalog. The catalog is unchanged if it returns an error.
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
