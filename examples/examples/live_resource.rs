//! A resource that changes, a client that is notified of it, and log messages for clients that ask for them.
//!
//! ```text
//! cargo run -p examples --example live_resource
//! ```

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use serde_json::json;
use turnbuckle::{client::Listen, prelude::*, protocol::LoggingLevel};

#[derive(Clone, Default)]
struct Counter(Arc<AtomicU32>);

/// How often the door has opened.
#[resource("door://count")]
async fn count(State(counter): State<Counter>) -> String {
    counter.0.load(Ordering::Relaxed).to_string()
}

/// Opens the door.
#[tool]
async fn open(
    State(counter): State<Counter>,
    #[extract] changes: Changes,
    #[extract] log: Log,
) -> &'static str {
    let times = counter.0.fetch_add(1, Ordering::Relaxed) + 1;
    // Notifies the listeners, without waiting for them.
    changes.resource("door://count");
    log.info(json!({ "times": times }));
    "open"
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = turnbuckle::server!()
        .state(Counter::default())
        .resource(count)
        .tool(open)
        .build()?;

    let client = Client::new("watcher", "1.0.0")
        .log_level(LoggingLevel::Info)
        .connect(server.connect())
        .await?;
    let mut logs = client.logs();
    let mut changes = client
        .listen(Listen::new().resource("door://count"))
        .await?;

    client.call("open", json!({})).await?;
    if let Some(change) = changes.next().await {
        println!("{:?}", change?);
    }
    println!("{:?}", client.read("door://count").await?.contents);
    println!("{:?}", logs.next().await);

    // Other parts of the program can notify too, from any thread.
    server.changes().resource("door://count");
    println!("{:?}", changes.next().await.is_some());
    Ok(())
}
