//! What a relay hears of a server, as it came: events of one call, and what belongs to no call.
//!
//! [`RelayCalls`] knows the relayed calls of a connection that are in flight, each with the queue of
//! its events. A [`RelayAsk`] is a request of the server that a relay answers.

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
