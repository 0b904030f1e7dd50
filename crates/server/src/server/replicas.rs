//! A server as one of several replicas.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Duration,
};

use futures_core::future::BoxFuture;
use turnbuckle_store::{
    ReplicaStores,
    bus::NodeId,
    task::{LeasedTasks, Tasks},
};

use super::Server;
use crate::{
    SetupError,
    engine::{
        Shared,
        method::StartAgain,
        shared_rates::SharedRates,
        task::{Restarts, TaskStore},
    },
    handler::ask::AskContext,
    replica::{Message, MessageHandler, Outcome, Replicas, StreamLife},
};

/// The interval at which the server checks whether other replicas have ended.
const LOOK: Duration = Duration::from_secs(1);

/// How many replicas are remembered until they have ended; more than a deployment has.
const MAX_SEEN: usize = 10_000;

/// How often the tasks of an ended replica are looked at, if some of them cannot be taken over at
/// once because too many tasks run here. The rest are taken over when their clients ask for them.
const MAX_LOOKS: u32 = 30;

impl Server {
    /// Runs as one of several replicas behind a load balancer, which need not send a client to the
    /// same replica twice. All of them share these stores, and one [secret](Self::secret).
    ///
    /// Tasks, changes and used states are kept in the stores too. Every replica can serve the
    /// sessions of clients of revisions up to 2025-11-25: the id of a session contains its
    /// encrypted handshake, and is valid for a day.
    ///
    /// With replicas, [`build`](Self::build) must be called inside a runtime, and
    /// [`LiveServer::shutdown`](crate::LiveServer::shutdown) before the process ends.
    ///
    /// ```
    /// use turnbuckle_server::Server;
    /// use turnbuckle_store::MemoryReplicas;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// // In production: `turnbuckle_store::redis::Redis::open(url).await?`.
    /// let shared = MemoryReplicas::default();
    /// let secret = [7; 32];
    /// let one = Server::new("booking", "1.0.0").replicas(shared.clone()).secret(&secret).build();
    /// let other = Server::new("booking", "1.0.0").replicas(shared).secret(&secret).build();
    /// # one.unwrap(); other.unwrap();
    /// # });
    /// ```
    #[cfg(feature = "replicas")]
    pub fn replicas(mut self, stores: impl Into<ReplicaStores>) -> Self {
        let stores = stores.into();
        self.fanout = Arc::clone(&stores.fanout);
        self.asks.used_states = Some(Arc::clone(&stores.used_states));
        self.replicas = Some(stores);
        self
    }

    /// Stores the events of calls in the store that [replicas](Self::replicas) share. A client can
    /// then resume the stream of a call after the replica that ran it has ended: it gets the events
    /// that were sent before, and the result if there was one. For clients of revisions up to
    /// 2025-11-25; later revisions do not resume streams.
    ///
    /// Each group of events costs one command to the store. The limits for replays in
    /// `HttpSettings` apply to the stored events, which are encrypted with the
    /// [secret](Self::secret).
    #[cfg(feature = "replicas")]
    pub fn durable_streams(mut self) -> Self {
        self.streams = StreamLife::Durable;
        self
    }
}

/// Fails if the replicas have no common secret, because they could not read each other's ids.
pub(super) fn check(stores: Option<&ReplicaStores>, has_secret: bool) -> Result<(), SetupError> {
    if stores.is_some() && !has_secret {
        return Err(SetupError::ReplicasWithoutSecret);
    }
    Ok(())
}

/// Rates that the replicas count together, if their stores support that. Must be called inside a
/// runtime.
pub(super) fn shared_rates(stores: Option<&ReplicaStores>) -> Option<Arc<SharedRates>> {
    let stores = stores?;
    let limits = Arc::clone(stores.limits.as_ref()?);
    Some(SharedRates::new(limits, Arc::clone(&stores.bus)))
}

/// Joins the other replicas if there are stores for them, and makes a task store that leases its
/// tasks to replicas.
pub(super) fn join(
    stores: Option<ReplicaStores>,
    streams: StreamLife,
    tasks: Option<Arc<dyn Tasks>>,
    asks: &Arc<AskContext>,
) -> Result<(Option<Arc<Replicas>>, TaskStore), SetupError> {
    let Some(stores) = stores else {
        return Ok((None, tasks.map_or(TaskStore::Memory, TaskStore::Given)));
    };
    let mut number = [0; 8];
    getrandom::fill(&mut number).map_err(|error| SetupError::NoRandomness(error.to_string()))?;
    let node = NodeId::new(u64::from_be_bytes(number));
    let tasks = tasks.unwrap_or(Arc::clone(&stores.tasks));
    let tasks = LeasedTasks::new(tasks, Arc::clone(&stores.bus), node);
    let asks = Arc::clone(asks);
    let replicas = Replicas::join(&stores, node, streams, Arc::new(move || asks.keys()));
    let restarts = Restarts::new(Arc::new(tasks));
    Ok((Some(replicas), TaskStore::Leased(Arc::new(restarts))))
}

/// Continues the tasks of ended replicas, from now on. Must be called inside a runtime if there are
/// replicas.
pub(super) fn watch_over_tasks(shared: &Arc<Shared>) {
    let (Some(replicas), Some(restarts)) = (&shared.replicas, shared.tasks.restarts()) else {
        return;
    };
    restarts.start_with(Box::new(StartAgain(Arc::downgrade(shared))));
    let handler = Arc::new(TaskMessages(Arc::downgrade(shared)));
    replicas.add_own(handler);
    // This task ends with the server.
    tokio::spawn(look_for_lost(Arc::downgrade(shared)));
}

/// Receives the messages of other replicas that have left their tasks to this one.
struct TaskMessages(Weak<Shared>);

impl MessageHandler for TaskMessages {
    fn take(self: Arc<Self>, message: &Message) -> Option<BoxFuture<'static, Outcome>> {
        let Message::TasksLeft { node } = message else {
            return None;
        };
        let (node, shared) = (NodeId::parse(node)?, self.0.upgrade()?);
        Some(Box::pin(async move {
            look_after(&shared, node).await;
            Outcome::Done
        }))
    }
}

/// Checks which replicas have ended and takes over their tasks, for as long as the server lives. It
/// makes no request to the store while all replicas run.
async fn look_for_lost(shared: Weak<Shared>) {
    let mut seen: BTreeMap<NodeId, u32> = BTreeMap::new();
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let Some(replicas) = &shared.replicas else {
            return;
        };
        if shared.tasks.is_closing() {
            return;
        }
        shared.allowances.rates.count_replicas();
        for node in replicas.nodes() {
            if seen.len() < MAX_SEEN {
                seen.insert(node, 0);
            }
        }
        let lost: Vec<_> = seen
            .iter()
            .filter(|(node, _)| replicas.is_gone(**node))
            .map(|(node, looks)| (*node, *looks))
            .collect();
        for (node, looks) in lost {
            let is_done = look_after(&shared, node).await;
            if is_done || looks >= MAX_LOOKS {
                seen.remove(&node);
            } else {
                seen.insert(node, looks + 1);
            }
        }
    }
}

/// Takes over the tasks of an ended replica. Returns `true` if no tasks are left there, or if this
/// server runs no tasks.
async fn look_after(shared: &Shared, node: NodeId) -> bool {
    // The runner is usually made for the first call that needs it; taking over tasks needs it, too.
    let (Some(restarts), Some(_)) = (shared.tasks.restarts(), shared.tasks.runner()) else {
        return true;
    };
    match restarts.leased.look_after(node).await {
        Ok(tasks) => tasks == 0,
        Err(error) => {
            tracing::warn!(%error, "cannot look for tasks of a replica that has ended");
            false
        }
    }
}
