//! A task with its questions or its result.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

use super::{Task, TaskStatus};
use crate::{ErrorObject, InputRequests, Meta, OtherMembers, json, setter::setters};

/// The status of a task with the members that belong to it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TaskState {
    /// The task is running.
    Working,
    /// The task waits for the answers to these questions.
    InputRequired(InputRequests),
    /// The result of the task's request, as JSON text.
    Completed(Box<RawValue>),
    /// The error of the task's request.
    Failed(ErrorObject),
    /// The task was cancelled.
    Cancelled,
    /// An unknown status, as its text. The task has not ended.
    Other(Box<str>),
}

impl TaskState {
    /// Returns the status without its members.
    pub fn status(&self) -> TaskStatus {
        match self {
            Self::Working => TaskStatus::Working,
            Self::InputRequired(_) => TaskStatus::InputRequired,
            Self::Completed(_) => TaskStatus::Completed,
            Self::Failed(_) => TaskStatus::Failed,
            Self::Cancelled => TaskStatus::Cancelled,
            Self::Other(status) => TaskStatus::Other(status.clone()),
        }
    }
}

impl PartialEq for TaskState {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::InputRequired(left), Self::InputRequired(right)) => left == right,
            (Self::Completed(left), Self::Completed(right)) => json::is_same(left, right),
            (Self::Failed(left), Self::Failed(right)) => left == right,
            (left, right) => left.status() == right.status(),
        }
    }
}

/// A task with its questions, its result or its error: the answer to `tasks/get`, and the params of
/// `notifications/tasks`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DetailedTask {
    /// The id of the task.
    pub task_id: String,
    /// The status of the task.
    pub state: TaskState,
    /// A message for the user about the status.
    pub status_message: Option<String>,
    /// When the task was created, as an ISO 8601 time.
    pub created_at: String,
    /// When the task was last updated, as an ISO 8601 time.
    pub last_updated_at: String,
    /// How many milliseconds after its creation the task is kept; `None` means without limit.
    pub ttl_ms: Option<u64>,
    /// How many milliseconds to wait between two polls.
    pub poll_interval_ms: Option<u64>,
    /// Metadata that the sender attached (`_meta`).
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    pub other: OtherMembers,
}

impl DetailedTask {
    /// Creates a task with the details of its status.
    pub fn new(task: Task, state: TaskState) -> Self {
        Self {
            task_id: task.task_id,
            state,
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl_ms: task.ttl_ms,
            poll_interval_ms: task.poll_interval_ms,
            meta: task.meta,
            other: task.other,
        }
    }

    /// Returns the task without the details of its status.
    pub fn summary(&self) -> Task {
        Task {
            task_id: self.task_id.clone(),
            status: self.state.status(),
            status_message: self.status_message.clone(),
            created_at: self.created_at.clone(),
            last_updated_at: self.last_updated_at.clone(),
            ttl_ms: self.ttl_ms,
            poll_interval_ms: self.poll_interval_ms,
            meta: self.meta.clone(),
            other: self.other.clone(),
        }
    }
}

setters! {
    impl DetailedTask {
        fn with_status_message(status_message: impl Into<String>);
        fn with_ttl_ms(ttl_ms: u64);
        fn with_poll_interval_ms(poll_interval_ms: u64);
        fn with_meta(meta: Meta);
    }
}

impl Serialize for DetailedTask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Wire<'a> {
            #[serde(flatten)]
            task: Task,
            #[serde(skip_serializing_if = "Option::is_none")]
            input_requests: Option<&'a InputRequests>,
            #[serde(skip_serializing_if = "Option::is_none")]
            result: Option<&'a RawValue>,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<&'a ErrorObject>,
        }

        let mut wire = Wire {
            task: self.summary(),
            input_requests: None,
            result: None,
            error: None,
        };
        match &self.state {
            TaskState::InputRequired(requests) => wire.input_requests = Some(requests),
            TaskState::Completed(result) => wire.result = Some(result),
            TaskState::Failed(error) => wire.error = Some(error),
            TaskState::Working | TaskState::Cancelled | TaskState::Other(_) => {}
        }
        wire.serialize(serializer)
    }
}

/// All members that a task can have. Which of them apply is known only when all were read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskMembers {
    task_id: String,
    status: TaskStatus,
    status_message: Option<String>,
    created_at: String,
    last_updated_at: String,
    #[serde(default, deserialize_with = "json::millis")]
    ttl_ms: Option<u64>,
    #[serde(default, deserialize_with = "json::millis")]
    poll_interval_ms: Option<u64>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
    input_requests: Option<InputRequests>,
    result: Option<Box<RawValue>>,
    error: Option<ErrorObject>,
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    other: OtherMembers,
}

impl<'de> Deserialize<'de> for DetailedTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = TaskMembers::deserialize(deserializer)?;
        let missing = |field| move || <D::Error as de::Error>::missing_field(field);
        let state = match members.status {
            TaskStatus::Working => TaskState::Working,
            TaskStatus::InputRequired => TaskState::InputRequired(
                members
                    .input_requests
                    .ok_or_else(missing("inputRequests"))?,
            ),
            TaskStatus::Completed => {
                TaskState::Completed(members.result.ok_or_else(missing("result"))?)
            }
            TaskStatus::Failed => TaskState::Failed(members.error.ok_or_else(missing("error"))?),
            TaskStatus::Cancelled => TaskState::Cancelled,
            TaskStatus::Other(status) => TaskState::Other(status),
        };
        Ok(Self {
            task_id: members.task_id,
            state,
            status_message: members.status_message,
            created_at: members.created_at,
            last_updated_at: members.last_updated_at,
            ttl_ms: members.ttl_ms,
            poll_interval_ms: members.poll_interval_ms,
            meta: members.meta,
            other: members.other,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn wire(status: &str, more: Value) -> Value {
        let mut task = json!({
            "taskId": "t1", "status": status,
            "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:01Z",
            "ttlMs": null, "pollIntervalMs": 500,
        });
        if let (Value::Object(task), Value::Object(more)) = (&mut task, more) {
            task.extend(more);
        }
        task
    }

    #[test]
    fn every_state_comes_back_with_what_belongs_to_it() {
        for (status, more) in [
            ("working", json!({})),
            (
                "input_required",
                json!({"inputRequests": {"dirs": {"method": "roots/list"}}}),
            ),
            ("completed", json!({"result": {"content": []}})),
            (
                "failed",
                json!({"error": {"code": -32603, "message": "broken"}}),
            ),
            ("cancelled", json!({})),
        ] {
            let json = wire(status, more);
            let task: DetailedTask = serde_json::from_str(&json.to_string()).unwrap();
            assert_eq!(serde_json::to_value(&task).unwrap(), json);
        }
    }

    // rule: J16
    #[test]
    fn members_without_a_name_come_back() {
        for status in ["working", "cancelled"] {
            let json = wire(status, json!({"queue": {"place": 3}}));
            let task: DetailedTask = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(&task).unwrap(), json);
            assert_eq!(serde_json::to_value(task.summary()).unwrap(), json);
        }
        let json = wire("completed", json!({"result": {"content": []}, "queue": 7}));
        let task: DetailedTask = serde_json::from_str(&json.to_string()).unwrap();
        assert_eq!(task.other.get("queue").unwrap(), 7);
        assert_eq!(serde_json::to_value(&task).unwrap(), json);
    }

    #[test]
    fn a_finished_task_without_its_result_is_an_error() {
        for status in ["input_required", "completed", "failed"] {
            let json = wire(status, json!({})).to_string();
            assert!(
                serde_json::from_str::<DetailedTask>(&json).is_err(),
                "{status}"
            );
        }
    }
}
