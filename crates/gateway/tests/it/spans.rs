//! Requests as spans of OpenTelemetry, over both hops.

use std::sync::Arc;

use opentelemetry::trace::{SpanKind, Status, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt as _;
use turnbuckle_client::Era;
use turnbuckle_gateway::{Gateway, LiveGateway};
use turnbuckle_server::{CallMeta, Server, Tool, ToolError};

use crate::site::{Door, client, join};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

async fn fail() -> Result<String, ToolError> {
    Err(ToolError::new("out of paper"))
}

/// The trace that the call carries.
async fn trace(CallMeta(meta): CallMeta) -> String {
    let said = meta.value("traceparent").cloned().unwrap_or_default();
    said.as_str().unwrap_or("none").to_owned()
}

fn server() -> Server {
    Server::new("traced", "1")
        .tool(Tool::new("trace", trace))
        .tool(Tool::new("fail", fail))
}

async fn gateway() -> LiveGateway {
    let gateway = Gateway::new("gateway", "1").mount("traced", server());
    let gateway = gateway.expect("a server").open().expect("a gateway");
    gateway.settled().await;
    gateway
}

#[tokio::test]
async fn both_hops_are_spans_of_one_trace() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let subscriber = tracing_subscriber::registry().with(layer);
    let _guard = tracing::subscriber::set_default(Arc::new(subscriber));
    let gateway = gateway().await;
    for era in [Era::Legacy, Era::Modern] {
        exporter.reset();
        let client = join(&client(era), &gateway, Door::Lines).await;
        let call = client.call("trace", json!({})).meta("traceparent", PARENT);
        let received = call.await.expect("a result").text();
        client.call("fail", json!({})).await.expect("a result");
        provider.force_flush().expect("flushed");
        let spans = exporter.get_finished_spans().expect("spans");
        let named = |name: &str, kind: SpanKind| -> Vec<&SpanData> {
            let is_it = |span: &&SpanData| span.name == name && span.span_kind == kind;
            spans.iter().filter(is_it).collect()
        };
        let served = named("tools/call trace", SpanKind::Server);
        let front = served
            .iter()
            .find(|span| span.parent_span_id.to_string() == "b7ad6b7169203331")
            .unwrap_or_else(|| panic!("{era:?}: no first hop in {spans:#?}"));
        let hop = named("tools/call trace", SpanKind::Client);
        let hop = hop
            .iter()
            .find(|span| span.parent_span_id == front.span_context.span_id())
            .unwrap_or_else(|| panic!("{era:?}: no second hop in {spans:#?}"));
        // The trace context that the server received names the span of the second hop.
        let expected = format!(
            "00-0af7651916cd43dd8448eb211c80319c-{}-01",
            hop.span_context.span_id()
        );
        assert_eq!(received, expected, "{era:?}");
        let behind = served
            .iter()
            .find(|span| span.parent_span_id == hop.span_context.span_id());
        assert!(behind.is_some(), "{era:?}: {spans:#?}");
        let is_failed = |span: &&SpanData| matches!(span.status, Status::Error { .. });
        let served = named("tools/call fail", SpanKind::Server);
        assert!(
            served.len() == 2 && served.iter().all(is_failed),
            "{era:?}: {served:#?}"
        );
        // The span of the second hop; the client in front has its own span.
        let called = named("tools/call fail", SpanKind::Client);
        assert!(called.iter().any(is_failed), "{era:?}: {called:#?}");
    }
    gateway.close().await;
}

#[tokio::test]
async fn without_spans_the_trace_passes_unchanged() {
    let gateway = gateway().await;
    // Upper case, which this library would not write.
    let odd = "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01";
    for era in [Era::Legacy, Era::Modern] {
        let client = join(&client(era), &gateway, Door::Lines).await;
        for parent in [PARENT, odd] {
            let call = client.call("trace", json!({})).meta("traceparent", parent);
            assert_eq!(call.await.expect("a result").text(), parent, "{era:?}");
        }
    }
    gateway.close().await;
}
