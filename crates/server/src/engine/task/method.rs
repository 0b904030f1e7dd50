//! Common parts of the task methods: finding the task, and answering.

use std::{
    borrow::Cow,
    task::{Context, Poll, Waker},
};

use futures_core::future::BoxFuture;
use serde::Serialize;
use turnbuckle_protocol::{Complete, EmptyResult, IdRef, Revision, envelope};

use super::Answering;
use crate::{
    Fault, Reject,
    engine::{Incoming, Response, Sink as _, Wrote, answer},
};

/// Returns the id of the task that a request names.
pub(super) fn named(incoming: &Incoming<'_>) -> Result<String, Reject> {
    incoming.text("taskId").map(Cow::into_owned)
}

/// Answers with the result of a future. With most stores it is ready at once, and nothing waits.
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

/// Makes a response with this result.
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

/// tasks: the answer to `tasks/update` and `tasks/cancel` MUST contain nothing but the type. Some
/// clients take an answer with more members, such as the server's description, for that of another
/// method.
pub(super) fn done() -> Complete<EmptyResult> {
    Complete(EmptyResult::default())
}
