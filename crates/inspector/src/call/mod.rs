//! Calls: each runs in a task of its own, which the inspector owns, with its rounds and until the
//! end of the task that it may become.

mod job;
mod round;
mod task;

pub(super) use job::Unsent;
