//! A server as one of several replicas.

use std::sync::Arc;

use turnbuckle_store::{
    ReplicaStores,
    bus::NodeId,
    task::{LeasedTasks, Tasks},
};

use super::Server;
use crate::{
    SetupError,
    handler::ask::AskContext,
    replica::{Replicas, StreamLife},
};

impl Server {
    /// Runs as one of several replicas behind a load balancer, which need not send a client to the same
    /// replica twice. All of them share these stores, and one [secret](Self::secret).
    ///
    /// Tasks, changes and used states are kept in the stores too. Sessions of clients until 2025-11-25
    /// are served by every replica: the id of a session is its sealed handshake, and lasts a day.
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
        self.asks.spent = Some(Arc::clone(&stores.spent));
        self.replicas = Some(stores);
        self
    }

    /// Keeps the events of calls in the store that [replicas](Self::replicas) share, so that a client
    /// can resume the stream of a call after the replica that ran it has ended: it gets what was sent
    /// before, and the result if there was one. For clients until 2025-11-25; later revisions do not
    /// resume streams.
    ///
    /// It costs a command of the store for each group of events. As much of a stream is kept as
    /// `HttpSettings` says of replays, encrypted with the [secret](Self::secret).
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

/// Joins the other replicas, if there are to be any, and leases the tasks.
#[expect(
    clippy::type_complexity,
    reason = "two optional parts of what all connections share"
)]
pub(super) fn join(
    stores: Option<ReplicaStores>,
    streams: StreamLife,
    tasks: Option<Arc<dyn Tasks>>,
    asks: &Arc<AskContext>,
) -> Result<(Option<Arc<Replicas>>, Option<Arc<dyn Tasks>>), SetupError> {
    let Some(stores) = stores else {
        return Ok((None, tasks));
    };
    let mut number = [0; 8];
    getrandom::fill(&mut number).map_err(|error| SetupError::NoRandomness(error.to_string()))?;
    let node = NodeId::new(u64::from_be_bytes(number));
    let tasks = tasks.unwrap_or(Arc::clone(&stores.tasks));
    let tasks = LeasedTasks::new(tasks, Arc::clone(&stores.bus), node);
    let asks = Arc::clone(asks);
    let replicas = Replicas::join(&stores, node, streams, Arc::new(move || asks.keys()));
    Ok((Some(replicas), Some(Arc::new(tasks))))
}
