//! The id and the status of a task.

use serde::{Deserialize, Serialize};

use crate::{InputResponses, Meta, OtherMembers, json, setter::setters, word::open_words};

open_words! {
    /// The status of a task. An unknown status is kept unchanged; such a task has not ended.
    TaskStatus {
        /// The task is running.
        Working = "working",
        /// The task waits for the client.
        InputRequired = "input_required",
        /// The task has completed.
        Completed = "completed",
        /// The task has failed. In 2025-11-25 this includes a tool result with `isError`.
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether the status is terminal: it never changes again.
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// A task, without its questions, its result or its error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Task {
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
    pub ttl_ms: Option<u64>,
    /// How many milliseconds to wait between two polls.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub poll_interval_ms: Option<u64>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl Task {
    /// Creates a task that begins now and is kept without limit.
    pub fn new(id: impl Into<String>, now: impl Into<String>) -> Self {
        let now = now.into();
        Self {
            task_id: id.into(),
            status: TaskStatus::Working,
            status_message: None,
            created_at: now.clone(),
            last_updated_at: now,
            ttl_ms: None,
            poll_interval_ms: None,
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl Task {
        fn with_status_message(status_message: impl Into<String>);
        fn with_ttl_ms(ttl_ms: u64);
        fn with_poll_interval_ms(poll_interval_ms: u64);
        fn with_meta(meta: Meta);
    }
}

/// The answer to a call that became a task.
pub type CreateTaskResult = Task;

/// The params of `tasks/get`, `tasks/cancel` and `tasks/result`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskRequestParams {
    /// The id of the task.
    pub task_id: String,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl TaskRequestParams {
    /// Creates the params for a task.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            task_id: id.into(),
            meta: None,
        }
    }
}

setters! {
    impl TaskRequestParams {
        fn with_meta(meta: Meta);
    }
}

/// The params of `tasks/update`: answers to the requests of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdateTaskRequestParams {
    /// The id of the task.
    pub task_id: String,
    /// The answers, by the keys of the task's questions.
    pub input_responses: InputResponses,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl UpdateTaskRequestParams {
    /// Creates the params with answers for a task.
    pub fn new(id: impl Into<String>, responses: InputResponses) -> Self {
        Self {
            task_id: id.into(),
            input_responses: responses,
            meta: None,
        }
    }
}

setters! {
    impl UpdateTaskRequestParams {
        fn with_meta(meta: Meta);
    }
}
