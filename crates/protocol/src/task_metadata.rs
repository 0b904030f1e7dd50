//! Task metadata in messages of 2025-11-25: a task is requested, or the message belongs to one.

use serde::{Deserialize, Serialize};

use crate::{json, setter::setters};

/// A request for a task in the params of a request. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// How many milliseconds the requester would like the task to be kept.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl: Option<u64>,
}

impl TaskMetadata {
    /// Requests a task that is kept for as long as the receiver likes.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl TaskMetadata {
        fn with_ttl(ttl: u64);
    }
}

/// The task that a message belongs to, in `_meta`. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RelatedTask {
    /// The id of the task.
    pub task_id: String,
}

impl RelatedTask {
    /// Refers to a task by its id.
    pub fn new(id: impl Into<String>) -> Self {
        Self { task_id: id.into() }
    }
}
