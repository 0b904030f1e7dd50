//! Requests that are passed on unchanged to servers at URLs: messages are assigned by the stream that
//! they come on.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use turnbuckle_client::{Attribution, RelayEvent, protocol::Revision};

use crate::{
    http_sessions::legacy,
    http_site::{Site, modern, text},
    relaying::{raw, relaying, request, result},
};

fn tool_of(body: &Value) -> String {
    body["params"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

// G6: over HTTP the stream of a question says which call it belongs to.
#[tokio::test]
async fn two_calls_are_asked_each_on_its_own_stream() {
    for revision in [
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
    ] {
        let answered = Arc::new([Notify::new(), Notify::new()]);
        let site = legacy(revision, move |heard, answer| {
            let answered = answered.clone();
            Box::pin(async move {
                match heard.line().as_str() {
                    "GET" => answer.status(405).await,
                    "POST tools/call" => {
                        let tool = tool_of(&heard.body);
                        answer.events().await;
                        let log = json!({"level": "info", "data": tool});
                        answer
                            .event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": log}))
                            .await;
                        let root = json!({"jsonrpc": "2.0", "id": format!("ask-{tool}"), "method": "roots/list"});
                        answer.event(&root).await;
                        answered[usize::from(tool == "b")].notified().await;
                        answer.event(&heard.result(text(&tool))).await;
                    }
                    _ => {
                        if let Some(id) = heard.body["id"].as_str() {
                            assert_eq!(heard.body["result"]["roots"], json!([]));
                            answered[usize::from(id == "ask-b")].notify_one();
                        }
                        answer.status(202).await;
                    }
                }
            })
        })
        .await;
        let (client, kept) = relaying();
        let server = client.connect(site.url()).await.unwrap();
        let run = async |tool: &str| {
            let params = format!(r#"{{"name":"{tool}"}}"#);
            let mut call = server.relay(request("tools/call", &params)).unwrap();
            let RelayEvent::Notification(method, Some(log)) = call.next().await else {
                panic!("a log message is first")
            };
            assert_eq!(&*method, "notifications/message");
            assert!(log.get().contains(&format!("\"{tool}\"")), "{log}");
            let RelayEvent::Ask(asked) = call.next().await else {
                panic!("then a question")
            };
            assert_eq!(asked.attribution(), Attribution::Stream);
            assert_eq!(asked.id().to_string(), format!("ask-{tool}"));
            asked.answer(&raw(r#"{"roots":[]}"#));
            assert!(result(&mut call).await.contains(&format!("\"{tool}\"")));
        };
        tokio::join!(run("a"), run("b"));
        assert!(kept.notifications.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_modern_request_is_sent_as_it_is_with_the_headers_that_it_needs() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            let asked =
                json!({"resultType": "input_required", "requestState": "s", "inputRequests": {}});
            answer.json(200, &heard.result(asked)).await;
        })
    })
    .await;
    let (client, _kept) = relaying();
    let server = client.connect(site.url()).await.unwrap();
    let params = r#"{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"front","version":"9"},"traceparent":"00-aa"}}"#;
    let mut call = server.relay(request("tools/call", params)).unwrap();
    assert!(result(&mut call).await.contains("input_required"));
    let heard = site.last("tools/call");
    assert_eq!(
        heard.body["params"],
        serde_json::from_str::<Value>(params).unwrap()
    );
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "t"),
    ] {
        assert_eq!(heard.header(name), Some(value));
    }
    assert_eq!(heard.header("mcp-session-id"), None);
}

// G30: after a header mismatch the tools are listed again, and the call is sent once more.
#[tokio::test]
async fn a_header_mismatch_is_mended_once() {
    let site = modern(|heard, answer| {
        Box::pin(async move {
            if heard.method() == "tools/list" {
                let schema = json!({"type": "object", "properties": {
                    "region": {"type": "string", "x-mcp-header": "Region"},
                }});
                let tools = json!({
                    "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                    "tools": [{"name": "t", "inputSchema": schema}],
                });
                answer.json(200, &heard.result(tools)).await;
            } else if heard.header("mcp-param-region") == Some("eu") {
                answer.json(200, &heard.result(text("done"))).await;
            } else {
                answer
                    .json(400, &heard.error(-32020, "header mismatch"))
                    .await;
            }
        })
    })
    .await;
    let (client, _kept) = relaying();
    let server = client.connect(site.url()).await.unwrap();
    let params = r#"{"name":"t","arguments":{"region":"eu"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let mut call = server.relay(request("tools/call", params)).unwrap();
    assert!(result(&mut call).await.contains("done"));
    assert_eq!(site.count("POST tools/call"), 2);
}

#[tokio::test]
async fn dropping_a_modern_call_closes_its_stream_and_a_session_is_told() {
    let closed = Arc::new(Notify::new());
    let told = closed.clone();
    let site = modern(move |_, answer| {
        let told = told.clone();
        Box::pin(async move {
            answer.events().await;
            answer
                .event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}))
                .await;
            answer.hung_up().await;
            told.notify_one();
        })
    })
    .await;
    let (client, _kept) = relaying();
    let server = client.connect(site.url()).await.unwrap();
    let mut call = server
        .relay(request("tools/call", r#"{"name":"t"}"#))
        .unwrap();
    assert!(matches!(call.next().await, RelayEvent::Notification(..)));
    call.cancel("not wanted");
    closed.notified().await;
    assert_eq!(site.count("POST notifications/cancelled"), 0);

    let site = legacy(Revision::V2025_11_25, |heard, answer| {
        Box::pin(async move {
            match heard.line().as_str() {
                "GET" => answer.status(405).await,
                "POST tools/call" => {
                    answer.events().await;
                    answer
                        .event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}))
                        .await;
                    answer.hung_up().await;
                }
                _ => answer.status(202).await,
            }
        })
    })
    .await;
    let (client, _kept) = relaying();
    let server = client.connect(site.url()).await.unwrap();
    let mut call = server
        .relay(request("tools/call", r#"{"name":"t"}"#))
        .unwrap();
    assert!(matches!(call.next().await, RelayEvent::Notification(..)));
    call.cancel("not wanted");
    site.wait_for("POST notifications/cancelled", 1).await;
    let said = site.last("notifications/cancelled");
    assert_eq!(said.body["params"]["reason"], "not wanted");
}

// The stream of a call is not read while the owner of the call does not read its events.
#[tokio::test]
async fn a_flood_on_the_stream_of_a_call_waits_for_its_owner() {
    const FLOOD: usize = 2000;
    let site = modern(|heard, answer| {
        Box::pin(async move {
            answer.events().await;
            for number in 0..FLOOD {
                let log = json!({"level": "info", "data": number});
                answer
                    .event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": log}))
                    .await;
            }
            answer.event(&heard.result(text("done"))).await;
        })
    })
    .await;
    let (client, _kept) = relaying();
    let server = client.connect(site.url()).await.unwrap();
    let mut call = server
        .relay(request("tools/call", r#"{"name":"t"}"#))
        .unwrap();
    for number in 0..FLOOD {
        let RelayEvent::Notification(_, Some(log)) = call.next().await else {
            panic!("message {number} is next")
        };
        let log: Value = serde_json::from_str(log.get()).unwrap();
        assert_eq!(log["data"], number);
    }
    assert!(result(&mut call).await.contains("done"));
}

/// A server that sends the log message of a call on the session's event stream, once a ping comes.
async fn logs_beside_calls() -> Site {
    let (pinged, told) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let opened = Arc::new(Semaphore::new(0));
    legacy(Revision::V2025_06_18, move |heard, answer| {
        let (pinged, told, opened) = (pinged.clone(), told.clone(), opened.clone());
        Box::pin(async move {
            match heard.line().as_str() {
                "GET" => {
                    answer.events().await;
                    opened.add_permits(2);
                    pinged.notified().await;
                    let log = json!({"level": "info", "data": "late"});
                    let message =
                        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": log});
                    answer.event(&message).await;
                    told.notify_one();
                    answer.hung_up().await;
                }
                "POST tools/call" => {
                    // The stream of the session is open before the first call is answered.
                    opened.acquire().await.unwrap().forget();
                    answer.json(200, &heard.result(text("done"))).await;
                }
                "POST ping" => {
                    pinged.notify_one();
                    told.notified().await;
                    answer.json(200, &heard.result(json!({}))).await;
                }
                _ => answer.status(202).await,
            }
        })
    })
    .await
}

// G13: a server may send log messages on the session's event stream, concurrently with the answer.
#[tokio::test]
async fn log_messages_beside_a_call_are_told_before_its_answer() {
    let site = logs_beside_calls().await;
    let (client, _kept) = relaying();
    let server = client.connect(site.url()).await.unwrap();
    let call = request("tools/call", r#"{"name":"t"}"#);
    // Without a request for logs, nothing is waited for.
    let mut plain = server.relay(call.clone()).unwrap();
    assert!(result(&mut plain).await.contains("done"));
    assert!(!site.lines().contains(&"POST ping".to_owned()));

    let mut logged = server.relay(call.with_log()).unwrap();
    let first = logged.next().await;
    let RelayEvent::Notification(method, Some(log)) = first else {
        panic!("a log message is first, not {first:?}; {:?}", site.lines())
    };
    assert_eq!(&*method, "notifications/message");
    assert!(log.get().contains("late"), "{log}");
    assert!(result(&mut logged).await.contains("done"));
}

#[tokio::test]
async fn an_answer_is_not_held_back_where_log_messages_come_by_the_stream_of_the_call() {
    let site = legacy(Revision::V2025_06_18, |heard, answer| {
        Box::pin(async move {
            match heard.line().as_str() {
                "GET" => {
                    answer.events().await;
                    answer.hung_up().await;
                }
                "POST tools/call" => {
                    answer.events().await;
                    let log = json!({"level": "info", "data": "in time"});
                    let message =
                        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": log});
                    answer.event(&message).await;
                    answer.event(&heard.result(text("done"))).await;
                }
                "POST ping" => answer.json(200, &heard.result(json!({}))).await,
                _ => answer.status(202).await,
            }
        })
    })
    .await;
    let (client, _kept) = relaying();
    let server = client.connect(site.url()).await.unwrap();
    for _ in 0..3 {
        let call = request("tools/call", r#"{"name":"t"}"#).with_log();
        let mut call = server.relay(call).unwrap();
        let first = call.next().await;
        assert!(matches!(first, RelayEvent::Notification(..)), "{first:?}");
        assert!(result(&mut call).await.contains("done"));
    }
    assert!(!site.lines().contains(&"POST ping".to_owned()));
}

/// A relay decides itself whether a request may run twice.
#[tokio::test]
async fn a_relayed_request_without_an_answer_is_sent_once() {
    let site = modern(|_, answer| Box::pin(async move { answer.hang_up() })).await;
    let (client, _kept) = relaying();
    let server = client.connect(site.url()).await.unwrap();
    let mut call = server
        .relay(request("resources/read", r#"{"uri":"note://one"}"#))
        .unwrap();
    let event = call.next().await;
    assert!(matches!(event, RelayEvent::Lost(_)), "{event:?}");
    assert_eq!(site.count("POST resources/read"), 1);
    // A call of the library itself is sent once more.
    server.read("note://one").await.unwrap_err();
    assert_eq!(site.count("POST resources/read"), 3);
}
