//! `tasks/result`: waits for the result of a task. Only in 2025-11-25.

use std::sync::Arc;

use super::{Answering, RunningTasks, deliver, method};
use crate::{Reject, engine::Incoming};

pub(super) fn serve(
    tasks: Arc<RunningTasks>,
    incoming: &Incoming<'_>,
) -> Result<Answering, Reject> {
    let task = method::named(incoming)?;
    let peer = Arc::clone(incoming.peer);
    let (revision, id) = (incoming.revision, incoming.id.clone().into_static());
    let result = deliver::result(tasks, peer, revision, id, task);
    Ok(Answering::Later(Box::pin(result)))
}
