//! Polls a task, in the revisions that have tasks.

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    Complete, DetailedTask, ErrorObject, InputRequests, InputResponses, LegacyTask, Lower as _,
    Task, TaskState, TaskStatus,
};

use super::TaskTicket;
use crate::{
    connection::Connection,
    error::CallError,
    link::{in_span, span},
};

/// How often in a row a poll may fail before the error is returned. With the usual interval this takes
/// some seconds, in which a restarted server is back.
const MAX_FAILURES: u32 = 5;

/// The result of one poll of a task.
pub(crate) struct Look {
    pub(crate) task: Task,
    pub(crate) state: LookState,
}

/// The data of the status.
pub(crate) enum LookState {
    /// The task is still running.
    Waiting,
    /// The task asks these questions.
    Asks(InputRequests),
    /// The result, as its call would have returned it.
    Done(Box<RawValue>),
    /// The error, as its call would have returned it.
    Failed(ErrorObject),
    /// The task was cancelled.
    Cancelled,
    /// The result or question must be fetched with `tasks/result`, in sessions.
    Fetch,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskParams<'a> {
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_responses: Option<&'a InputResponses>,
}

/// Sends a request about a task.
///
/// Boxed, because it is a part of the call that became the task.
pub(super) fn ask<'a>(
    connection: &'a Connection,
    method: &'static str,
    task_id: &'a str,
    input_responses: Option<&'a InputResponses>,
) -> BoxFuture<'a, Result<Box<RawValue>, CallError>> {
    let link = connection.link();
    let asked = async move {
        let params = TaskParams {
            task_id,
            input_responses,
        };
        link.ask(method, &params).await
    };
    if turnbuckle_telemetry::are_spans_wanted() {
        return Box::pin(in_span(span(link.revision(), method, ""), asked));
    }
    Box::pin(asked)
}

/// Cancels a task.
pub(crate) async fn cancel(connection: &Connection, task_id: &str) -> Result<(), CallError> {
    ask(connection, "tasks/cancel", task_id, None)
        .await
        .map(drop)
}

/// Polls a task once.
pub(crate) async fn look(
    connection: &Connection,
    ticket: &mut TaskTicket,
) -> Result<Look, CallError> {
    let method = "tasks/get";
    let raw = ask(connection, method, &ticket.task_id, None).await?;
    let look = if connection.server().revision().is_modern() {
        let Complete(task): Complete<DetailedTask> = read(connection, method, &raw)?;
        modern(task)
    } else {
        let task: LegacyTask = read(connection, method, &raw)?;
        legacy(task.into())
    };
    if let Some(interval) = look.task.poll_interval_ms {
        ticket.poll_interval_ms = Some(interval);
    }
    Ok(look)
}

/// Polls a task, and polls again after a temporary error.
pub(super) async fn look_patiently(
    connection: &Connection,
    ticket: &mut TaskTicket,
) -> Result<Look, CallError> {
    let mut failures = 0;
    loop {
        match look(connection, ticket).await {
            Err(error) if error.is_passing() && !connection.link().is_closed() => {
                failures += 1;
                if failures == MAX_FAILURES {
                    return Err(error);
                }
            }
            looked => return looked,
        }
        tokio::time::sleep(ticket.poll_interval()).await;
    }
}

fn modern(task: DetailedTask) -> Look {
    let summary = task.summary();
    let state = match task.state {
        TaskState::InputRequired(asked) => LookState::Asks(asked),
        TaskState::Completed(result) => LookState::Done(result),
        TaskState::Failed(error) => LookState::Failed(error),
        TaskState::Cancelled => LookState::Cancelled,
        // An unknown state does not end the task.
        _ => LookState::Waiting,
    };
    Look {
        task: summary,
        state,
    }
}

fn legacy(task: Task) -> Look {
    let state = match task.status {
        TaskStatus::Cancelled => LookState::Cancelled,
        // tasks: the requestor SHOULD call `tasks/result`, to receive the questions or the result.
        TaskStatus::InputRequired | TaskStatus::Completed | TaskStatus::Failed => LookState::Fetch,
        _ => LookState::Waiting,
    };
    Look { task, state }
}

/// Sends answers to the questions of a modern task.
pub(crate) async fn update(
    connection: &Connection,
    ticket: &mut TaskTicket,
    mut responses: InputResponses,
) -> Result<(), CallError> {
    for response in responses.values_mut() {
        response.lower(connection.server().revision());
    }
    ask(
        connection,
        "tasks/update",
        &ticket.task_id,
        Some(&responses),
    )
    .await?;
    ticket.answered.extend(responses.into_keys());
    Ok(())
}

fn read<'a, T: Deserialize<'a>>(
    connection: &Connection,
    method: &str,
    raw: &'a RawValue,
) -> Result<T, CallError> {
    serde_json::from_str(raw.get())
        .map_err(|source| CallError::malformed(connection.link().server().clone(), method, source))
}
