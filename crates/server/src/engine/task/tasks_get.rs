//! `tasks/get`: the status of a task.

use std::sync::Arc;

use serde::Serialize;
use turnbuckle_protocol::{Complete, DetailedTask, LegacyTask, Meta};

use super::{Answering, RunningTasks, method};
use crate::{
    Reject,
    engine::{Incoming, Responder},
};

pub(super) fn serve(
    tasks: Arc<RunningTasks>,
    responder: &Arc<Responder>,
    incoming: &Incoming<'_>,
) -> Result<Answering, Reject> {
    let task = method::named(incoming)?;
    let (responder, peer) = (Arc::clone(responder), Arc::clone(incoming.peer));
    let revision = incoming.revision;
    Ok(method::answer(incoming, async move {
        let found = tasks.find(peer.caller(), &task).await?;
        let record = found.ok_or_else(|| super::unknown(&task))?;
        if !revision.is_modern() {
            return Ok(SeenTask::Legacy(super::legacy(&record)));
        }
        let mut detailed = super::detailed(&record, revision);
        detailed.meta = Some(Meta::new().with_server_info(&responder.info));
        Ok(SeenTask::Modern(Complete(detailed)))
    }))
}

#[derive(Serialize)]
#[serde(untagged)]
enum SeenTask {
    Legacy(LegacyTask),
    Modern(Complete<DetailedTask>),
}
