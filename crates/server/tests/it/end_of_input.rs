//! The end of input: requests before it are still answered, as long as the `linger` time allows.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Args, Ask, LiveServer, Server, Tool, ToolError};
use turnbuckle_transport::Limits;

use crate::{
    gate::Gate,
    wire::{TIMEOUT, Wire},
};

#[tokio::test]
async fn what_was_piped_in_before_the_end_is_answered() {
    let gate = Gate::new();
    let mut wire = Wire::at(&gate.live(), Revision::V2025_06_18).await;
    let fast = wire.ask_tool("now", json!({})).await;
    let slow = wire.ask_tool("wait", json!({})).await;
    let slower = wire.ask_tool("wait", json!({})).await;
    wire.end_input().await;
    assert_eq!(wire.receive().await["id"], fast);
    gate.arrived(2).await;
    gate.open(2);
    let mut rest: Vec<_> = wire
        .rest()
        .await
        .iter()
        .map(|answer| answer["id"].clone())
        .collect();
    rest.sort_by_key(serde_json::Value::as_i64);
    assert_eq!(rest, [json!(slow), json!(slower)]);
    wire.ended().await.expect("in peace");
}

/// Sets a `linger` that no test can wait for, so a test that ends did not wait for it.
fn patient(server: Server) -> LiveServer {
    let limits = Limits::default().with_linger(10 * TIMEOUT);
    server.limits(limits).build().expect("a server")
}

#[tokio::test]
async fn an_idle_connection_ends_at_once() {
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&patient(Gate::new().server()), revision).await;
        wire.assert_quiet().await;
        wire.end_input().await;
        assert!(wire.rest().await.is_empty());
        wire.ended().await.expect("in peace");
    }
}

#[tokio::test]
async fn a_subscription_does_not_hold_up_the_end() {
    // stdio: the server should exit promptly when its input ends.
    let gate = Gate::new();
    let mut wire = Wire::open(&patient(gate.server()));
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let listen = wire.ask("subscriptions/listen", filter).await;
    wire.receive().await;
    let slow = wire.ask_tool("wait", json!({})).await;
    gate.arrived(1).await;
    wire.end_input().await;
    // cancellation: a server that ends a subscription MUST send this; subscriptions: and SHOULD
    // answer the request.
    let cancelled = wire.receive().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], listen);
    let end = wire.receive().await;
    assert_eq!(end["id"], listen);
    assert_eq!(
        end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        listen
    );
    assert_eq!(end["result"]["resultType"], "complete");
    gate.open(1);
    assert_eq!(wire.receive().await["id"], slow);
    assert!(wire.rest().await.is_empty());
    wire.ended().await.expect("in peace");
}

#[tokio::test]
async fn an_unanswered_question_does_not_delay_the_end() {
    // stdio: the server should exit promptly when its input ends.
    async fn folders(Ask(ask): Ask) -> Result<String, ToolError> {
        let first = ask.roots("first").await?;
        let second = ask.roots("second").await?;
        Ok(format!("{} folders", first.len() + second.len()))
    }
    let server = patient(Server::new("s", "1").tool(Tool::new("folders", folders)));
    let mut wire = Wire::open(&server);
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}},
        "clientInfo": {"name": "c", "version": "1"}});
    wire.send(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": client}))
        .await;
    wire.receive().await;
    wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    let call = json!({"name": "folders"});
    wire.send(&json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": call}))
        .await;
    // Read as a line, because `receive` expects only answers.
    let asked: Value = serde_json::from_str(&wire.next_line().await.unwrap()).unwrap();
    // The answer that arrived before the end counts; the next question is asked after it.
    let roots = json!({"roots": [{"uri": "file:///a"}]});
    wire.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": roots}))
        .await;
    wire.end_input().await;
    let mut last = String::new();
    while let Some(line) = wire.next_line().await {
        last = line;
    }
    let answer: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(answer["id"], "c");
    let text = &answer["result"]["content"][0]["text"];
    assert_eq!(text, "the client went away before it answered `second`");
    wire.ended().await.expect("in peace");
}

#[tokio::test(start_paused = true)]
async fn work_that_takes_longer_than_the_linger_is_dropped() {
    let gate = Gate::new();
    let limits = Limits::default().with_linger(Duration::from_secs(10));
    let mut wire = Wire::open(&gate.server().limits(limits).build().expect("a server"));
    wire.ask_tool("wait", json!({})).await;
    gate.arrived(1).await;
    wire.end_input().await;
    let before = tokio::time::Instant::now();
    wire.ended().await.expect("in peace");
    gate.dropped(1).await;
    assert_eq!(before.elapsed().as_secs(), 10);
}

#[tokio::test]
async fn a_thousand_piped_requests_and_their_large_answers_all_arrive() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Size {
        bytes: usize,
    }
    let large = async |Args(Size { bytes }): Args<Size>| {
        if bytes % 2 == 0 {
            tokio::task::yield_now().await;
        }
        "x".repeat(bytes)
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("large", large))
        .build()
        .expect("a server");
    let wire = Wire::open(&server);
    let (mut asked, mut lines) = (Vec::new(), Vec::new());
    for number in 0..1000 {
        asked.push(number);
        let params = json!({
            "name": "large",
            "arguments": { "bytes": 3000 + number },
            "_meta": crate::wire::modern_meta(),
        });
        let request =
            json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params });
        lines.extend_from_slice(format!("{request}\n").as_bytes());
    }
    let (answers, ended) = wire.pour(lines).await;
    let mut answered: Vec<u64> = answers
        .iter()
        .filter_map(|answer| answer["id"].as_u64())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, asked);
    ended.expect("in peace");
}
