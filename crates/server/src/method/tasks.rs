//! What the methods of tasks have in common: who may call them, and how they are answered.

use std::{
    borrow::Cow,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use serde::Serialize;
use turnbuckle_protocol::{
    Complete, EmptyResult, IdRef, Revision, envelope,
    method::{Direction, available},
};

use super::Incoming;
use crate::{
    Reject, answer,
    exchange::Step,
    handler::BoxFuture,
    sink::{Response, Sink, Wrote},
    task,
};

/// The task that a request names, if it may name one.
///
/// # Errors
/// If there are no tasks here, the revision has no such method, or the client does not declare
/// that it knows tasks.
pub(super) fn named(incoming: &Incoming<'_>, method: &str) -> Result<String, Reject> {
    admit(incoming, method)?;
    incoming.text("taskId").map(Cow::into_owned)
}

/// Whether a method of tasks may be called at all.
pub(super) fn admit(incoming: &Incoming<'_>, method: &str) -> Result<(), Reject> {
    let is_known = available(method, incoming.revision, Direction::ToServer);
    if !is_known || !incoming.shared.catalog().runs_tasks() {
        return Err(Reject::method_not_found(method));
    }
    if incoming.revision.is_modern() && !task::declares_tasks(incoming) {
        return Err(task::undeclared());
    }
    Ok(())
}

/// Answers with what comes of a future. Most stores have it at once: then nothing waits.
pub(super) fn soon(mut answer: BoxFuture<Response>, out: &mut impl Sink) -> Step {
    let mut context = Context::from_waker(Waker::noop());
    match Pin::new(&mut answer).poll(&mut context) {
        Poll::Pending => Step::Later(answer),
        Poll::Ready(response) => {
            let wrote = response.wrote;
            out.put(|out| {
                out.extend_from_slice(&response.into_message());
                wrote
            });
            Step::Done
        }
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
