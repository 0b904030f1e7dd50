//! `tasks/update`: the client answers the questions of a task.

use std::sync::Arc;

use turnbuckle_session::round;
use turnbuckle_store::task::{Answers, Changed, TaskChange, TaskRecord};

use super::{Answering, RunningTasks, method};
use crate::{Reject, engine::Incoming};

pub(super) fn serve(
    tasks: Arc<RunningTasks>,
    incoming: &Incoming<'_>,
) -> Result<Answering, Reject> {
    let task = method::named(incoming)?;
    let responses = responses(incoming)?;
    let peer = Arc::clone(incoming.peer);
    Ok(method::answer(incoming, async move {
        let found = tasks.find(peer.caller(), &task).await?;
        let record = found.ok_or_else(|| super::unknown(&task))?;
        let change = TaskChange::Answer(fitting(&record, responses)?);
        match tasks.change(peer.caller(), &task, change).await? {
            Changed::Unknown => Err(super::unknown(&task)),
            // The extension: answers that come too late are passed over.
            Changed::Now(_) | Changed::Over(_) => Ok(method::done()),
        }
    }))
}

fn responses(incoming: &Incoming<'_>) -> Result<Answers, Reject> {
    let responses = incoming.params.get("inputResponses");
    responses
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .ok_or_else(|| Reject::invalid_params("`params.inputResponses` must be an object"))
}

/// The answers to what is open, if they fit. The extension: the others are passed over.
fn fitting(record: &TaskRecord, responses: Answers) -> Result<Answers, Reject> {
    let mut answers = Answers::new();
    for (key, answer) in responses {
        let Some(question) = record.open().and_then(|open| open.get(&key)) else {
            continue;
        };
        round::check_answer(&key, question, &answer).map_err(|bad| Reject::of(bad.to_error()))?;
        answers.insert(key, answer);
    }
    Ok(answers)
}
