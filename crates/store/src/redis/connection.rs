//! The way to Redis.

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

/// How long a connection may take to be made, and a command to be answered. A machine in the same
/// place answers in a millisecond; what takes longer than this is away.
pub(super) const COMMAND_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a command that found no connection is tried again.
const RETRIES: usize = 2;

/// A Redis that replicas share. Clones share its connection.
#[derive(Clone)]
pub struct Redis {
    pub(super) commands: Commands,
    names: Names,
}

impl Redis {
    /// Connects:
    ///
    /// - `redis://[user:password@]host[:port][/database]`, one Redis; `unix:///path` by a socket;
    /// - `redis+sentinel://[user:password@]host[:port],…/service[/database]`, the master of a service that
    ///   these sentinels watch, whichever process it is; with `?sentinel_username=…&sentinel_password=…`
    ///   if they want a password;
    /// - `redis+cluster://[user:password@]host[:port],…`, a cluster, of which these are some nodes.
    ///
    /// `rediss://`, `rediss+sentinel://` and `rediss+cluster://` are the same with TLS, with the feature
    /// `tls`.
    ///
    /// # Errors
    /// If the URL is invalid, or nothing answers there.
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

    /// Connects to a `rediss://`, `rediss+sentinel://` or `rediss+cluster://` URL with certificates of
    /// your own.
    ///
    /// # Errors
    /// If the URL is invalid or without TLS, a certificate cannot be read, or nothing answers there.
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

    /// Keeps what belongs to one server apart from what belongs to another: all names begin with
    /// this, and with `turnbuckle:` unless it is set. A part in braces would put all keys onto one
    /// node of a cluster.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.names = Names::new(prefix);
        self
    }

    /// Tasks.
    pub fn tasks(&self) -> RedisTasks {
        RedisTasks::new(self.clone())
    }

    /// States that were used.
    pub fn used_states(&self) -> RedisUsedStates {
        RedisUsedStates::new(self.clone())
    }

    /// Changes, on their way to all replicas. Must be called inside a runtime.
    pub fn fanout(&self) -> RedisFanout {
        RedisFanout::new(self)
    }

    /// Messages from one replica to another. Must be called inside a runtime.
    pub fn bus(&self) -> RedisBus {
        RedisBus::new(self.clone())
    }

    /// What clients change in their sessions.
    pub fn sessions(&self) -> RedisSessions {
        RedisSessions::new(self.clone())
    }

    /// Events of streams that outlive their replica.
    pub fn events(&self) -> RedisEvents {
        RedisEvents::new(self.clone())
    }

    /// Limits of callers.
    pub fn limits(&self) -> RedisLimits {
        RedisLimits::new(self.clone())
    }

    /// Sends a command that does no harm if it is carried out twice. One that finds its connection
    /// closed is sent again, on a new one: Redis closes connections that were idle for long, and
    /// anything between the two does so at any time.
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

    /// Whether keys and channels are on several nodes.
    pub(super) fn is_cluster(&self) -> bool {
        matches!(self.commands, Commands::Cluster(_))
    }

    /// Publishes a message to a channel, and says how many heard it.
    pub(super) async fn publish(&self, channel: &str, message: &[u8]) -> Result<u64, StoreError> {
        let mut publish = ::redis::cmd(match self.commands {
            Commands::One { .. } | Commands::Sentinel(_) => "PUBLISH",
            // Other than `PUBLISH` it reaches one shard alone, where all who listen are, and so it
            // counts all of them.
            Commands::Cluster(_) => "SPUBLISH",
        });
        publish.arg(channel).arg(message);
        // Who hears a message twice takes it once.
        self.repeatable(&publish).await
    }

    /// The only key of its kind that a group has: a session, an owner, a stream.
    pub(super) fn name(&self, kind: &str, group: &str) -> String {
        self.names.one(kind, group)
    }

    /// One of several keys of its kind that a group has. Scripts may use all keys of one group
    /// together, and no others: on a cluster these are on one node.
    pub(super) fn name_in(&self, kind: &str, group: &str, id: &str) -> String {
        self.names.one_of(kind, group, id)
    }

    /// A key that belongs to no group, for one value.
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

/// Must be called inside a runtime.
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
        // The address may hold a password.
        f.debug_struct("Redis")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

pub(super) fn failed(error: ::redis::RedisError) -> StoreError {
    StoreError::new("redis", error)
}

/// What is kept there cannot be read.
pub(super) fn unreadable(error: serde_json::Error) -> StoreError {
    StoreError::new("redis", error)
}
