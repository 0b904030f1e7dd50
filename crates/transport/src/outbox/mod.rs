//! The bounded queue of outgoing messages: many senders, one connection that empties it.
//!
//! Messages lie in the queue as the bytes that go on the wire, one line each, so that a drainer
//! takes all of them by swapping a buffer and writes them at once.

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
