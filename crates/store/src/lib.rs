//! Stores that the replicas of a server share, as traits.
//!
//! Each file is one thing to share, with its trait and a default in memory, which is all that a
//! server on one machine needs. A store for many machines implements the same trait and passes the
//! same contract.
//!
//! Methods that may do I/O return a [`BoxFuture`], so that a server holds any store as a `dyn`.
//! Time is an argument: no store asks a clock what is over.

pub mod bus;
mod changes;
#[cfg(feature = "contract")]
pub mod contract;
mod error;
pub mod event;
pub mod limit;
#[cfg(feature = "redis")]
pub mod redis;
mod replicas;
pub mod session;
pub mod task;
mod used_states;

pub use changes::{Change, ChangeCallback, Fanout, JoinGuard, LocalFanout};
pub use error::StoreError;
pub use futures_core::future::BoxFuture;
pub use replicas::{MemoryReplicas, ReplicaStores};
pub use used_states::{
    MAX_USED_STATES, MAX_USED_STATES_PER_OWNER, MemoryUsedStates, StateClaim, StateUse, UsedStates,
};
