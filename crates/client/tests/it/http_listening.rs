//! Listening to servers at a URL, over real sockets: streams that break, sessions that end.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use turnbuckle_client::{
    CallError, Change, ChangeStream, Listen, Missed,
    protocol::{LoggingLevel, Revision},
};

use crate::http_site::{Answer, Site, modern, plain};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

async fn change(changes: &mut ChangeStream) -> Change {
    changes.next().await.expect("it goes on").expect("a change")
}

fn on(id: &Value, method: &str, mut params: Value) -> Value {
    params["_meta"][SUBSCRIPTION] = id.clone();
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

async fn acknowledge(answer: &mut Answer, body: &Value) {
    answer.events().await;
    let params = json!({"notifications": body["params"]["notifications"]});
    let method = "notifications/subscriptions/acknowledged";
    answer.event(&on(&body["id"], method, params)).await;
}

// rule: N6, S5
#[tokio::test]
async fn a_modern_subscription_is_a_stream_that_is_opened_again_when_it_breaks() {
    let opened = Arc::new(AtomicUsize::new(0));
    let site = modern(move |heard, answer| {
        let number = opened.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            if number == 1 {
                // The server is restarting.
                return answer.status(503).await;
            }
            acknowledge(answer, &heard.body).await;
            let uri = json!({"uri": format!("a:{number}")});
            let updated = on(&heard.body["id"], "notifications/resources/updated", uri);
            answer.event(&updated).await;
            if number == 0 {
                return answer.hang_up();
            }
            answer.hung_up().await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let mut changes = server.listen(Listen::new().resource("a:0")).await.unwrap();
    let listen = site.last("subscriptions/listen");
    assert_eq!(listen.header("mcp-method"), Some("subscriptions/listen"));
    assert!(
        matches!(change(&mut changes).await, Change::ResourceUpdated { uri, .. } if &*uri == "a:0")
    );
    // After the break, the refusal and a wait.
    assert!(matches!(
        change(&mut changes).await,
        Change::Missed(Missed::Reopened)
    ));
    assert!(
        matches!(change(&mut changes).await, Change::ResourceUpdated { uri, .. } if &*uri == "a:2")
    );
    assert_eq!(site.count("POST subscriptions/listen"), 3);
    // streamable-http: a request that is sent again after a break has another id.
    let mut ids: Vec<String> = Vec::new();
    for heard in site.heard() {
        if heard.body["method"] == "subscriptions/listen" {
            ids.push(heard.body["id"].to_string());
        }
    }
    ids.dedup();
    assert_eq!(ids.len(), 3, "{ids:?}");
    // streamable-http: closing the stream is the cancellation, and no notification is sent.
    drop(changes);
    server.close().await;
    assert_eq!(site.count("POST notifications/cancelled"), 0);
}

/// A server with sessions that forgets the first session after its stream has reported one change. The
/// stream does so once the client has set the log level and subscribed.
async fn forgetful() -> Site {
    let sessions = Arc::new(AtomicUsize::new(0));
    let set_up = Arc::new(Semaphore::new(0));
    let revision = Revision::V2025_06_18;
    Site::start(move |heard, answer| {
        let (sessions, set_up) = (sessions.clone(), set_up.clone());
        Box::pin(async move {
            let now = format!("session-{}", sessions.load(Ordering::Relaxed));
            let is_over = heard.header("mcp-session-id").is_some_and(|id| id != now);
            match heard.line().as_str() {
                "POST server/discover" => answer.status(404).await,
                "POST initialize" => {
                    let number = sessions.fetch_add(1, Ordering::Relaxed) + 1;
                    let mut result = json!({"protocolVersion": revision,
                        "serverInfo": {"name": "site", "version": "1"}});
                    result["capabilities"] = json!({"logging": {},
                        "resources": {"subscribe": true}, "tools": {"listChanged": true}});
                    let id = format!("session-{number}");
                    let kind = ("content-type", "application/json");
                    let body = heard.result(result).to_string();
                    answer
                        .full(200, &[kind, ("mcp-session-id", &id)], &body)
                        .await;
                }
                _ if is_over => answer.status(404).await,
                "GET" => {
                    answer.events().await;
                    if now == "session-1" {
                        set_up.acquire_many(2).await.unwrap().forget();
                    }
                    let changed = "notifications/tools/list_changed";
                    answer
                        .event(&json!({"jsonrpc": "2.0", "method": changed}))
                        .await;
                    if now == "session-1" {
                        sessions.store(100, Ordering::Relaxed);
                        return answer.hang_up();
                    }
                    answer.hung_up().await;
                }
                line if line.starts_with("POST notifications/") => answer.status(202).await,
                _ => {
                    answer.json(200, &heard.result(json!({}))).await;
                    set_up.add_permits(1);
                }
            }
        })
    })
    .await
}

#[tokio::test]
async fn a_session_that_ends_is_opened_again_with_its_subscriptions_and_its_level() {
    let site = forgetful().await;
    let client = plain().log_level(LoggingLevel::Warning);
    let server = client.connect(site.url()).await.unwrap();
    let listen = Listen::new().tools().resource("a:b");
    let mut changes = server.listen(listen).await.unwrap();
    // No call is made, but the end of the session is detected.
    loop {
        match change(&mut changes).await {
            Change::ToolsChanged => {}
            Change::Missed(Missed::Reopened) => break,
            other => panic!("{other:?}"),
        }
    }
    site.wait_for("POST resources/subscribe", 2).await;
    site.wait_for("POST logging/setLevel", 2).await;
    for method in ["resources/subscribe", "logging/setLevel"] {
        let id = site.last(method);
        assert_eq!(id.header("mcp-session-id"), Some("session-101"), "{method}");
    }
    assert!(matches!(change(&mut changes).await, Change::ToolsChanged));
    drop(changes);
    site.wait_for("POST resources/unsubscribe", 1).await;
}

#[tokio::test]
async fn a_session_without_a_stream_says_that_it_tells_nothing() {
    let site = Site::start(|heard, answer| {
        Box::pin(async move {
            match heard.line().as_str() {
                "POST server/discover" => answer.status(404).await,
                "POST initialize" => {
                    let result = json!({"protocolVersion": "2025-06-18",
                        "capabilities": {"tools": {"listChanged": true}},
                        "serverInfo": {"name": "site", "version": "1"}});
                    answer.json(200, &heard.result(result)).await;
                }
                "GET" => answer.status(405).await,
                _ => answer.status(202).await,
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = match server.listen(Listen::lists()).await {
        // The client has not found that out yet, ...
        Ok(mut changes) => changes.next().await.unwrap().unwrap_err(),
        // ... or it has.
        Err(error) => error,
    };
    let is_told = matches!(error, CallError::Lost { .. } | CallError::NotOffered { .. });
    assert!(is_told, "{error}");
    let again = server.listen(Listen::lists()).await;
    assert!(matches!(again, Err(CallError::NotOffered { .. })));
}
