//! `Redis`: the connection to Redis.

use std::{fmt, sync::Arc, time::Duration};

use ::redis::{
    Client, Cmd, FromRedisValue,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

#[cfg(feature = "tls")]
use super::RedisTls;
use super::{
    RedisBus, RedisEvents, RedisFanout, RedisLimits, RedisSessions, RedisTasks, RedisUsedStates,
    cluster::Cluster,
    commands::Commands,
    name::Names,
    sentinel::Sentinel,
    target::{ClusterTarget, SentinelTarget, Target},
};
use crate::{ReplicaStores, StoreError};

/// How long connecting may take, and how long a command may take to be answered. A machine in the
/// same place answers in a millisecond; a longer delay means that it is unreachable.
pub(super) const COMMAND_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a command is retried if there was no connection.
const RETRIES: usize = 2;

/// A Redis that replicas share. Clones share the connection.
#[derive(Clone)]
pub struct Redis {
    pub(super) commands: Commands,
    names: Names,
}

impl Redis {
    /// Connects to Redis. The URL is one of:
    ///
    /// - `redis://[user:password@]host[:port][/database]` for a single Redis, or `unix:///path` for a
    ///   socket;
    /// - `redis+sentinel://[user:password@]host[:port],…/service[/database]` for the current master of a
    ///   service that these sentinels watch, with `?sentinel_username=…&sentinel_password=…` if the
    ///   sentinels require a password;
    /// - `redis+cluster://[user:password@]host[:port],…` for a cluster, of which these are some nodes.
    ///
    /// `rediss://`, `rediss+sentinel://` and `rediss+cluster://` are the same with TLS, which
    /// requires the feature `tls`.
    ///
    /// # Errors
    /// [`StoreError`] if the URL is invalid, or Redis cannot be reached.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        #[cfg(feature = "tls")]
        super::tls::choose_provider();
        let commands = match Target::parse(url)? {
            Target::One => one(Client::open(url).map_err(failed)?).await?,
            Target::Sentinel(target) => sentinel(target).await?,
            Target::Cluster(target) => cluster(target).await?,
        };
        Ok(Self::new(commands))
    }

    /// Connects to a `rediss://`, `rediss+sentinel://` or `rediss+cluster://` URL with your own
    /// certificates.
    ///
    /// # Errors
    /// [`StoreError`] if the URL is invalid or without TLS, a certificate cannot be read, or Redis
    /// cannot be reached.
    #[cfg(feature = "tls")]
    pub async fn open_with_tls(url: &str, tls: RedisTls) -> Result<Self, StoreError> {
        super::tls::choose_provider();
        let commands = match Target::parse(url)? {
            Target::One => one(tls.client(url).map_err(failed)?).await?,
            Target::Sentinel(target) => sentinel(target.with_tls(&tls)).await?,
            Target::Cluster(target) => cluster(target.with_tls(tls)).await?,
        };
        Ok(Self::new(commands))
    }

    fn new(commands: Commands) -> Self {
        Self {
            commands,
            names: Names::default(),
        }
    }

    /// Sets the prefix of all names, which separates the data of one server from that of another.
    /// Defaults to `turnbuckle:`. A part in braces would put all keys onto one node of a cluster.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.names = Names::new(prefix);
        self
    }

    /// The store for tasks.
    pub fn tasks(&self) -> RedisTasks {
        RedisTasks::new(self.clone())
    }

    /// The store for used states.
    pub fn used_states(&self) -> RedisUsedStates {
        RedisUsedStates::new(self.clone())
    }

    /// The fan-out for changes. It must be called within a runtime.
    pub fn fanout(&self) -> RedisFanout {
        RedisFanout::new(self)
    }

    /// The bus for messages between replicas. It must be called within a runtime.
    pub fn bus(&self) -> RedisBus {
        RedisBus::new(self.clone())
    }

    /// The store for what clients change in their sessions.
    pub fn sessions(&self) -> RedisSessions {
        RedisSessions::new(self.clone())
    }

    /// The log for events of streams that outlive their replica.
    pub fn events(&self) -> RedisEvents {
        RedisEvents::new(self.clone())
    }

    /// The shared limits of callers.
    pub fn limits(&self) -> RedisLimits {
        RedisLimits::new(self.clone())
    }

    /// Sends a command that is harmless if it is carried out twice. If its connection turns out to
    /// be closed, it is sent again on a new one: Redis closes connections that were idle for long,
    /// and network devices between the two may do so at any time.
    pub(super) async fn repeatable<T: FromRedisValue>(
        &self,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        let mut commands = self.commands.clone();
        let answered = match command.query_async(&mut commands).await {
            Err(error) if error.is_connection_dropped() => command.query_async(&mut commands).await,
            answered => answered,
        };
        answered.map_err(failed)
    }

    /// Whether keys and channels are spread over several nodes.
    pub(super) fn is_cluster(&self) -> bool {
        matches!(self.commands, Commands::Cluster(_))
    }

    /// Publishes a message to a channel, and returns how many subscribers received it.
    pub(super) async fn publish(&self, channel: &str, message: &[u8]) -> Result<u64, StoreError> {
        let mut publish = ::redis::cmd(match self.commands {
            Commands::One { .. } | Commands::Sentinel(_) => "PUBLISH",
            // Unlike `PUBLISH`, it reaches only one shard, where all subscribers are, and therefore
            // counts all of them.
            Commands::Cluster(_) => "SPUBLISH",
        });
        publish.arg(channel).arg(message);
        // Recipients ignore a message that arrives twice.
        self.repeatable(&publish).await
    }

    /// The name of the only key of this kind in a group: a session, an owner, a stream.
    pub(super) fn name(&self, kind: &str, group: &str) -> String {
        self.names.one(kind, group)
    }

    /// The name of one of several keys of this kind in a group. A script may use several keys of
    /// one group together, because they are on one node of a cluster, but no others.
    pub(super) fn name_in(&self, kind: &str, group: &str, id: &str) -> String {
        self.names.one_of(kind, group, id)
    }

    /// The name of a key that belongs to no group, for a single value.
    pub(super) fn lone_name(&self, kind: &str, id: &[u8]) -> Vec<u8> {
        self.names.lone(kind, id)
    }
}

async fn one(client: Client) -> Result<Commands, StoreError> {
    let config = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(COMMAND_TIMEOUT))
        .set_response_timeout(Some(COMMAND_TIMEOUT))
        .set_number_of_retries(RETRIES);
    let manager = ConnectionManager::new_with_config(client.clone(), config);
    let manager = manager.await.map_err(failed)?;
    let client = Arc::new(client);
    Ok(Commands::One { client, manager })
}

async fn sentinel(target: SentinelTarget) -> Result<Commands, StoreError> {
    Ok(Commands::Sentinel(Arc::new(Sentinel::open(target).await?)))
}

async fn cluster(target: ClusterTarget) -> Result<Commands, StoreError> {
    Ok(Commands::Cluster(Arc::new(Cluster::open(target).await?)))
}

/// Must be called within a runtime.
impl From<Redis> for ReplicaStores {
    fn from(redis: Redis) -> Self {
        let limits = Arc::new(redis.limits());
        let stores = Self::new(
            Arc::new(redis.bus()),
            Arc::new(redis.sessions()),
            Arc::new(redis.tasks()),
            Arc::new(redis.fanout()),
            Arc::new(redis.used_states()),
            Arc::new(redis.events()),
        );
        stores.with_limits(limits)
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may contain a password.
        f.debug_struct("Redis")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

pub(super) fn failed(error: ::redis::RedisError) -> StoreError {
    StoreError::new("redis", error)
}

/// The error for stored data that cannot be read.
pub(super) fn unreadable(error: serde_json::Error) -> StoreError {
    StoreError::new("redis", error)
}
