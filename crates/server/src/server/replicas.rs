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
    replica::{Message, Outcome, Replicas, Station, StreamLife},
};

/// How often it is looked whether another replica is gone.
const LOOK: Duration = Duration::from_secs(1);

/// How many replicas are remembered until they are gone. More than there are.
const MAX_SEEN: usize = 10_000;

/// How often the tasks of a replica that is gone are looked at, if some cannot be taken over at once
/// because too many run here. Later they are taken over when their clients ask for them.
const MAX_LOOKS: u32 = 30;

impl Server {
    /// Runs as one of several replicas behind a load balancer, which need not send a client to the same
    /// replica twice. All of them share these stores, and one [secret](Self::secret).
    ///
    /// Tasks, changes and used states are kept in the stores too. Sessions of clients of revisions
    /// up to 2025-11-25 are served by every replica: the id of a session is its sealed handshake,
    /// and lasts a day.
    ///
    /// [`build`](Self::build) has to be called inside a runtime then, and
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

    /// Keeps the events of calls in the store that [replicas](Self::replicas) share, so that a
    /// client can resume the stream of a call after the replica that ran it has ended: it gets what
    /// was sent before, and the result if there was one. For clients of revisions up to 2025-11-25;
    /// later revisions do not resume streams.
    ///
    /// It costs one command of the store for each group of events. The limits for replays in
    /// `HttpSettings` apply to the stored events, which are encrypted with the
    /// [secret](Self::secret).
    #[cfg(feature = "replicas")]
    pub fn durable_streams(mut self) -> Self {
        self.streams = StreamLife::Durable;
        self
    }
}

/// Replicas that have no secret in common could not read each other's ids.
pub(super) fn check(stores: Option<&ReplicaStores>, has_secret: bool) -> Result<(), SetupError> {
    if stores.is_some() && !has_secret {
        return Err(SetupError::ReplicasWithoutSecret);
    }
    Ok(())
}

/// Rates that the replicas count together, if their stores can. Must be called inside a runtime.
pub(super) fn shared_rates(stores: Option<&ReplicaStores>) -> Option<Arc<SharedRates>> {
    let stores = stores?;
    let limits = Arc::clone(stores.limits.as_ref()?);
    Some(SharedRates::new(limits, Arc::clone(&stores.bus)))
}

/// Joins the other replicas, if there are to be any, and leases the tasks.
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

/// Goes on with tasks of other replicas, from now on. Must be called inside a runtime if there are
/// replicas.
pub(super) fn watch_over_tasks(shared: &Arc<Shared>) {
    let (Some(replicas), Some(restarts)) = (&shared.replicas, shared.tasks.restarts()) else {
        return;
    };
    restarts.start_with(Box::new(StartAgain(Arc::downgrade(shared))));
    let station = Arc::new(TaskStation(Arc::downgrade(shared)));
    replicas.add_own(station);
    // Ends with the server.
    tokio::spawn(look_for_lost(Arc::downgrade(shared)));
}

/// Hears that other replicas have left their tasks to this one.
struct TaskStation(Weak<Shared>);

impl Station for TaskStation {
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

/// Looks for replicas that are gone, and after their tasks, for as long as the server lives. It
/// costs the store nothing while all replicas are there.
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

/// Takes over the tasks of a replica that is gone. Returns whether all of them are taken care of.
async fn look_after(shared: &Shared, node: NodeId) -> bool {
    // It is made for the first call that needs it; tasks of others need it too.
    let (Some(restarts), Some(_)) = (shared.tasks.restarts(), shared.tasks.runner()) else {
        return true;
    };
    match restarts.leased.look_after(node).await {
        Ok(tasks) => tasks == 0,
        Err(error) => {
            tracing::warn!(%error, "the tasks of a replica that is gone cannot be looked for");
            false
        }
    }
}
