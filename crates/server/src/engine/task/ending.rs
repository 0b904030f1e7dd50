//! The end of a task, with its result or error.

use serde_json::value::RawValue;
use turnbuckle_protocol::{CallToolResult, ErrorObject, Revision};
use turnbuckle_store::task::TaskEnd;

use crate::{
    Failure, Fault,
    engine::answer::{Responder, ResultOf},
};

/// How many characters of a tool's error are shown in the status of its task. The result contains
/// the whole error.
const MAX_MESSAGE_CHARS: usize = 500;

/// Makes the end of a task from the outcome of its call.
pub(super) fn of(
    responder: &Responder,
    outcome: Result<CallToolResult, Failure>,
    revision: Revision,
    tool: &ResultOf<'_>,
) -> TaskEnd {
    match responder.settle(outcome, revision, tool) {
        Ok(result) => completed(&result)
            .unwrap_or_else(|error| TaskEnd::Failed(Fault::new(error).into_reject().into_error())),
        Err(reject) => TaskEnd::Failed(reject.into_error()),
    }
}

fn completed(result: &CallToolResult) -> Result<TaskEnd, serde_json::Error> {
    let mut text = Vec::new();
    result.write(&mut text)?;
    let result_text: Box<RawValue> = serde_json::from_slice(&text)?;
    let is_error = result.is_error == Some(true);
    let said = || result.content.iter().find_map(|block| block.as_text());
    let message = is_error.then(said).flatten();
    Ok(TaskEnd::Completed {
        result: result_text,
        is_error,
        message: message.map(|text| text.chars().take(MAX_MESSAGE_CHARS).collect()),
    })
}

/// The end of a task whose result is too large for the store.
pub(super) fn too_large(bytes: usize) -> TaskEnd {
    TaskEnd::Failed(ErrorObject::internal(format!(
        "the result of {bytes} bytes is too large to be kept: ask for less at a time"
    )))
}

/// The end of a task whose server shuts down.
pub(super) fn shut_down() -> TaskEnd {
    TaskEnd::Failed(ErrorObject::internal(
        "the server was shut down before the work was done: call the tool again",
    ))
}

/// The end of a task whose changes cannot be stored.
pub(super) fn lost() -> TaskEnd {
    TaskEnd::Failed(ErrorObject::internal(
        "the task store could not be reached: call the tool again",
    ))
}

/// The end of a task that no replica can continue.
pub(super) fn unreadable() -> TaskEnd {
    TaskEnd::Failed(ErrorObject::internal(
        "the server process that ran the task has ended, and no other process can continue it: \
         call the tool again",
    ))
}
