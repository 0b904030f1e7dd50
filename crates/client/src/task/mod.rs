//! Tasks of a server: polling a task, and waiting for its result.
//!
//! A plain call needs none of this directly: if the server makes a task of it, the client waits for the
//! task and answers its questions ([`follow`]). With a [`TaskTicket`], another process can return to
//! the task.

mod follow;
mod poll;
mod statuses;
mod ticket;

pub(crate) use follow::{Followed, follow, give_up, wait, wait_by_hand};
pub(crate) use poll::{LookState, cancel, look, update};
pub use statuses::TaskStatuses;
pub use ticket::TaskTicket;
