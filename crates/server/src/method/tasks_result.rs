//! `tasks/result`: what a task returned, when it has. Only in 2025-11-25.

use std::sync::Arc;

use super::{Incoming, tasks};
use crate::{exchange::Step, sink::Sink, task};

pub(super) fn serve(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let task = match tasks::named(&incoming, "tasks/result") {
        Ok(task) => task,
        Err(reject) => return incoming.refuse(reject, out),
    };
    let (workshop, peer) = (
        Arc::clone(&incoming.shared.workshop),
        Arc::clone(incoming.peer),
    );
    let (revision, id) = (incoming.revision, incoming.id.into_static());
    Step::Later(Box::pin(task::result(workshop, peer, revision, id, task)))
}
