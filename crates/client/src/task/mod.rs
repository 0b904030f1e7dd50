//! Tasks: calls whose result is fetched later.
//!
//! A plain call needs nothing of this: where the server makes a task of it, the client waits for
//! the task and answers what it asks. [`Call::task`](crate::Call::task) is for those who want the
//! task itself, to look at it, to come back from another process, or to do something else meanwhile.

mod declare;
mod follow;
mod handle;
mod poll;
mod start;
mod statuses;
mod ticket;

pub(crate) use declare::declare;
use follow::follow;
pub(crate) use follow::wait;
pub use handle::TaskHandle;
pub use start::{StartTask, Started};
pub use statuses::TaskStatuses;
pub use ticket::TaskTicket;
