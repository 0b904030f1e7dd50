//! Answers to requests of the server that cannot be delivered.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_client::protocol::Revision;

use crate::{
    http_sessions::legacy,
    http_site::{Site, plain, text},
};

fn ask(id: usize) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"})
}

/// A server that asks once, and responds to the answer with these bytes.
async fn asking_once(bytes: &'static str) -> Site {
    legacy(Revision::V2025_11_25, move |heard, answer| {
        Box::pin(async move {
            match heard.line().as_str() {
                "POST tools/call" => {
                    answer.events().await;
                    answer.event(&ask(0)).await;
                    // Longer than the pause before another attempt.
                    tokio::time::sleep(Duration::from_millis(800)).await;
                    answer.event(&heard.result(text("done"))).await;
                }
                "POST" => {
                    answer.raw(bytes.as_bytes()).await;
                    answer.hang_up();
                }
                _ => answer.status(405).await,
            }
        })
    })
    .await
}

#[tokio::test]
async fn an_answer_is_not_sent_again_if_that_cannot_help() {
    for bytes in [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.2:9/mcp\r\ncontent-length: 0\r\n\r\n",
    ] {
        let site = asking_once(bytes).await;
        let server = plain().roots(Vec::new()).connect(site.url()).await.unwrap();
        assert_eq!(server.call("t", ()).await.unwrap().text(), "done");
        assert_eq!(site.count("POST"), 1, "{bytes}");
    }
}
