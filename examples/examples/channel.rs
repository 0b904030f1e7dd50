//! A transport that is not a byte stream: messages over channels, as WebSocket frames or a message
//! queue would carry them.
//!
//! ```text
//! cargo run -p examples --example channel
//! ```

use serde_json::{Value, json};
use tokio::sync::mpsc;
use turnbuckle::{Caller, LiveServer, ServeError, Transport, prelude::*};

/// One client, as two channels of whole messages.
struct Channels {
    from_client: mpsc::Receiver<String>,
    to_client: mpsc::Sender<String>,
}

impl Transport for Channels {
    async fn serve(mut self, server: LiveServer) -> Result<(), ServeError> {
        let (mut inlet, mut outlet) = server.messages(Caller::local());
        let receiving = async move {
            while let Some(message) = self.from_client.recv().await {
                inlet.receive(message).await;
            }
            // The client sends no more. Running calls finish, then the outlet ends.
            inlet.close();
        };
        let sending = async move {
            while let Some(message) = outlet.next().await {
                if self.to_client.send(message).await.is_err() {
                    break;
                }
            }
        };
        tokio::join!(receiving, sending);
        Ok(())
    }
}

/// Turns a text around.
#[tool(read_only)]
fn reverse(text: String) -> String {
    text.chars().rev().collect()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (to_server, from_client) = mpsc::channel(16);
    let (to_client, mut from_server) = mpsc::channel(16);
    let transport = Channels {
        from_client,
        to_client,
    };
    let serving = tokio::spawn(turnbuckle::server!().tool(reverse).serve(transport));

    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "reverse", "arguments": { "text": "turnbuckle" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}
            }
        }
    });
    to_server.send(request.to_string()).await?;
    drop(to_server);
    while let Some(message) = from_server.recv().await {
        let answer: Value = serde_json::from_str(&message)?;
        println!("{}", answer["result"]["content"][0]["text"]);
    }
    serving.await??;
    Ok(())
}
