//! The requests of one connection that wait for their answers.
//!
//! [`PendingRequests`] is the table with its timer, and a [`Slot`] receives the answer to one request.
//! The clock is paused while the server waits for the client.

mod clock;
mod requests;
mod slot;
mod tags;

pub(crate) use requests::{ClockHold, PendingRequests, Refused};
pub(crate) use slot::{LateSlot, RequestOutcome, Slot, SlotEvent, SlotSender, slot};
pub(crate) use tags::CallTags;
