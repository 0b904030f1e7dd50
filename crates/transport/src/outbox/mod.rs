//! The bounded queue of outgoing messages: many senders, one connection that empties it.
//!
//! The queue contains messages as the bytes to be sent, one line each, so that a drainer takes all of
//! them by swapping a buffer and writes them at once.

mod budget;
mod drain;
mod held;
mod lines;
mod queue;
mod send;

pub use budget::OutboxBudget;
pub(crate) use drain::{Attached, Chunk, Taken};
pub use held::Held;
pub use send::Outbox;
