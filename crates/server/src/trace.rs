//! The trace that a call belongs to: a span for those who want spans, and the context for whatever
//! the handler sends.

use serde::Serialize;
use serde_json::Value;
use tracing::{Instrument as _, Span};
use turnbuckle_protocol::{TraceContext, error::code};
use turnbuckle_telemetry::{
    Operation, Side, Target, are_spans_wanted, carry, current, record_error, record_tool_error,
};

use crate::{
    Call, Extract, Failure, Reject, catalog::Callable, exchange::Running, handler::BoxFuture,
};

/// The trace of a call that has one.
pub(crate) struct Trace {
    remote: Option<TraceContext>,
    span: Option<Span>,
}

impl Trace {
    /// `None` for a call that names no trace while nobody wants spans: the usual case, which must
    /// cost nothing.
    pub(crate) fn of(call: &Call<'_>) -> Option<Self> {
        let is_wanted = are_spans_wanted();
        if !call.has_trace && !is_wanted {
            return None;
        }
        let remote = TraceContext::of_request(&call.request_meta());
        let span = is_wanted.then(|| span_of(call, remote.as_ref()));
        Some(Self { remote, span })
    }

    /// Lets the call run as part of its trace.
    pub(crate) fn wrap<C: Callable>(self, running: Running<C::Output>) -> Running<C::Output> {
        let future = match self.span {
            Some(span) => Box::pin(observed::<C>(span, running.future)),
            None => running.future,
        };
        let future: BoxFuture<_> = match self.remote {
            Some(remote) => Box::pin(carry(remote, future)),
            None => future,
        };
        Running { future, ..running }
    }
}

fn span_of(call: &Call<'_>, remote: Option<&TraceContext>) -> Span {
    let method = call.rounds.method();
    let id = call.id.clone().into_owned().to_string();
    let operation = Operation {
        side: Side::Server,
        method,
        target: Target::of(method, call.name()),
        revision: call.revision,
        session: call.peer.session_id(),
        request: Some(&id),
    };
    operation.span(remote)
}

async fn observed<C: Callable>(
    span: Span,
    future: BoxFuture<Result<C::Output, Failure>>,
) -> Result<C::Output, Failure> {
    let outcome = future.instrument(span.clone()).await;
    match &outcome {
        Ok(output) if C::is_failed(output) => record_tool_error(&span),
        Ok(_) => {}
        Err(Failure::Arguments(_)) => record_tool_error(&span),
        Err(Failure::Reject(reject) | Failure::Unaskable(reject)) => {
            record_error(&span, reject.code(), &reject.as_error().message);
        }
        Err(Failure::Fault(_)) => record_error(&span, code::INTERNAL_ERROR, "internal error"),
    }
    outcome
}

/// Params of a request of ours, with the trace that it belongs to; `None` if there is none.
pub(crate) fn with_trace<P: Serialize>(params: &P) -> Option<Value> {
    let context = current()?;
    let mut params = serde_json::to_value(params).ok()?;
    if params.is_null() {
        params = Value::Object(serde_json::Map::new());
    }
    let meta = params
        .as_object_mut()?
        .entry("_meta")
        .or_insert_with(|| Value::Object(serde_json::Map::new()));
    for (key, value) in context.entries() {
        meta.as_object_mut()?.insert(key.to_owned(), value.into());
    }
    Some(params)
}

impl Extract for TraceContext {
    /// Take an `Option` of it: most requests belong to no trace.
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let context = Self::of_request(&call.request_meta());
        context.ok_or_else(|| {
            Reject::invalid_params("the request belongs to no trace: send `traceparent` in `_meta`")
                .into()
        })
    }
}
