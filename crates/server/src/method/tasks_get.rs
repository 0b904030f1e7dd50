//! `tasks/get`: how a task stands.

use std::sync::Arc;

use serde::Serialize;
use turnbuckle_protocol::{Complete, DetailedTask, LegacyTask, Meta};

use super::{Incoming, tasks};
use crate::{exchange::Step, sink::Sink, task};

pub(super) fn serve(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let task = match tasks::named(&incoming, "tasks/get") {
        Ok(task) => task,
        Err(reject) => return incoming.refuse(reject, out),
    };
    let (shared, peer) = (Arc::clone(incoming.shared), Arc::clone(incoming.peer));
    let (revision, id) = (incoming.revision, incoming.id.into_static());
    let answer = Box::pin(async move {
        let found = shared.workshop.find(peer.caller(), &task).await;
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
    tasks::soon(answer, out)
}

#[derive(Serialize)]
#[serde(untagged)]
enum Seen {
    Legacy(LegacyTask),
    Modern(Complete<DetailedTask>),
}
