//! Traces of Model Context Protocol calls: reading trace context from requests, passing it on, and recording spans.
//!
//! Servers and clients use this crate; programs rarely do. It has three parts: the trace context of the
//! current work ([`current`], [`with_trace_context`]), the spans of both sides by the conventions
//! of OpenTelemetry ([`Operation`]), and, with feature `opentelemetry`, the conversion between
//! these and OpenTelemetry's own contexts.
//!
//! Without a subscriber for spans and without a trace in the request, all of it costs one check of a flag.

mod current;
mod operation;
#[cfg(feature = "opentelemetry")]
mod otel;
#[cfg(not(feature = "opentelemetry"))]
#[path = "no_otel.rs"]
mod otel;
mod outcome;

pub use current::{WithTraceContext, current, span_identity, with_trace_context};
pub use operation::{Operation, Side, Target, are_spans_wanted};
pub use outcome::{record_error, record_tool_error};
