//! Tasks: requests that continue after they were answered.
//!
//! [`Task`] and [`DetailedTask`] are the types of the tasks extension, which belongs to 2026-07-28.
//! [`LegacyTask`] and the other legacy types are the wire forms of 2025-11-25, with other names for the
//! same members; they convert in both directions.

mod augmented;
mod detailed;
mod legacy;
mod status;

pub use augmented::Augmented;
pub use detailed::{DetailedTask, TaskState};
pub use legacy::{LegacyCreateTaskResult, LegacyListTasksResult, LegacyTask};
pub use status::{CreateTaskResult, Task, TaskRequestParams, TaskStatus, UpdateTaskRequestParams};

pub use crate::task_metadata::{RelatedTask, TaskMetadata};

/// The identifier of the tasks extension.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
