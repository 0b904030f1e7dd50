//! The environment of replicas for our own tests and benchmarks: Redis processes (a single one, a
//! master with sentinels, a cluster), and a load balancer that sends each request to the next
//! replica. All of it uses loopback only, and ends when it is dropped.
//!
//! All failures panic, with advice if there is any.

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
