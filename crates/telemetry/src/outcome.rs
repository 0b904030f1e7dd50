//! How a call ended, on its span.

use tracing::Span;

/// The call ended with an error of the protocol.
pub fn record_error(span: &Span, code: i64, message: &str) {
    span.record("error.type", tracing::field::display(code));
    span.record("rpc.response.status_code", tracing::field::display(code));
    span.record("otel.status_code", "ERROR");
    span.record("otel.status_description", message);
}

/// The tool ran and failed: a result like any other on the wire, which traces must not count as
/// a success.
pub fn record_tool_error(span: &Span) {
    span.record("error.type", "tool_error");
    span.record("otel.status_code", "ERROR");
}
