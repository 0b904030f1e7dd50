//! Recording how a call ended, on its span.

use tracing::Span;

/// Records that the call ended with a JSON-RPC error.
pub fn record_error(span: &Span, code: i64, message: &str) {
    span.record("error.type", tracing::field::display(code));
    span.record("rpc.response.status_code", tracing::field::display(code));
    span.record("otel.status_code", "ERROR");
    span.record("otel.status_description", message);
}

/// Records that the tool ran and failed. On the wire this is a result like any other, but traces must not count it as
/// a success.
pub fn record_tool_error(span: &Span) {
    span.record("error.type", "tool_error");
    span.record("otel.status_code", "ERROR");
}
