//! Publishes changes to this process and to the fan-out, and receives them from it.

use std::sync::Arc;

use turnbuckle_store::{Change, Fanout, JoinGuard};

use super::{hub::Hub, limits::ListenerLimits};
use crate::quota::Quota;

/// The hub of this process, and the fan-out from which it receives changes.
pub(super) struct Publisher {
    hub: Arc<Hub>,
    fanout: Arc<dyn Fanout>,
    _joined: JoinGuard,
}

impl Publisher {
    pub(super) fn new(fanout: Arc<dyn Fanout>, limits: ListenerLimits, kept: Arc<Quota>) -> Self {
        let hub = Arc::new(Hub::new(limits, kept));
        let ear = Arc::clone(&hub);
        let joined = fanout.join(Box::new(move |change| ear.hear(change)));
        Self {
            hub,
            fanout,
            _joined: joined,
        }
    }

    pub(super) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    pub(super) fn publish(&self, change: Change) {
        self.fanout.publish(change);
    }
}
