//! Stores that the replicas of a server share, as traits.
//!
//! Each file defines one kind of shared data, with its trait and a default implementation in
//! memory, which is sufficient for a server on one machine. A store for several machines implements
//! the same trait and must pass the same contract.
//!
//! Methods that may perform I/O return a [`BoxFuture`], so that a server can hold any store as a
//! `dyn` object. Time is an argument: stores do not use a clock to decide what has expired.

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
