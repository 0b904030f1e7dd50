//! Messages between replicas, and the list of replicas.
//!
//! A bus carries bytes and does not interpret them: a server seals each message before it sends it,
//! so the bus needs no secret and learns none.

mod carrier;
mod memory;
mod node;

pub use carrier::{Bus, Delivery, Inbox, Recipient};
pub use memory::MemoryBus;
pub use node::NodeId;
