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
            // The tasks extension: answers that come too late are ignored.
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

/// Returns the answers that match open questions. The tasks extension: other answers are ignored.
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
