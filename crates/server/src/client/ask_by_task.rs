//! Asking a client with tasks of the client, in sessions of 2025-11-25.
//!
//! The client answers at once that it has made a task of the question, and the server fetches the
//! result when it is ready. So a question that takes a person hours does not keep a request open
//! for hours.

use std::sync::Arc;

use serde_json::value::RawValue;
use turnbuckle_protocol::{InputRequest, LegacyCreateTaskResult, TaskMetadata, TaskRequestParams};

use super::{
    peer::Peer,
    requests::{ClientAnswer, OnProgress},
};

/// How long the client is asked to keep the result, in milliseconds.
const KEEP_MS: u64 = 3_600_000;

/// Asks the client a question, as a task if the client supports that. `None` if the client
/// disconnected.
///
/// # Cancel safety
/// Dropping the future tells the client that the answer is no longer needed.
pub(crate) async fn request(
    peer: &Arc<Peer>,
    question: &InputRequest,
    progress: Option<OnProgress>,
) -> Option<ClientAnswer> {
    if !takes_tasks(peer, question) {
        return peer.request(question, progress).await;
    }
    let mut question = question.clone();
    question.set_task(TaskMetadata::new().with_ttl(KEEP_MS));
    let answered = peer.request(&question, None).await?;
    let Some(task) = answered.as_ref().ok().and_then(|raw| created(raw)) else {
        return Some(answered);
    };
    let mut cancel = CancelTask(Some((Arc::clone(peer), task)));
    let params = cancel.0.as_ref().map(|(_, task)| task.clone())?;
    // tasks: the client answers `tasks/result` when the task has ended.
    let answered = peer.ask("tasks/result", &params).await;
    cancel.0 = None;
    answered
}

/// Whether the client declared that it accepts this question as a task.
fn takes_tasks(peer: &Peer, question: &InputRequest) -> bool {
    let client = peer.client().unwrap_or_default();
    let requests = client.capabilities.tasks.and_then(|tasks| tasks.requests);
    requests.is_some_and(|requests| match question {
        InputRequest::CreateMessage(_) => requests
            .sampling
            .is_some_and(|sampling| sampling.create_message.is_some()),
        InputRequest::Elicit(_) => requests
            .elicitation
            .is_some_and(|elicitation| elicitation.create.is_some()),
        _ => false,
    })
}

/// Reads the task that the client created for the question; `None` if the answer is not a task.
fn created(answer: &RawValue) -> Option<TaskRequestParams> {
    let created: LegacyCreateTaskResult = serde_json::from_str(answer.get()).ok()?;
    Some(TaskRequestParams::new(created.task.task_id))
}

/// Cancels a task of the client when it is dropped.
struct CancelTask(Option<(Arc<Peer>, TaskRequestParams)>);

impl Drop for CancelTask {
    fn drop(&mut self) {
        if let Some((peer, task)) = self.0.take() {
            peer.ask_and_forget("tasks/cancel", &task);
        }
    }
}
