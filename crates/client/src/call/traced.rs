//! Calls as spans, for those who want spans.

use tracing::Instrument as _;
use turnbuckle_telemetry::{Operation, Side, Target, record_error};

use super::{Call, builder::Body};
use crate::CallError;

impl<R> Call<'_, R> {
    /// Runs the call in a span. Requests are written inside it, so that the server's spans are its
    /// children.
    pub(super) async fn run_in_span(self) -> Result<R, CallError> {
        let span = {
            let subject = match &self.body {
                Ok(Body::Subject(subject)) => subject.text(),
                _ => "",
            };
            let operation = Operation {
                side: Side::Client,
                method: &self.method,
                target: Target::of(&self.method, subject),
                revision: self.link.revision(),
                session: None,
                request: None,
            };
            operation.span(None)
        };
        let outcome = self.run().instrument(span.clone()).await;
        match &outcome {
            Ok(_) => {}
            Err(CallError::Rejected { error, .. }) => {
                record_error(&span, error.code, &error.message);
            }
            Err(error) => {
                span.record("error.type", kind_of(error));
                span.record("otel.status_code", "ERROR");
                span.record("otel.status_description", tracing::field::display(error));
            }
        }
        outcome
    }
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
