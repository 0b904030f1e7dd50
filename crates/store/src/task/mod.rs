//! Tasks: calls that continue after they were answered, and their results.
//!
//! A server on several machines keeps its tasks in a store that all of them share: a call may start
//! on one machine, be polled on another, and be answered or cancelled on a third. The machine that
//! runs the work watches the task with [`Tasks::changed`].
//!
//! Every task belongs to an owner, and other callers cannot find it.

mod change;
mod error;
mod leased;
mod memory;
mod record;
mod restart;
mod stamp;
mod store;

pub use change::{Answers, Applied, TaskChange, TaskEnd};
pub use error::TasksError;
pub use leased::{LeasedTasks, TakeoverCallback};
pub use memory::{MemoryLimits, MemoryTasks};
pub use record::{NewTask, TaskKey, TaskRecord};
pub use restart::{JournalChange, Restart, RunChange};
pub use stamp::{millis, timestamp};
pub use store::{Changed, TaskPage, Tasks};
