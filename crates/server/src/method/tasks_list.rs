//! `tasks/list`: the tasks of a caller. Only in 2025-11-25.

use std::{sync::Arc, time::SystemTime};

use super::{Incoming, tasks};
use crate::{
    Reject,
    task::{self, Answering, Workshop},
};

pub(super) fn serve(workshop: Arc<Workshop>, incoming: &Incoming<'_>) -> Result<Answering, Reject> {
    // tasks: who cannot tell callers apart SHOULD NOT list.
    if !task::is_identified(incoming.peer.caller()) {
        return Err(Reject::method_not_found("tasks/list"));
    }
    let cursor = match incoming.params.get("cursor") {
        None => None,
        Some(raw) if raw.get() == "null" => None,
        Some(_) => Some(incoming.text("cursor")?.into_owned()),
    };
    let peer = Arc::clone(incoming.peer);
    let (revision, id) = (incoming.revision, incoming.id.clone().into_static());
    let answer = Box::pin(async move {
        let page = workshop
            .list(peer.caller(), cursor.as_deref(), SystemTime::now())
            .await;
        let page = page.map(|page| task::legacy_page(&page));
        tasks::respond(revision, &id, page)
    });
    Ok(tasks::soon(answer))
}
