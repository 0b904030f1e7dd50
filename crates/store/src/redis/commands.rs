//! Sends commands to the right Redis process: a single one, with Sentinel, or in a cluster.

use std::sync::Arc;

use ::redis::{
    Client, Cmd, ErrorKind, Pipeline, RedisFuture, Value,
    aio::{ConnectionLike, ConnectionManager},
};
use tokio::sync::watch;

use super::{cluster::Cluster, sentinel::Sentinel};

/// Sends commands. Clones share the connections.
#[derive(Clone)]
pub(super) enum Commands {
    One {
        client: Arc<Client>,
        manager: ConnectionManager,
    },
    Sentinel(Arc<Sentinel>),
    Cluster(Arc<Cluster>),
}

impl Commands {
    /// A number that changes with each failover, if there can be failovers.
    pub(super) fn failovers(&self) -> Option<watch::Receiver<u64>> {
        match self {
            Self::One { .. } => None,
            Self::Sentinel(sentinel) => Some(sentinel.failovers()),
            Self::Cluster(cluster) => Some(cluster.failovers()),
        }
    }
}

impl ConnectionLike for Commands {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::One { manager, .. } => manager.req_packed_command(command),
            Self::Sentinel(sentinel) => Box::pin(sentinel.send(command)),
            Self::Cluster(cluster) => Box::pin(cluster.send(command)),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::One { manager, .. } => manager.req_packed_commands(pipeline, offset, count),
            Self::Sentinel(sentinel) => Box::pin(sentinel.send_all(pipeline, offset, count)),
            Self::Cluster(_) => Box::pin(async {
                // The commands of a pipeline might belong to several nodes.
                Err((ErrorKind::Client, "a cluster takes scripts, not pipelines").into())
            }),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::One { manager, .. } => manager.get_db(),
            Self::Sentinel(_) | Self::Cluster(_) => 0,
        }
    }
}
