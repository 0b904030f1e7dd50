//! The Redis between the replicas: a single one, one with sentinels, or a cluster.

use std::time::Duration;

use turnbuckle_test_replicas::{Cluster, Lone, RedisServer, Sentinels};

use super::history::Harm;

/// How long a master stays down, so that another process takes its place.
const FAILOVER: Duration = Duration::from_secs(6);

/// The kind of Redis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StoreKind {
    Redis,
    Sentinel,
    Cluster,
}

impl StoreKind {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "redis" => Some(Self::Redis),
            "sentinel" => Some(Self::Sentinel),
            "cluster" => Some(Self::Cluster),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Redis => "one Redis with an append-only file",
            Self::Sentinel => "a master, two replicas and three sentinels",
            Self::Cluster => "a cluster of six",
        }
    }
}

/// The Redis processes, until they are dropped.
pub(super) enum Store {
    Redis(Lone),
    Sentinel(Sentinels),
    Cluster(Cluster),
}

impl Store {
    pub(super) fn start(kind: StoreKind) -> Self {
        match kind {
            StoreKind::Redis => Self::Redis(Lone::start_lasting()),
            StoreKind::Sentinel => Self::Sentinel(Sentinels::start()),
            StoreKind::Cluster => Self::Cluster(Cluster::start()),
        }
    }

    pub(super) fn url(&self) -> String {
        match self {
            Self::Redis(lone) => lone.url(),
            Self::Sentinel(sentinels) => sentinels.url(),
            Self::Cluster(cluster) => cluster.url(),
        }
    }

    /// The harm for clients when a process is killed.
    pub(super) fn harm(&self) -> Harm {
        match self {
            Self::Redis(_) => Harm::Redis,
            Self::Sentinel(_) | Self::Cluster(_) => Harm::Failover,
        }
    }

    /// How long a process has to be down. `alone` is the time for a single Redis.
    pub(super) fn away(&self, alone: Duration) -> Duration {
        match self {
            Self::Redis(_) => alone,
            Self::Sentinel(_) | Self::Cluster(_) => alone.max(FAILOVER),
        }
    }

    /// Kills a process that holds data, and returns its port.
    pub(super) fn kill(&mut self) -> u16 {
        let port = self.masters()[0].port;
        self.server(port).kill();
        port
    }

    pub(super) fn start_again(&mut self, port: u16) {
        self.server(port).start_again();
    }

    /// Sends a command to all processes that hold data.
    pub(super) fn tell(&self, command: &[&str]) {
        for master in self.masters() {
            master.says(command);
        }
    }

    fn masters(&self) -> Vec<&RedisServer> {
        match self {
            Self::Redis(lone) => vec![&lone.server],
            Self::Sentinel(sentinels) => {
                let port = sentinels.master_port();
                let mut servers = sentinels.servers.iter();
                servers
                    .find(|server| server.port == port)
                    .into_iter()
                    .collect()
            }
            Self::Cluster(cluster) => cluster.masters(),
        }
    }

    fn server(&mut self, port: u16) -> &mut RedisServer {
        let servers = match self {
            Self::Redis(lone) => std::slice::from_mut(&mut lone.server),
            Self::Sentinel(sentinels) => &mut sentinels.servers[..],
            Self::Cluster(cluster) => &mut cluster.nodes[..],
        };
        let mut servers = servers.iter_mut();
        let server = servers.find(|server| server.port == port);
        server.expect("it is one of ours")
    }
}
