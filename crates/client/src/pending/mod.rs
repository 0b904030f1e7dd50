//! The requests of one connection that wait for their answers.
//!
//! [`PendingRequests`] is the table with its timer, a [`Slot`] is where one answer lands, and the
//! clock is stopped while the server waits for the client.

mod clock;
mod requests;
mod slot;
mod tags;

pub(crate) use requests::{ClockHold, PendingRequests, Refused};
pub(crate) use slot::{LateSlot, RequestOutcome, Slot, SlotEvent, SlotSender, slot};
pub(crate) use tags::CallTags;
