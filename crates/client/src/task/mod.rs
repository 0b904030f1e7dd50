//! Tasks of a server: polling a task, and waiting for its result.
//!
//! A plain call needs nothing of this: where the server makes a task of it, the client waits for
//! the task and answers what it asks ([`follow`]). [`TaskTicket`] is what another process needs to
//! come back.

mod follow;
mod poll;
mod statuses;
mod ticket;

pub(crate) use follow::{Followed, follow, give_up, wait, wait_by_hand};
pub(crate) use poll::{LookState, cancel, look, update};
pub use statuses::TaskStatuses;
pub use ticket::TaskTicket;
