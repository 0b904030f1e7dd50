//! Messages of a server for a relay, unchanged: events of one call, and messages without a call.
//!
//! [`RelayCalls`] contains the relayed calls in progress of a connection, each with the queue of its
//! events. A [`RelayAsk`] is a request of the server that a relay answers.

mod ask;
mod calls;
mod event;
mod queue;
mod sink;

pub(crate) use ask::AskReply;
pub use ask::{Attribution, RelayAsk};
pub(crate) use calls::{OpenRelay, RelayCalls};
pub use event::RelayEvent;
pub(crate) use queue::RelayQueue;
pub use sink::RelaySink;
