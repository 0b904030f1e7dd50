//! What replicas of a server need around them, for our own tests and benchmarks: processes of Redis
//! (one, a master with sentinels, a cluster), and a load balancer that sends each request to the next
//! replica. All of it is on loopback, and ends when it is dropped.
//!
//! Whatever does not work panics, with what to do about it where that is known.

#![expect(
    clippy::missing_panics_doc,
    reason = "everything here panics if what a test needs does not work"
)]

mod balancer;
mod cluster;
mod ports;
mod redis_server;
mod sentinels;

pub use balancer::Balancer;
pub use cluster::Cluster;
pub use ports::free_port;
pub use redis_server::{Lone, RedisServer, until, words};
pub use sentinels::Sentinels;
