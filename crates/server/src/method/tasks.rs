//! What the methods of tasks have in common: who may call them, and how they are answered.

use std::{
    borrow::Cow,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use serde::Serialize;
use turnbuckle_protocol::{
    Complete, EmptyResult, IdRef, Revision, envelope,
    method::{Direction, available},
};

use super::{Incoming, tasks_cancel, tasks_get, tasks_list, tasks_result, tasks_update};
use crate::{
    Reject, answer,
    exchange::Step,
    handler::BoxFuture,
    sink::{Response, Sink, Wrote},
    task::{self, Answering, Room, Workshop},
};

/// Leads a request about tasks to where they are.
pub(super) fn route(method: &str, incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let answering = admit(&incoming, method).and_then(|room| room.serve(method, &incoming));
    match answering {
        Ok(answering) => answering.step(out),
        Err(reject) => incoming.refuse(reject, out),
    }
}

/// Where tasks run, if a method of theirs may be called.
///
/// # Errors
/// If there are no tasks here, the revision has no such method, or the client does not declare
/// that it knows tasks.
fn admit(incoming: &Incoming<'_>, method: &str) -> Result<Arc<dyn Room>, Reject> {
    let is_known = available(method, incoming.revision, Direction::ToServer);
    let room = incoming.shared.task_room().filter(|_| is_known);
    let room = room.ok_or_else(|| Reject::method_not_found(method))?;
    if incoming.revision.is_modern() && !task::declares_tasks(incoming) {
        return Err(task::undeclared());
    }
    Ok(room)
}

/// Serves a method of tasks that may be called.
pub(crate) fn serve(
    workshop: Arc<Workshop>,
    method: &str,
    incoming: &Incoming<'_>,
) -> Result<Answering, Reject> {
    match method {
        "tasks/get" => tasks_get::serve(workshop, incoming),
        "tasks/update" => tasks_update::serve(workshop, incoming),
        "tasks/cancel" => tasks_cancel::serve(workshop, incoming),
        "tasks/result" => tasks_result::serve(workshop, incoming),
        "tasks/list" => tasks_list::serve(workshop, incoming),
        _ => Err(Reject::method_not_found(method)),
    }
}

/// The task that a request names.
pub(super) fn named(incoming: &Incoming<'_>) -> Result<String, Reject> {
    incoming.text("taskId").map(Cow::into_owned)
}

/// Answers with what comes of a future. Most stores have it at once: then nothing waits.
pub(super) fn soon(mut answer: BoxFuture<Response>) -> Answering {
    let mut context = Context::from_waker(Waker::noop());
    match Pin::new(&mut answer).poll(&mut context) {
        Poll::Pending => Answering::Later(answer),
        Poll::Ready(response) => Answering::Now(response),
    }
}

/// A response with this result.
pub(super) fn respond<T: Serialize>(
    revision: Revision,
    id: &IdRef<'_>,
    result: Result<T, Reject>,
) -> Response {
    let mut response = Response::default();
    response.put(|out| {
        let written = result.and_then(|result| {
            envelope::write_result(out, id, |out| serde_json::to_writer(out, &result))
                .map_err(|error| crate::Fault::new(error).into_reject())
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
