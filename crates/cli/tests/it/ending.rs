//! How the process ends.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::demo::{Demo, modern};

/// The meaning of "prompt" here: less than any client waits before it sends SIGTERM (2 s).
const PROMPTLY: Duration = Duration::from_millis(1500);

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": modern() });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Input as from `printf … | turnbuckle serve --stdio`.
#[test]
fn piped_requests_are_answered_before_the_end() {
    let mut demo = Demo::start();
    for id in 0..500 {
        demo.send(&call(id, "add", &json!({ "a": id, "b": 1 })));
    }
    demo.send(&call(500, "count", &json!({ "to": 3, "pause": 50 })));
    let start = Instant::now();
    let ended = demo.finish();
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    assert!(start.elapsed() < PROMPTLY, "it took {:?}", start.elapsed());
    let ids: Vec<_> = ended
        .messages
        .iter()
        .map(|message| message["id"].as_u64())
        .collect();
    assert_eq!(ids, (0..=500).map(Some).collect::<Vec<_>>());
    assert_eq!(
        ended.messages[500]["result"]["content"][0]["text"],
        "counted to 3"
    );
}

#[test]
fn a_last_line_without_its_end_is_a_message() {
    let mut demo = Demo::start();
    demo.send_text(&call(7, "echo", &json!({ "text": "last" })).to_string());
    let ended = demo.finish();
    assert!(ended.status.success());
    assert_eq!(ended.messages[0]["result"]["content"][0]["text"], "last");
}

// rule: S2
#[test]
fn the_end_of_an_idle_session_is_prompt() {
    let demo = Demo::initialized();
    let start = Instant::now();
    let ended = demo.finish();
    assert!(ended.status.success());
    assert!(start.elapsed() < PROMPTLY, "it took {:?}", start.elapsed());
    assert_eq!(ended.stderr, "");
}

/// A subscription stays open until the client leaves, and must not keep the server from ending.
#[test]
fn an_open_subscription_does_not_hold_up_the_end() {
    let mut demo = Demo::start();
    let params = json!({ "notifications": { "toolsListChanged": true }, "_meta": modern() });
    demo.send(&json!({
        "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params
    }));
    assert_eq!(
        demo.receive()["method"],
        "notifications/subscriptions/acknowledged"
    );
    let start = Instant::now();
    assert!(demo.finish().status.success());
    assert!(start.elapsed() < PROMPTLY, "it took {:?}", start.elapsed());
}

/// A client that cancels a call and leaves does not wait for the call.
#[test]
fn a_cancelled_call_does_not_hold_up_the_end() {
    let mut demo = Demo::start();
    demo.send(&call(1, "count", &json!({ "to": 1000, "pause": 60_000 })));
    let params = json!({ "requestId": 1 });
    demo.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params
    }));
    let start = Instant::now();
    let ended = demo.finish();
    assert!(ended.status.success());
    assert!(start.elapsed() < PROMPTLY, "it took {:?}", start.elapsed());
    // cancellation: nothing is sent for a request that was cancelled.
    assert!(ended.messages.is_empty(), "{:?}", ended.messages);
}

/// This also holds for the first process of a container, which ignores SIGTERM unless it handles it.
#[cfg(unix)]
#[test]
fn sigterm_ends_it_in_order_whatever_runs() {
    let mut demo = Demo::initialized();
    demo.send(&call(99, "count", &json!({ "to": 1000, "pause": 60_000 })));
    let echoed = demo.call("echo", &json!({ "text": "ready" }));
    assert_eq!(echoed["result"]["content"][0]["text"], "ready");
    let start = Instant::now();
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &demo.id().to_string()])
        .status()
        .expect("`kill` is there");
    assert!(killed.success());
    let ended = demo.wait();
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    assert!(start.elapsed() < PROMPTLY, "it took {:?}", start.elapsed());
}
