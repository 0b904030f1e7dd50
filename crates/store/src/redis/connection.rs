//! The way to Redis.

use std::{fmt, sync::Arc, time::Duration};

use ::redis::{
    Client, Cmd, FromRedisValue,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

#[cfg(feature = "tls")]
use super::RedisTls;
use super::{RedisBus, RedisEvents, RedisFanout, RedisSessions, RedisSpent, RedisTasks};
use crate::{ReplicaStores, StoreError};

/// How long a connection may take to be made, and a command to be answered. A machine in the same
/// place answers in a millisecond; what takes longer than this is away.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a command that found no connection is tried again.
const RETRIES: usize = 2;

/// What all names begin with. The braces keep them together on a cluster.
const PREFIX: &str = "{turnbuckle}:";

/// A Redis that replicas share. Clones share its connection.
#[derive(Clone)]
pub struct Redis {
    pub(super) client: Client,
    pub(super) commands: ConnectionManager,
    prefix: Arc<str>,
}

impl Redis {
    /// Connects: `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS with the feature
    /// `tls`, or `unix:///path`.
    ///
    /// # Errors
    /// If the URL is invalid, or nothing answers there.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        #[cfg(feature = "tls")]
        super::tls::choose_provider();
        Self::connect(Client::open(url).map_err(failed)?).await
    }

    /// Connects to a `rediss://` URL with certificates of your own.
    ///
    /// # Errors
    /// If the URL is invalid or not `rediss://`, a certificate cannot be read, or nothing answers there.
    #[cfg(feature = "tls")]
    pub async fn open_with_tls(url: &str, tls: RedisTls) -> Result<Self, StoreError> {
        super::tls::choose_provider();
        Self::connect(tls.client(url).map_err(failed)?).await
    }

    async fn connect(client: Client) -> Result<Self, StoreError> {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE))
            .set_number_of_retries(RETRIES);
        let commands = ConnectionManager::new_with_config(client.clone(), config);
        Ok(Self {
            client,
            commands: commands.await.map_err(failed)?,
            prefix: PREFIX.into(),
        })
    }

    /// Keeps what belongs to one server apart from what belongs to another: all names begin with
    /// this, and with `{turnbuckle}:` unless it is set.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Tasks.
    pub fn tasks(&self) -> RedisTasks {
        RedisTasks::new(self.clone())
    }

    /// States that were used.
    pub fn spent(&self) -> RedisSpent {
        RedisSpent::new(self.clone())
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

    /// Sends a command that does no harm if it is carried out twice. One that finds its connection
    /// closed is sent again, on a new one: Redis closes connections that were idle for long, and
    /// what stands between does so at any time.
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

    pub(super) fn name(&self, kind: &str, id: &str) -> String {
        format!("{}{kind}:{id}", self.prefix)
    }
}

/// Must be called inside a runtime.
impl From<Redis> for ReplicaStores {
    fn from(redis: Redis) -> Self {
        Self::new(
            Arc::new(redis.bus()),
            Arc::new(redis.sessions()),
            Arc::new(redis.tasks()),
            Arc::new(redis.fanout()),
            Arc::new(redis.spent()),
            Arc::new(redis.events()),
        )
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may hold a password.
        f.debug_struct("Redis")
            .field("prefix", &self.prefix)
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
