//! `tasks/get`: how a task stands.

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
    let (revision, id) = (incoming.revision, incoming.id.clone().into_static());
    let answer = Box::pin(async move {
        let found = tasks.find(peer.caller(), &task).await;
        let found = found.and_then(|found| found.ok_or_else(|| super::unknown(&task)));
        let seen = found.map(|record| {
            if !revision.is_modern() {
                return SeenTask::Legacy(super::legacy(&record));
            }
            let mut detailed = super::detailed(&record);
            detailed.meta = Some(Meta::new().with_server_info(&responder.info));
            SeenTask::Modern(Complete(detailed))
        });
        method::respond(revision, &id, seen)
    });
    Ok(method::soon(answer))
}

#[derive(Serialize)]
#[serde(untagged)]
enum SeenTask {
    Legacy(LegacyTask),
    Modern(Complete<DetailedTask>),
}
