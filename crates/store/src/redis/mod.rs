//! Stores that several machines share, in Redis or Valkey.
//!
//! ```no_run
//! use turnbuckle_store::redis::Redis;
//!
//! # async fn run() -> Result<(), turnbuckle_store::StoreError> {
//! let redis = Redis::open("redis://127.0.0.1/").await?;
//! // Server::new("booking", "1.0.0").replicas(redis).secret(&secret)
//! # drop(redis);
//! # Ok(()) }
//! ```
//!
//! One connection is for commands, and each store that listens for messages has one of its own.
//! Broken connections are opened again. Redis 6.2 or newer is required, and Redis 7 for a cluster.
//! [`Redis::open`] also accepts URLs of sentinels and clusters.

mod address;
mod bus;
mod cluster;
mod commands;
mod connection;
mod events;
mod fanout;
mod limits;
mod name;
mod news;
mod nodes;
mod process;
mod recent_ends;
mod scripts;
mod sentinel;
mod sessions;
mod shard_news;
mod slot;
mod slot_map;
mod target;
mod task_index;
mod task_list;
mod task_restart;
mod task_scripts;
mod tasks;
#[cfg(feature = "tls")]
mod tls;
mod used_states;
mod waiting;

pub use bus::RedisBus;
pub use connection::Redis;
pub use events::RedisEvents;
pub use fanout::RedisFanout;
pub use limits::RedisLimits;
pub use sessions::RedisSessions;
pub use tasks::{RedisTasks, TASK_BYTES_PER_OWNER, TASKS_PER_OWNER};
#[cfg(feature = "tls")]
pub use tls::RedisTls;
pub use used_states::RedisUsedStates;
