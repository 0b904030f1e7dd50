//! What the methods of tasks have in common: who may call them, and how they are answered.

use std::{
    borrow::Cow,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures_core::future::BoxFuture;
use serde::Serialize;
use turnbuckle_protocol::{
    Complete, EmptyResult, IdRef, Revision, TASKS_EXTENSION, envelope,
    method::{Direction, available},
};

use super::{
    Answering, RunningTasks, TaskRunner, tasks_cancel, tasks_get, tasks_list, tasks_result,
    tasks_update, undeclared,
};
use crate::{
    Fault, Reject,
    engine::{Incoming, Responder, Response, Sink, Wrote, answer},
};

/// Leads a request about tasks to where they run, if there are any here.
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

/// Where tasks run, if a method of theirs may be called.
///
/// # Errors
/// If there are no tasks here, the revision has no such method, or the client does not declare
/// that it knows tasks.
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

/// Serves a method of tasks that may be called.
pub(super) fn route(
    tasks: Arc<RunningTasks>,
    responder: &Arc<Responder>,
    incoming: &Incoming<'_>,
) -> Result<Answering, Reject> {
    match incoming.method {
        "tasks/get" => tasks_get::serve(tasks, responder, incoming),
        "tasks/update" => tasks_update::serve(tasks, incoming),
        "tasks/cancel" => tasks_cancel::serve(tasks, incoming),
        "tasks/result" => tasks_result::serve(tasks, incoming),
        "tasks/list" => tasks_list::serve(tasks, incoming),
        method => Err(Reject::method_not_found(method)),
    }
}

/// The task that a request names.
pub(super) fn named(incoming: &Incoming<'_>) -> Result<String, Reject> {
    incoming.text("taskId").map(Cow::into_owned)
}

/// Answers with the result of a future. Most stores have it at once: then nothing waits.
pub(super) fn answer<T: Serialize>(
    incoming: &Incoming<'_>,
    result: impl Future<Output = Result<T, Reject>> + Send + 'static,
) -> Answering {
    let (revision, id) = (incoming.revision, incoming.id.clone().into_static());
    let mut answer: BoxFuture<'static, Response> =
        Box::pin(async move { respond(revision, &id, result.await) });
    let mut context = Context::from_waker(Waker::noop());
    match answer.as_mut().poll(&mut context) {
        Poll::Pending => Answering::Later(answer),
        Poll::Ready(response) => Answering::Now(response),
    }
}

/// A response with this result.
fn respond<T: Serialize>(
    revision: Revision,
    id: &IdRef<'_>,
    result: Result<T, Reject>,
) -> Response {
    let mut response = Response::default();
    response.put(|out| {
        let written = result.and_then(|result| {
            envelope::write_result(out, id, |out| serde_json::to_writer(out, &result))
                .map_err(|error| Fault::new(error).into_reject())
        });
        match written {
            Ok(()) => Wrote::Result,
            Err(reject) => answer::write_reject(revision, id, reject, out),
        }
    });
    response
}

/// tasks: `tasks/update` and `tasks/cancel` MUST be answered with nothing but the type. There are
/// clients that take an answer with more in it, be it who the server is, for another method's.
pub(super) fn done() -> Complete<EmptyResult> {
    Complete(EmptyResult::default())
}
