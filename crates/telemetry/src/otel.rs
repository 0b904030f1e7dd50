//! Conversion between trace context on the wire and contexts of OpenTelemetry.
//!
//! All of it uses the spans of `tracing`: a program with the layer of `tracing-opentelemetry` in its
//! subscriber gets traces; a program without it gets none, at no cost.

use opentelemetry::{
    Context,
    trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState},
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use turnbuckle_protocol::{TraceContext, TraceParent};

/// The trace of the current span.
pub(crate) fn current() -> Option<TraceContext> {
    let span = Span::current();
    if span.is_none() {
        return None;
    }
    let context = span.context();
    let span = context.span();
    let span = span.span_context();
    let parent = TraceParent::new(
        span.trace_id().to_bytes(),
        span.span_id().to_bytes(),
        span.trace_flags().to_u8(),
    )?;
    let state = span.trace_state().header();
    let state = (!state.is_empty()).then_some(state.as_str());
    TraceContext::new(Some(parent), state, None)
}

/// Makes a remote span the parent of a span.
pub(crate) fn set_parent(span: &Span, remote: &TraceContext) {
    let Some(parent) = remote.parent() else {
        return;
    };
    let state = remote.state().and_then(|state| state.parse().ok());
    let remote = SpanContext::new(
        TraceId::from_bytes(parent.trace_id()),
        SpanId::from_bytes(parent.span_id()),
        TraceFlags::new(parent.flags()),
        true,
        state.unwrap_or(TraceState::NONE),
    );
    // A span that has begun already, or that is not exported, cannot be given a parent.
    let _ = span.set_parent(Context::new().with_remote_span_context(remote));
}
