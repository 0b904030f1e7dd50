//! Tasks in the form of 2025-11-25.

use serde::{Deserialize, Serialize};

use super::{Task, TaskStatus};
use crate::{Cursor, Meta, OtherMembers, json, setter::setters};

/// A task in the form of 2025-11-25: the answer to `tasks/get` and `tasks/cancel`, and the params of
/// `notifications/tasks/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LegacyTask {
    /// The id of the task.
    pub task_id: String,
    /// The status of the task.
    pub status: TaskStatus,
    /// A message for the user about the status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// When the task was created, as an ISO 8601 time.
    pub created_at: String,
    /// When the task was last updated, as an ISO 8601 time.
    pub last_updated_at: String,
    /// How many milliseconds after its creation the task is kept; `None` means without limit.
    #[serde(default, deserialize_with = "json::millis")]
    pub ttl: Option<u64>,
    /// How many milliseconds to wait between two polls.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub poll_interval: Option<u64>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

setters! {
    impl LegacyTask {
        fn with_status_message(status_message: impl Into<String>);
        fn with_ttl(ttl: u64);
        fn with_poll_interval(poll_interval: u64);
        fn with_meta(meta: Meta);
    }
}

impl From<Task> for LegacyTask {
    fn from(task: Task) -> Self {
        Self {
            task_id: task.task_id,
            status: task.status,
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl: task.ttl_ms,
            poll_interval: task.poll_interval_ms,
            meta: task.meta,
            other: task.other,
        }
    }
}

impl From<LegacyTask> for Task {
    fn from(task: LegacyTask) -> Self {
        Self {
            task_id: task.task_id,
            status: task.status,
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl_ms: task.ttl,
            poll_interval_ms: task.poll_interval,
            meta: task.meta,
            other: task.other,
        }
    }
}

/// The answer of 2025-11-25 to a request that became a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LegacyCreateTaskResult {
    /// The task.
    pub task: LegacyTask,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

setters! {
    impl LegacyCreateTaskResult {
        fn with_meta(meta: Meta);
    }
}

impl From<Task> for LegacyCreateTaskResult {
    /// The `_meta` of the task moves to the result that contains it.
    fn from(mut task: Task) -> Self {
        let meta = task.meta.take();
        Self {
            task: task.into(),
            meta,
            other: OtherMembers::new(),
        }
    }
}

impl From<LegacyCreateTaskResult> for Task {
    fn from(result: LegacyCreateTaskResult) -> Self {
        Self {
            meta: result.meta,
            ..result.task.into()
        }
    }
}

/// The answer to `tasks/list`. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LegacyListTasksResult {
    /// The tasks of this page.
    pub tasks: Vec<LegacyTask>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl LegacyListTasksResult {
    /// Creates a list with a single page.
    pub fn new(tasks: Vec<LegacyTask>) -> Self {
        Self {
            tasks,
            ..Self::default()
        }
    }
}

setters! {
    impl LegacyListTasksResult {
        fn with_next_cursor(next_cursor: impl Into<Cursor>);
        fn with_meta(meta: Meta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_converts_there_and_back() {
        let mut task = Task::new("t1", "2026-07-28T00:00:00Z");
        task.ttl_ms = Some(60_000);
        task.poll_interval_ms = Some(500);
        task.meta = Some(Meta::new().with("a", 1));

        let legacy = LegacyCreateTaskResult::from(task.clone());
        let json = serde_json::to_value(&legacy).unwrap();
        assert_eq!(json["task"]["ttl"], 60_000);
        assert_eq!(json["task"]["pollInterval"], 500);
        assert_eq!(json["_meta"]["a"], 1);
        assert_eq!(Task::from(legacy), task);
    }
}
