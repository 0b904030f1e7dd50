//! `tasks/cancel`: cancels a task.

use std::sync::Arc;

use serde::Serialize;
use turnbuckle_protocol::{Complete, EmptyResult, LegacyTask, Revision};
use turnbuckle_store::task::{Changed, TaskChange, TaskEnd};

use super::{Answering, RunningTasks, method};
use crate::{Reject, engine::Incoming};

pub(super) fn serve(
    tasks: Arc<RunningTasks>,
    incoming: &Incoming<'_>,
) -> Result<Answering, Reject> {
    let task = method::named(incoming)?;
    let (peer, revision) = (Arc::clone(incoming.peer), incoming.revision);
    Ok(method::answer(incoming, async move {
        let end = TaskChange::End(TaskEnd::Cancelled {
            reason: Some("cancelled on request".into()),
        });
        // tasks: in 2025-11-25 the task MUST be cancelled before this is answered.
        let changed = tasks.change(peer.caller(), &task, end).await?;
        seen(revision, &task, &changed)
    }))
}

#[derive(Serialize)]
#[serde(untagged)]
enum SeenCancel {
    Legacy(LegacyTask),
    Modern(Complete<EmptyResult>),
}

fn seen(revision: Revision, task: &str, changed: &Changed) -> Result<SeenCancel, Reject> {
    match changed {
        Changed::Unknown => Err(super::unknown(task)),
        // The tasks extension: a client that cancels need not know whether the task has ended in
        // the meantime.
        Changed::Now(_) | Changed::Over(_) if revision.is_modern() => {
            Ok(SeenCancel::Modern(method::done()))
        }
        Changed::Now(record) => Ok(SeenCancel::Legacy(super::legacy(record))),
        // tasks: in 2025-11-25 a terminal task MUST NOT be cancelled.
        Changed::Over(_) => Err(Reject::invalid_params("the task has ended already")),
    }
}
