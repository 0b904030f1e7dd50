//! The id and the status of a task.

use serde::{Deserialize, Serialize};

use crate::{InputResponses, Meta, OtherMembers, json, setter::setters, word::open_words};

open_words! {
    /// The status of a task. An unknown word is kept as it came; such a task is not over.
    TaskStatus {
        /// It runs.
        Working = "working",
        /// It waits for the client.
        InputRequired = "input_required",
        /// It is done.
        Completed = "completed",
        /// It ended in an error; in 2025-11-25 also in a tool result that says so.
        Failed = "failed",
        /// It was given up.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether the status is terminal: it never changes again.
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// A task, without what it waits for or returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Task {
    /// Its id.
    pub task_id: String,
    /// The status of the task.
    pub status: TaskStatus,
    /// A message about the status, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// When it began, as an ISO 8601 time.
    pub created_at: String,
    /// When it last changed, as an ISO 8601 time.
    pub last_updated_at: String,
    /// For how many milliseconds from its beginning it is kept; without limit if `None`.
    #[serde(default, deserialize_with = "json::millis")]
    pub ttl_ms: Option<u64>,
    /// How many milliseconds to wait between two looks at it.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub poll_interval_ms: Option<u64>,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl Task {
    /// A task that begins now, kept without limit.
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
    /// The task.
    pub task_id: String,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl TaskRequestParams {
    /// Names a task.
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
    /// The task.
    pub task_id: String,
    /// The answers, under the keys of what it waits for.
    pub input_responses: InputResponses,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl UpdateTaskRequestParams {
    /// Answers a task.
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
