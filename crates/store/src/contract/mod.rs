//! Tests that every implementation of a store must pass.
//!
//! They need the feature `contract`. Call them from a test of the store:
//!
//! ```
//! use turnbuckle_store::{contract, task::MemoryTasks};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! contract::tasks(async || MemoryTasks::default()).await;
//! # });
//! ```

mod bus;
mod events;
mod limits;
mod sessions;
mod tasks;
mod used_states;

pub use bus::bus;
pub use events::events;
pub use limits::limits;
pub use sessions::sessions;
pub use tasks::tasks;
pub use used_states::used_states;
