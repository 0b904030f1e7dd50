//! All stores that the replicas of one server share.

use std::sync::Arc;

use crate::{
    Fanout, LocalFanout, MemoryUsedStates, UsedStates,
    bus::{Bus, MemoryBus},
    event::{EventLog, MemoryEvents},
    limit::{MemorySharedLimits, SharedLimits},
    session::{MemorySessions, Sessions},
    task::{MemoryTasks, Tasks},
};

/// All stores that the replicas of one server share. Pass it to `Server::replicas`.
#[derive(Clone)]
#[non_exhaustive]
pub struct ReplicaStores {
    /// Messages between replicas.
    pub bus: Arc<dyn Bus>,
    /// What clients change in their sessions.
    pub sessions: Arc<dyn Sessions>,
    /// Tasks.
    pub tasks: Arc<dyn Tasks>,
    /// Changes that are sent to all replicas.
    pub fanout: Arc<dyn Fanout>,
    /// Used states, each of which is accepted only once.
    pub used_states: Arc<dyn UsedStates>,
    /// Events of streams, for servers with `Server::durable_streams`.
    pub events: Arc<dyn EventLog>,
    /// Shared limits of callers. Without it each replica counts separately.
    pub limits: Option<Arc<dyn SharedLimits>>,
}

impl ReplicaStores {
    /// Makes the stores from these implementations.
    pub fn new(
        bus: Arc<dyn Bus>,
        sessions: Arc<dyn Sessions>,
        tasks: Arc<dyn Tasks>,
        fanout: Arc<dyn Fanout>,
        used_states: Arc<dyn UsedStates>,
        events: Arc<dyn EventLog>,
    ) -> Self {
        Self {
            bus,
            sessions,
            tasks,
            fanout,
            used_states,
            events,
            limits: None,
        }
    }

    /// Adds limits of callers that all replicas count together.
    #[must_use]
    pub fn with_limits(mut self, limits: Arc<dyn SharedLimits>) -> Self {
        self.limits = Some(limits);
        self
    }
}

/// Shared stores for several servers in one process, which act as replicas on several machines. Use
/// it in tests.
#[derive(Clone)]
pub struct MemoryReplicas(ReplicaStores);

impl Default for MemoryReplicas {
    fn default() -> Self {
        let stores = ReplicaStores::new(
            Arc::new(MemoryBus::default()),
            Arc::new(MemorySessions::default()),
            Arc::new(MemoryTasks::default()),
            Arc::new(LocalFanout::default()),
            Arc::new(MemoryUsedStates::default()),
            Arc::new(MemoryEvents::default()),
        );
        Self(stores.with_limits(Arc::new(MemorySharedLimits::default())))
    }
}

impl From<MemoryReplicas> for ReplicaStores {
    fn from(replicas: MemoryReplicas) -> Self {
        replicas.0
    }
}
