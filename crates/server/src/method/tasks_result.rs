//! `tasks/result`: what a task returned, when it has. Only in 2025-11-25.

use std::sync::Arc;

use super::{Incoming, tasks};
use crate::{
    Reject,
    task::{self, Answering, Workshop},
};

pub(super) fn serve(workshop: Arc<Workshop>, incoming: &Incoming<'_>) -> Result<Answering, Reject> {
    let task = tasks::named(incoming)?;
    let peer = Arc::clone(incoming.peer);
    let (revision, id) = (incoming.revision, incoming.id.clone().into_static());
    let result = task::result(workshop, peer, revision, id, task);
    Ok(Answering::Later(Box::pin(result)))
}
