//! The form of tasks for clients, in each revision.

use serde_json::value::RawValue;
use turnbuckle_protocol::{
    CallToolOutcome, CallToolResult, DetailedTask, LegacyCreateTaskResult, LegacyListTasksResult,
    LegacyTask, Lower as _, Meta, RelatedTask, Revision, Task, TaskState, TaskStatus,
};
use turnbuckle_store::task::{TaskPage, TaskRecord};

use crate::engine::Responder;

/// Appends the answer to a call that became a task.
pub(super) fn created(
    responder: &Responder,
    revision: Revision,
    record: &TaskRecord,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let mut task = record.task.summary();
    if revision.is_modern() {
        task.lower(revision);
        task.meta = Some(Meta::new().with_server_info(&responder.info));
        return serde_json::to_writer(out, &CallToolOutcome::Task(task));
    }
    serde_json::to_writer(out, &LegacyCreateTaskResult::from(task))
}

/// Makes the task with its questions or its result, for modern clients.
pub(crate) fn detailed(record: &TaskRecord, revision: Revision) -> DetailedTask {
    let mut task = record.task.clone();
    if let TaskState::Completed(result) = &task.state
        && let Some(typed) = typed(result)
    {
        task.state = TaskState::Completed(typed);
    }
    task.lower(revision);
    task
}

/// Adds the type to a result, as the call itself would have returned it.
fn typed(result: &RawValue) -> Option<Box<RawValue>> {
    let members = result.get().strip_suffix('}')?.trim_end();
    let comma = if members.ends_with('{') { "" } else { "," };
    RawValue::from_string(format!("{members}{comma}\"resultType\":\"complete\"}}")).ok()
}

/// Makes the task in the form of sessions.
pub(crate) fn legacy(record: &TaskRecord) -> LegacyTask {
    let mut task: Task = record.task.summary();
    // tasks: in 2025-11-25 a result with `isError` is a failure of the task.
    if record.is_error && task.status == TaskStatus::Completed {
        task.status = TaskStatus::Failed;
    }
    task.into()
}

/// Makes a page of tasks in the form of sessions.
pub(crate) fn legacy_page(page: &TaskPage) -> LegacyListTasksResult {
    let tasks = page.tasks.iter().map(|record| legacy(record));
    let mut listed = LegacyListTasksResult::new(tasks.collect());
    listed.next_cursor = page.next.clone().map(Into::into);
    listed
}

/// Makes the result of a task as its call would have returned it, with the id of the task.
pub(super) fn result(
    record: &TaskRecord,
    text: &RawValue,
    revision: Revision,
) -> Result<CallToolResult, serde_json::Error> {
    let mut result: CallToolResult = serde_json::from_str(text.get())?;
    let task = RelatedTask::new(record.task.task_id.as_str());
    let meta = result.meta.take().unwrap_or_default();
    result.meta = Some(meta.with_related_task(&task));
    result.lower(revision);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: Z2
    #[test]
    fn a_result_is_typed_whatever_is_in_it() {
        for (plain, expected) in [
            ("{}", r#"{"resultType":"complete"}"#),
            (
                r#"{"content":[]}"#,
                r#"{"content":[],"resultType":"complete"}"#,
            ),
            ("{ }", r#"{"resultType":"complete"}"#),
        ] {
            let plain = RawValue::from_string(plain.to_owned()).unwrap();
            assert_eq!(typed(&plain).unwrap().get(), expected);
        }
    }
}
