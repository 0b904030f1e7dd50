//! Server and client in one process, without a network: for tests, and for tools that are built into a host.
//!
//! ```text
//! cargo run -p examples --example in_process
//! ```

use serde_json::json;
use turnbuckle::{client::Client, prelude::*, transport::duplex};

/// Turns a text around.
#[tool(read_only)]
async fn reverse(text: String) -> String {
    text.chars().rev().collect()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (near, far) = duplex();
    let serving = tokio::spawn(Server::new("built-in", "1.0.0").tool(reverse).serve(far));

    let server = Client::new("host", "1.0.0").connect(near).await?;
    let output = server
        .call("reverse", json!({ "text": "turnbuckle" }))
        .await?;
    println!("{}", output.ok()?.text());

    server.close().await;
    serving.await??;
    Ok(())
}
