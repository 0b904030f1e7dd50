//! The `tracing` spans of requests.

use tracing::{Instrument as _, Span};
use turnbuckle_protocol::Revision;
use turnbuckle_telemetry::{Operation, Side, record_error};

use crate::error::CallError;

/// Creates a span for a method and its subject: a tool, a prompt or a resource, or an empty string.
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

/// A short word for why a call failed. There are only a few words, as attributes of traces should have
/// few values.
fn kind_of(error: &CallError) -> &'static str {
    match error {
        CallError::Deadline { .. } => "timeout",
        CallError::Closed { .. } => "connection_closed",
        CallError::Malformed { .. } => "malformed",
        _ => "_OTHER",
    }
}
