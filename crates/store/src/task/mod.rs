//! Tasks: calls that continue after they were answered, and their results.
//!
//! A server that runs on several machines keeps its tasks in a store that all of them share: the
//! call may start on one, be looked at on another, and be answered or cancelled on a third. The
//! machine that runs the work watches the task with [`Tasks::changed`].
//!
//! Every task belongs to an owner, and does not exist for other callers.

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
