//! `tasks/list`: the tasks of a caller. Only in 2025-11-25.

use std::{borrow::Cow, sync::Arc, time::SystemTime};

use super::{Answering, RunningTasks, method};
use crate::{Reject, engine::Incoming};

pub(super) fn serve(
    tasks: Arc<RunningTasks>,
    incoming: &Incoming<'_>,
) -> Result<Answering, Reject> {
    // tasks: who cannot tell callers apart SHOULD NOT list.
    if !super::is_identified(incoming.caller()) {
        return Err(Reject::method_not_found("tasks/list"));
    }
    let cursor = incoming.cursor()?.map(Cow::into_owned);
    let peer = Arc::clone(incoming.peer);
    let (revision, id) = (incoming.revision, incoming.id.clone().into_static());
    let answer = Box::pin(async move {
        let page = tasks
            .list(peer.caller(), cursor.as_deref(), SystemTime::now())
            .await;
        let page = page.map(|page| super::legacy_page(&page));
        method::respond(revision, &id, page)
    });
    Ok(method::soon(answer))
}
