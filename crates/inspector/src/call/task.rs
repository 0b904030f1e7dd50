//! Exchanges that became tasks: polls them until they are done, with the methods of the revision
//! in use.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use turnbuckle::Connection;
use turnbuckle_command_line::argument::Tree;

use super::{
    job::Job,
    round::{self, AnswersByKey, Asked},
};
use crate::{
    exchange::Progress,
    problem::{Problem, Who},
    raw::Raw,
};

/// The poll interval for servers that do not set one.
const POLL: Duration = Duration::from_secs(1);

/// The limits of the poll interval that a server may set, in milliseconds.
const FASTEST: u64 = 50;
const SLOWEST: u64 = 30_000;

/// A task in the form of either revision.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Task {
    task_id: String,
    status: String,
    status_message: Option<String>,
    poll_interval: Option<u64>,
    poll_interval_ms: Option<u64>,
    input_requests: Option<Asked>,
    result: Option<Box<RawValue>>,
    error: Option<TaskError>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TaskError {
    code: i64,
    message: String,
}

/// The members of a result that is a task.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Begun {
    result_type: Option<String>,
    task: Option<Task>,
}

/// Whether a result is a new task.
pub(super) fn is_begun(result: &RawValue) -> bool {
    begun(result).is_some()
}

fn begun(result: &RawValue) -> Option<Task> {
    let begun: Begun = serde_json::from_str(result.get()).ok()?;
    if let Some(task) = begun.task.filter(|task| !task.task_id.is_empty()) {
        return Some(task);
    }
    if begun.result_type.as_deref() != Some("task") {
        return None;
    }
    let task: Task = serde_json::from_str(result.get()).ok()?;
    (!task.task_id.is_empty()).then_some(task)
}

/// Polls a task until it is done; returns the result of the original request.
pub(super) async fn follow(job: &Job, result: Box<RawValue>) -> Result<Box<RawValue>, Problem> {
    let Some(mut task) = begun(&result) else {
        return Ok(result);
    };
    let id = task.task_id.clone();
    let seen = task_of(&result);
    job.inspector.change(job.n, |exchange| {
        exchange.task_id = Some(id.clone());
        exchange.task = seen;
    });
    let is_modern = job.connection.server().revision().is_modern();
    let mut round = 1;
    loop {
        match task.status.as_str() {
            "cancelled" => return Err(Problem::new(Who::Protocol, "the task was cancelled")),
            "failed" if is_modern => return Err(failed(task)),
            "completed" if is_modern => return task.result.ok_or_else(unreadable),
            "input_required" if is_modern => {
                let asked = task.input_requests.take().unwrap_or_default();
                if !asked.is_empty() {
                    let answered = round::answers(job, asked, round, None).await?;
                    update(job, &id, &answered).await?;
                    round += 1;
                    job.is_in_round(round);
                }
            }
            // tasks: in sessions, `tasks/result` delivers the task's questions and waits for the result.
            "input_required" | "completed" | "failed" => {
                return job.send("tasks/result", Some(named(&id))).await;
            }
            _ => {}
        }
        tokio::time::sleep(pause(&task)).await;
        task = look(job, &id).await?;
    }
}

async fn look(job: &Job, id: &str) -> Result<Task, Problem> {
    let raw = job.send("tasks/get", Some(named(id))).await?;
    let task: Task = serde_json::from_str(raw.get()).map_err(|_| unreadable())?;
    let seen = task_of(&raw);
    let message = task.status_message.clone();
    job.inspector.change(job.n, |exchange| {
        exchange.task = seen;
        if let Some(message) = message {
            let progress = exchange.progress.get_or_insert(Progress {
                progress: 0.0,
                total: None,
                message: None,
            });
            progress.message = Some(message);
        }
    });
    Ok(task)
}

/// The data of a task without its result, which the exchange contains itself.
fn task_of(result: &RawValue) -> Option<Raw> {
    let Ok(Tree::Object(mut members)) = Tree::parse(result.get()) else {
        return None;
    };
    if let Some(at) = members.iter().position(|(name, _)| name == "task") {
        return Some(Raw::from(
            RawValue::from_string(members.swap_remove(at).1.to_json()).ok()?,
        ));
    }
    members.retain(|(name, _)| !matches!(name.as_str(), "result" | "inputRequests" | "_meta"));
    let text = Tree::Object(members).to_json();
    Some(Raw::from(RawValue::from_string(text).ok()?))
}

/// Cancels the task at the server; the server's answer is shown among the messages.
pub(super) async fn cancel(connection: Connection, id: String) {
    let request = connection.request_raw("tasks/cancel", Some(named(&id)));
    if let Err(error) = request.await {
        tracing::debug!(%error, "could not cancel a task");
    }
}

async fn update(job: &Job, id: &str, answered: &AnswersByKey) -> Result<(), Problem> {
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        task_id: &'a str,
        input_responses: &'a AnswersByKey,
    }
    let params = Raw::of(&Params {
        task_id: id,
        input_responses: answered,
    });
    job.send("tasks/update", Some(params.to_box()))
        .await
        .map(drop)
}

fn named(id: &str) -> Box<RawValue> {
    Raw::of(&serde_json::json!({ "taskId": id })).to_box()
}

fn pause(task: &Task) -> Duration {
    let wanted = task.poll_interval_ms.or(task.poll_interval);
    wanted.map_or(POLL, |ms| Duration::from_millis(ms.clamp(FASTEST, SLOWEST)))
}

fn failed(task: Task) -> Problem {
    let failure = task.error.unwrap_or_default();
    Problem {
        code: Some(failure.code),
        ..Problem::new(Who::Protocol, failure.message)
    }
}

fn unreadable() -> Problem {
    Problem::new(
        Who::Protocol,
        "the server's answer about the task cannot be read",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_task(json: &str) -> bool {
        is_begun(&RawValue::from_string(json.to_owned()).unwrap())
    }

    #[test]
    fn tasks_of_both_revisions_are_known() {
        assert!(is_task(r#"{"task":{"taskId":"t","status":"working"}}"#));
        assert!(is_task(
            r#"{"resultType":"task","taskId":"t","status":"working"}"#
        ));
        assert!(!is_task(r#"{"content":[],"resultType":"complete"}"#));
        assert!(!is_task(r#"{"task":7}"#));
    }

    #[test]
    fn what_is_kept_of_a_task_is_its_head() {
        let of = |json: &str| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            task_of(&raw).map(|task| task.text().to_owned())
        };
        let legacy = r#"{"task":{"taskId":"t","ttl":60000}}"#;
        assert_eq!(of(legacy).as_deref(), Some(r#"{"taskId":"t","ttl":60000}"#));
        let modern = r#"{"taskId":"t","status":"completed","ttlMs":9,"result":{"content":[]}}"#;
        assert_eq!(
            of(modern).as_deref(),
            Some(r#"{"taskId":"t","status":"completed","ttlMs":9}"#)
        );
    }
}
