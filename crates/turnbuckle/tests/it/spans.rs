//! Calls as spans of OpenTelemetry, by the conventions for the protocol.

use std::sync::Arc;

use opentelemetry::trace::{SpanKind, Status, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::json;
use tracing::Instrument as _;
use tracing_subscriber::layer::SubscriberExt as _;
use turnbuckle::{Connection, Prompt, Resource, Revision, Server, State, Tool, ToolError};
use turnbuckle_testing::connect_at;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Collects the spans of a test for as long as the guard lives.
fn exporter() -> (
    InMemorySpanExporter,
    SdkTracerProvider,
    tracing::subscriber::DefaultGuard,
) {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let subscriber = tracing_subscriber::registry().with(layer);
    (
        exporter,
        provider,
        tracing::subscriber::set_default(Arc::new(subscriber)),
    )
}

async fn fail() -> Result<String, ToolError> {
    Err(ToolError::new("out of paper"))
}

fn server() -> Server {
    Server::new("traced", "1")
        .tool(Tool::new("greet", || async { "hello" }))
        .tool(Tool::new("fail", fail))
        .prompt(Prompt::new("plan", || async { "a plan" }))
        .resource(Resource::new("file:///a", || async { "text" }))
}

fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let found = span
        .attributes
        .iter()
        .find(|pair| pair.key.as_str() == key)?;
    Some(found.value.to_string())
}

fn find<'a>(spans: &'a [SpanData], name: &str, kind: &SpanKind) -> &'a SpanData {
    let is_it = |span: &&SpanData| span.name == name && span.span_kind == *kind;
    spans
        .iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("no {kind:?} span `{name}` in {spans:#?}"))
}

#[tokio::test]
async fn a_call_is_two_spans_of_one_trace() {
    let (exporter, provider, _guard) = exporter();
    let live = server().build().unwrap();
    let client = connect_at(&live, Revision::V2026_07_28).await.unwrap();
    client.call("greet", ()).await.unwrap();
    client.get("plan", json!({})).await.unwrap();
    client.read("file:///a").await.unwrap();
    provider.force_flush().unwrap();
    let spans = exporter.get_finished_spans().unwrap();
    let called = find(&spans, "tools/call greet", &SpanKind::Client);
    let served = find(&spans, "tools/call greet", &SpanKind::Server);
    assert_eq!(
        served.span_context.trace_id(),
        called.span_context.trace_id()
    );
    assert_eq!(served.parent_span_id, called.span_context.span_id());
    assert!(served.parent_span_is_remote);
    for (key, value) in [
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2026-07-28"),
        ("gen_ai.tool.name", "greet"),
        ("gen_ai.operation.name", "execute_tool"),
    ] {
        assert_eq!(attribute(served, key).as_deref(), Some(value), "{key}");
        assert_eq!(attribute(called, key).as_deref(), Some(value), "{key}");
    }
    assert!(attribute(served, "jsonrpc.request.id").is_some());
    let prompt = find(&spans, "prompts/get plan", &SpanKind::Server);
    assert_eq!(
        attribute(prompt, "gen_ai.prompt.name").as_deref(),
        Some("plan")
    );
    // The conventions keep URIs out of span names, which should have few different values.
    let resource = find(&spans, "resources/read", &SpanKind::Server);
    assert_eq!(
        attribute(resource, "mcp.resource.uri").as_deref(),
        Some("file:///a")
    );
}

#[tokio::test]
async fn a_span_elsewhere_is_the_parent() {
    let (exporter, _provider, _guard) = exporter();
    let live = server().build().unwrap();
    for revision in [Revision::V2024_11_05, Revision::V2026_07_28] {
        exporter.reset();
        let client = connect_at(&live, revision).await.unwrap();
        client
            .call("greet", ())
            .meta("traceparent", PARENT)
            .await
            .unwrap();
        let spans = exporter.get_finished_spans().unwrap();
        let served = find(&spans, "tools/call greet", &SpanKind::Server);
        assert_eq!(
            served.span_context.trace_id().to_string(),
            "0af7651916cd43dd8448eb211c80319c",
            "{revision}"
        );
        assert_eq!(
            served.parent_span_id.to_string(),
            "b7ad6b7169203331",
            "{revision}"
        );
    }
}

// A tool that fails has a successful response on the wire, but must not be a success in a trace.
#[tokio::test]
async fn failures_are_failures() {
    let (exporter, _provider, _guard) = exporter();
    let live = server().build().unwrap();
    let client = connect_at(&live, Revision::V2026_07_28).await.unwrap();
    client.call("fail", ()).await.unwrap();
    client.call("nothing", ()).await.unwrap_err();
    let spans = exporter.get_finished_spans().unwrap();
    let failed = find(&spans, "tools/call fail", &SpanKind::Server);
    assert!(matches!(failed.status, Status::Error { .. }), "{failed:?}");
    assert_eq!(
        attribute(failed, "error.type").as_deref(),
        Some("tool_error")
    );
    let unknown = find(&spans, "tools/call nothing", &SpanKind::Client);
    assert!(matches!(unknown.status, Status::Error { .. }));
    assert_eq!(attribute(unknown, "error.type").as_deref(), Some("-32602"));
}

async fn relay(State(next): State<Connection>) -> Result<String, ToolError> {
    Ok(next.call("greet", ()).await?.text().clone())
}

#[tokio::test]
async fn a_chain_of_servers_is_one_trace() {
    let (exporter, _provider, _guard) = exporter();
    let last = server().build().unwrap();
    let next = connect_at(&last, Revision::V2025_11_25).await.unwrap();
    let first = Server::new("first", "1")
        .state(next)
        .tool(Tool::new("relay", relay));
    let first = first.build().unwrap();
    let client = connect_at(&first, Revision::V2026_07_28).await.unwrap();
    let root = tracing::info_span!("agent");
    client
        .call("relay", ())
        .into_future()
        .instrument(root)
        .await
        .unwrap();
    let spans = exporter.get_finished_spans().unwrap();
    let agent = find(&spans, "agent", &SpanKind::Internal);
    let ends = [
        find(&spans, "tools/call relay", &SpanKind::Client),
        find(&spans, "tools/call relay", &SpanKind::Server),
        find(&spans, "tools/call greet", &SpanKind::Client),
        find(&spans, "tools/call greet", &SpanKind::Server),
    ];
    let mut parent = agent;
    for span in ends {
        assert_eq!(span.span_context.trace_id(), agent.span_context.trace_id());
        assert_eq!(
            span.parent_span_id,
            parent.span_context.span_id(),
            "{}",
            span.name
        );
        parent = span;
    }
}
