//! `tasks/list`: the tasks of a caller. Only in 2025-11-25.

use std::{sync::Arc, time::SystemTime};

use super::{Incoming, tasks};
use crate::{Reject, exchange::Step, sink::Sink, task};

pub(super) fn serve(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let method = "tasks/list";
    let cursor = tasks::admit(&incoming, method).and_then(|()| {
        // tasks: who cannot tell callers apart SHOULD NOT list.
        if !task::is_identified(incoming.peer.caller()) {
            return Err(Reject::method_not_found(method));
        }
        match incoming.params.get("cursor") {
            None => Ok(None),
            Some(raw) if raw.get() == "null" => Ok(None),
            Some(_) => incoming
                .text("cursor")
                .map(|cursor| Some(cursor.into_owned())),
        }
    });
    let cursor = match cursor {
        Ok(cursor) => cursor,
        Err(reject) => return incoming.refuse(reject, out),
    };
    let (shared, peer) = (Arc::clone(incoming.shared), Arc::clone(incoming.peer));
    let (revision, id) = (incoming.revision, incoming.id.into_static());
    let answer = Box::pin(async move {
        let page = shared
            .workshop
            .list(peer.caller(), cursor.as_deref(), SystemTime::now())
            .await;
        let page = page.map(|page| task::legacy_page(&page));
        tasks::respond(revision, &id, page)
    });
    tasks::soon(answer, out)
}
