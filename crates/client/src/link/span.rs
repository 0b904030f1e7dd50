//! The `tracing` spans of requests.

use tracing::{Instrument as _, Span};
use turnbuckle_protocol::Revision;
use turnbuckle_telemetry::{Operation, Side, record_error};

use crate::error::CallError;

/// A span for a method on a subject: a tool, a prompt, a resource, or nothing.
pub(crate) fn span(revision: Revision, method: &str, subject: &str) -> Span {
    let operation = Operation {
        side: Side::Client,
        method,
        target: turnbuckle_telemetry::Target::of(method, subject),
        revision,
        session: None,
        request: None,
    };
    operation.span(None)
}

/// Runs a call in its span. Requests are written inside it, so that the server's spans are its
/// children.
pub(crate) async fn in_span<R>(
    span: Span,
    call: impl Future<Output = Result<R, CallError>>,
) -> Result<R, CallError> {
    let outcome = call.instrument(span.clone()).await;
    if let Err(error) = &outcome {
        record(&span, error);
    }
    outcome
}

fn record(span: &Span, error: &CallError) {
    if let Some(error) = error.rejection() {
        return record_error(span, error.code, &error.message);
    }
    span.record("error.type", kind_of(error));
    span.record("otel.status_code", "ERROR");
    span.record("otel.status_description", tracing::field::display(error));
}

/// A word for why there is no answer. There are few of them, as traces want it.
fn kind_of(error: &CallError) -> &'static str {
    match error {
        CallError::Deadline { .. } => "timeout",
        CallError::Closed { .. } => "connection_closed",
        CallError::Malformed { .. } => "malformed",
        _ => "_OTHER",
    }
}
