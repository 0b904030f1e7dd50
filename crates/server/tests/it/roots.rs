//! Changed roots: the client reports them, and the server asks for them again.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{LiveServer, RootsChanged, RootsError, Server, Tool};

use crate::wire::Wire;

const CHANGED: &str = "notifications/roots/list_changed";

type Seen = Result<Vec<String>, RootsError>;

/// A server that asks for the roots when they change, and a receiver of what it gets.
fn server() -> (LiveServer, UnboundedReceiver<Seen>) {
    let (sender, seen) = mpsc::unbounded_channel();
    let server = Server::new("s", "1")
        .tool(Tool::new("tool", async || ""))
        .on_roots_changed(move |client: RootsChanged| {
            let sender = sender.clone();
            async move {
                let roots = client.roots().await;
                let roots = roots.map(|roots| roots.into_iter().map(|root| root.uri).collect());
                let _ = sender.send(roots);
            }
        });
    (server.build().expect("a server"), seen)
}

async fn open(live: &LiveServer, revision: Revision, capabilities: Value) -> Wire {
    let mut wire = Wire::open(live);
    wire.speak(revision);
    let client = json!({ "name": "wire", "version": "1" });
    let params = json!({
        "protocolVersion": revision.as_str(), "capabilities": capabilities, "clientInfo": client,
    });
    wire.result("initialize", params).await;
    wire.notify("notifications/initialized", Value::Null).await;
    wire
}

/// Reads the server's request, because `receive` expects only answers.
async fn asked(wire: &mut Wire) -> Value {
    let line = wire.next_line().await.expect("a request");
    serde_json::from_str(&line).expect("JSON")
}

async fn answer(wire: &mut Wire, uri: &str) {
    let request = asked(wire).await;
    assert_eq!(request["method"], "roots/list");
    let result = json!({ "roots": [{ "uri": uri }] });
    wire.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
        .await;
}

#[tokio::test]
async fn a_session_whose_roots_change_is_asked_for_them() {
    for &revision in Revision::LEGACY {
        let (live, mut seen) = server();
        let mut wire = open(&live, revision, json!({ "roots": { "listChanged": true } })).await;
        for uri in ["file:///a", "file:///b"] {
            wire.notify(CHANGED, Value::Null).await;
            answer(&mut wire, uri).await;
            assert_eq!(seen.recv().await, Some(Ok(vec![uri.to_owned()])));
        }
    }
}

#[tokio::test]
async fn changes_while_the_client_is_asked_are_one() {
    let (live, mut seen) = server();
    let mut wire = open(&live, Revision::V2025_11_25, json!({ "roots": {} })).await;
    for _ in 0..100 {
        wire.notify(CHANGED, Value::Null).await;
    }
    // Messages are handled in order, so all of them have been handled by now.
    wire.ask("ping", json!({})).await;
    let first = asked(&mut wire).await;
    let second = asked(&mut wire).await;
    let request = [first, second]
        .into_iter()
        .find(|message| message["method"] == "roots/list")
        .expect("a request");
    let result = json!({ "roots": [] });
    wire.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
        .await;
    answer(&mut wire, "file:///last").await;
    assert_eq!(seen.recv().await, Some(Ok(vec![])));
    assert_eq!(seen.recv().await, Some(Ok(vec!["file:///last".to_owned()])));
    wire.assert_quiet().await;
}

#[tokio::test]
async fn clients_without_roots_are_not_asked_and_a_refusal_is_reported() {
    let (live, mut seen) = server();
    let mut without = open(&live, Revision::V2025_06_18, json!({})).await;
    without.notify(CHANGED, Value::Null).await;
    without.assert_quiet().await;
    let mut wire = open(&live, Revision::V2025_06_18, json!({ "roots": {} })).await;
    wire.notify(CHANGED, Value::Null).await;
    let request = asked(&mut wire).await;
    let error = json!({ "code": -32601, "message": "no" });
    wire.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
        .await;
    let refused = RootsError::Refused {
        code: -32601,
        message: "no".into(),
    };
    assert_eq!(seen.recv().await, Some(Err(refused)));
    // The modern era has no such notification: it is ignored.
    let mut modern = Wire::open(&live);
    modern.notify(CHANGED, Value::Null).await;
    modern.assert_quiet().await;
}

#[tokio::test]
async fn a_client_that_goes_away_is_waited_for_no_longer() {
    let (live, mut seen) = server();
    let mut wire = open(&live, Revision::V2025_03_26, json!({ "roots": {} })).await;
    wire.notify(CHANGED, Value::Null).await;
    assert_eq!(asked(&mut wire).await["method"], "roots/list");
    wire.hang_up().await;
    drop(live);
    // The callback was dropped, and with it the last sender.
    assert_eq!(seen.recv().await, None);
}

// rule: V7
// lifecycle: a side whose request is not answered SHOULD stop waiting and send a cancellation.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_answer_gets_a_cancellation() {
    for &revision in Revision::LEGACY {
        let (live, mut seen) = server();
        let mut wire = open(&live, revision, json!({ "roots": {} })).await;
        wire.notify(CHANGED, Value::Null).await;
        let request = asked(&mut wire).await;
        tokio::time::sleep(Duration::from_secs(31)).await;
        let cancelled = wire.receive().await;
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], request["id"]);
        assert_eq!(seen.recv().await, Some(Err(RootsError::Late)));
    }
}
