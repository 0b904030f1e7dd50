//! Calls: each runs in its own task, which the inspector owns, with all its rounds and, if it becomes an MCP task,
//! until that task ends.

mod job;
mod round;
mod task;

pub(super) use job::Unsent;
