//! `tasks/list`: the tasks of a caller. Only in 2025-11-25.

use std::{borrow::Cow, sync::Arc};

use turnbuckle_base::wall_clock;

use super::{Answering, RunningTasks, method};
use crate::{Reject, engine::Incoming};

pub(super) fn serve(
    tasks: Arc<RunningTasks>,
    incoming: &Incoming<'_>,
) -> Result<Answering, Reject> {
    // tasks: servers that cannot identify requestors SHOULD NOT offer this method.
    if !incoming.caller().is_identified() {
        return Err(Reject::method_not_found("tasks/list"));
    }
    let cursor = incoming.cursor()?.map(Cow::into_owned);
    let peer = Arc::clone(incoming.peer);
    Ok(method::answer(incoming, async move {
        let (caller, now) = (peer.caller(), wall_clock::now());
        let page = tasks.list(caller, cursor.as_deref(), now).await?;
        Ok(super::legacy_page(&page))
    }))
}
