//! `tasks/get`: how a task stands.

use std::sync::Arc;

use serde::Serialize;
use turnbuckle_protocol::{Complete, DetailedTask, LegacyTask, Meta};

use super::{Incoming, tasks};
use crate::{
    Reject,
    task::{self, Answering, Workshop},
};

pub(super) fn serve(workshop: Arc<Workshop>, incoming: &Incoming<'_>) -> Result<Answering, Reject> {
    let task = tasks::named(incoming)?;
    let (shared, peer) = (Arc::clone(incoming.shared), Arc::clone(incoming.peer));
    let (revision, id) = (incoming.revision, incoming.id.clone().into_static());
    let answer = Box::pin(async move {
        let found = workshop.find(peer.caller(), &task).await;
        let found = found.and_then(|found| found.ok_or_else(|| task::unknown(&task)));
        let seen = found.map(|record| {
            if !revision.is_modern() {
                return Seen::Legacy(task::legacy(&record));
            }
            let mut detailed = task::detailed(&record);
            detailed.meta = Some(Meta::new().with_server_info(&shared.info));
            Seen::Modern(Complete(detailed))
        });
        tasks::respond(revision, &id, seen)
    });
    Ok(tasks::soon(answer))
}

#[derive(Serialize)]
#[serde(untagged)]
enum Seen {
    Legacy(LegacyTask),
    Modern(Complete<DetailedTask>),
}
