//! Traces: a server that calls another server, with one OpenTelemetry trace through both.
//!
//! The spans are kept in memory and printed. In production, `opentelemetry-otlp` sends them to a
//! collector.
//!
//! ```text
//! cargo run -p examples --example traces
//! ```

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use tracing_subscriber::layer::SubscriberExt as _;
use turnbuckle::{TraceContext, prelude::*};

/// Tells the price of something.
#[tool(read_only)]
async fn price(#[extract] trace: Option<TraceContext>, item: String) -> String {
    let part = trace.and_then(|trace| trace.parent()).is_some();
    format!("{item}: 7 (part of a trace: {part})")
}

/// Makes an offer, for which it asks the other server.
#[tool(read_only)]
async fn offer(State(prices): State<Connection>, item: String) -> Result<String, ToolError> {
    let price = prices
        .call("price", serde_json::json!({ "item": item }))
        .await?;
    Ok(format!("we offer {}", price.ok()?.text()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("shop"));
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))?;

    let prices = Server::new("prices", "1.0.0").tool(price).build()?;
    let prices = Client::new("offers", "1.0.0")
        .connect(prices.connect())
        .await?;
    let offers = Server::new("offers", "1.0.0")
        .state(prices)
        .tool(offer)
        .build()?;
    let client = Client::new("agent", "1.0.0")
        .connect(offers.connect())
        .await?;
    let answer = client
        .call("offer", serde_json::json!({ "item": "tea" }))
        .await?;
    println!("{}", answer.ok()?.text());

    provider.force_flush()?;
    let spans = exporter.get_finished_spans()?;
    let calls = spans
        .iter()
        .filter(|span| span.name.starts_with("tools/call"));
    let mut traces = std::collections::BTreeSet::new();
    for span in calls {
        println!("{:?} {}", span.span_kind, span.name);
        traces.insert(span.span_context.trace_id().to_string());
    }
    println!("{} trace", traces.len());
    Ok(())
}
