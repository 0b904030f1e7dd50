//! The trace of a call: a span if a subscriber wants spans, and the trace context for requests that
//! the handler sends.

use futures_core::future::BoxFuture;
use tracing::{Instrument as _, Span};
use turnbuckle_protocol::{TraceContext, error::code};
use turnbuckle_telemetry::{
    Operation, Side, Target, are_spans_wanted, record_error, record_tool_error, with_trace_context,
};

use crate::{Call, Failure, catalog::Callable};

/// The trace of a call.
pub(crate) struct Trace {
    remote: Option<TraceContext>,
    span: Option<Span>,
}

impl Trace {
    /// Returns `None` for a call without a trace if no subscriber wants spans. This is the usual
    /// case, which must cost nothing.
    pub(crate) fn of(call: &Call<'_>) -> Option<Self> {
        let is_wanted = are_spans_wanted();
        if !call.origin.has_trace && !is_wanted {
            return None;
        }
        let remote = TraceContext::of_request(&call.request_meta());
        let span = is_wanted.then(|| span_of(call, remote.as_ref()));
        Some(Self { remote, span })
    }

    /// Runs the call as part of its trace.
    pub(crate) fn wrap<C: Callable>(
        self,
        future: BoxFuture<'static, Result<C::Output, Failure>>,
    ) -> BoxFuture<'static, Result<C::Output, Failure>> {
        let future = match self.span {
            Some(span) => Box::pin(observed::<C>(span, future)),
            None => future,
        };
        match self.remote {
            Some(remote) => Box::pin(with_trace_context(remote, future)),
            None => future,
        }
    }
}

fn span_of(call: &Call<'_>, remote: Option<&TraceContext>) -> Span {
    let method = call.asks.rounds.method();
    let id = call.origin.id.clone().into_owned().to_string();
    let operation = Operation {
        side: Side::Server,
        method,
        target: Target::of(method, call.name()),
        revision: call.origin.revision,
        session: call.origin.peer.session_id(),
        request: Some(&id),
    };
    operation.span(remote)
}

async fn observed<C: Callable>(
    span: Span,
    future: BoxFuture<'static, Result<C::Output, Failure>>,
) -> Result<C::Output, Failure> {
    let outcome = future.instrument(span.clone()).await;
    match &outcome {
        Ok(output) if C::is_failed(output) => record_tool_error(&span),
        Ok(_) => {}
        Err(Failure::Arguments(_)) => record_tool_error(&span),
        Err(Failure::Reject(reject) | Failure::Unaskable(reject)) => {
            record_error(&span, reject.code(), &reject.as_error().message);
        }
        Err(Failure::Fault(_) | Failure::Unexpected(_)) => {
            record_error(&span, code::INTERNAL_ERROR, "internal error");
        }
    }
    outcome
}
