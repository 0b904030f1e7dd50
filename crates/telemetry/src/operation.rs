//! One call as a span, by the conventions of OpenTelemetry for the protocol.
//!
//! The fields have the names of the conventions; `tracing-opentelemetry` reads `otel.name`, `otel.kind` and
//! `otel.status_code`. A subscriber that prints spans shows these fields unchanged.

use tracing::{Level, Span, field::Empty};
use turnbuckle_protocol::{Revision, TraceContext};

use crate::otel;

/// The target of the spans, for filters: `RUST_LOG=turnbuckle::mcp=info`.
const TARGET: &str = "turnbuckle::mcp";

/// Whether a subscriber wants spans. If not, this costs one check of a flag.
pub fn are_spans_wanted() -> bool {
    tracing::span_enabled!(target: "turnbuckle::mcp", Level::INFO)
}

/// A side of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that calls.
    Client,
    /// The side that is called.
    Server,
}

/// The tool, prompt or resource of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A tool, by its name.
    Tool(&'a str),
    /// A prompt, by its name.
    Prompt(&'a str),
    /// A resource, by its URI.
    Resource(&'a str),
    /// A method that refers to none of these.
    None,
}

impl<'a> Target<'a> {
    /// The target of a call of this method, given the name in its parameters.
    pub fn of(method: &str, name: &'a str) -> Self {
        match method {
            "tools/call" => Self::Tool(name),
            "prompts/get" => Self::Prompt(name),
            "resources/read" => Self::Resource(name),
            _ => Self::None,
        }
    }
}

/// The data of one call that its span records.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// The side that records this span.
    pub side: Side,
    /// The method.
    pub method: &'a str,
    /// The tool, prompt or resource that is called.
    pub target: Target<'a>,
    /// The revision of the connection or request.
    pub revision: Revision,
    /// The session, where there is one.
    pub session: Option<&'a str>,
    /// The id of the request, where it is known.
    pub request: Option<&'a str>,
}

impl Operation<'_> {
    /// Opens the span, as a child of the remote span if `remote` is given. If spans are disabled, this does nothing
    /// further.
    pub fn span(&self, remote: Option<&TraceContext>) -> Span {
        let span = tracing::info_span!(
            target: TARGET,
            "mcp",
            otel.name = self.name(),
            otel.kind = match self.side { Side::Client => "client", Side::Server => "server" },
            mcp.method.name = self.method,
            mcp.protocol.version = self.revision.as_str(),
            mcp.session.id = self.session,
            mcp.resource.uri = Empty,
            jsonrpc.request.id = self.request,
            gen_ai.operation.name = Empty,
            gen_ai.tool.name = Empty,
            gen_ai.prompt.name = Empty,
            trace_id = Empty,
            parent_span_id = Empty,
            error.type = Empty,
            rpc.response.status_code = Empty,
            otel.status_code = Empty,
            otel.status_description = Empty,
        );
        match self.target {
            Target::Tool(name) => {
                span.record("gen_ai.operation.name", "execute_tool");
                span.record("gen_ai.tool.name", name);
            }
            Target::Prompt(name) => {
                span.record("gen_ai.prompt.name", name);
            }
            Target::Resource(uri) => {
                span.record("mcp.resource.uri", uri);
            }
            Target::None => {}
        }
        if let Some(remote) = remote {
            join(&span, remote);
        }
        span
    }

    /// The conventions require names of low cardinality, so a URI is left out.
    fn name(&self) -> String {
        match self.target {
            Target::Tool(name) | Target::Prompt(name) => format!("{} {name}", self.method),
            Target::Resource(_) | Target::None => self.method.to_owned(),
        }
    }
}

/// Records the remote parent of a span: for exporters, and as fields for subscribers that print.
fn join(span: &Span, remote: &TraceContext) {
    otel::set_parent(span, remote);
    if let Some(parent) = remote.parent() {
        let trace_id = u128::from_be_bytes(parent.trace_id());
        let span_id = u64::from_be_bytes(parent.span_id());
        span.record(
            "trace_id",
            tracing::field::display(format_args!("{trace_id:032x}")),
        );
        span.record(
            "parent_span_id",
            tracing::field::display(format_args!("{span_id:016x}")),
        );
    }
}
