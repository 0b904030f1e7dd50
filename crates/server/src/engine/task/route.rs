//! The router for the methods of tasks.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{
    TASKS_EXTENSION,
    method::{Direction, available},
};

use super::{TaskRunner, undeclared};
use crate::{
    Reject,
    engine::{Incoming, Responder, Response, Sink},
};

/// Passes a request about tasks to the task runner, if there is one.
pub(crate) fn serve(
    runner: Option<Arc<dyn TaskRunner>>,
    responder: &Arc<Responder>,
    incoming: &Incoming<'_>,
    out: &mut impl Sink,
) -> Option<BoxFuture<'static, Response>> {
    let answering = admit(runner, incoming).and_then(|runner| runner.serve(responder, incoming));
    match answering {
        Ok(answering) => answering.put(out),
        Err(reject) => {
            incoming.refuse(reject, out);
            None
        }
    }
}

/// Returns the task runner if a method of tasks may be called.
///
/// # Errors
/// If there are no tasks, the revision has no such method, or the client does not declare that it
/// supports tasks.
fn admit(
    runner: Option<Arc<dyn TaskRunner>>,
    incoming: &Incoming<'_>,
) -> Result<Arc<dyn TaskRunner>, Reject> {
    let (method, revision) = (incoming.method, incoming.revision);
    let is_known = available(method, revision, Direction::ToServer);
    let runner = runner.filter(|_| is_known);
    let runner = runner.ok_or_else(|| Reject::method_not_found(method))?;
    if revision.is_modern() && !incoming.declares(TASKS_EXTENSION) {
        return Err(undeclared());
    }
    Ok(runner)
}
