//! Modern answers as streams: only if a message is sent first; disconnecting cancels the request.

use serde_json::{Value, json};

use super::{
    ask::Ask,
    raw::Raw,
    site::{SOON, Site},
};

fn watched(tool: &str, arguments: Value) -> Ask {
    let params = json!({
        "name": tool, "arguments": arguments, "_meta": { "progressToken": "t" },
    });
    Ask::modern("tools/call", params)
}

// rule: N2, N3, N5
#[tokio::test]
async fn what_is_said_before_the_answer_makes_it_a_stream() {
    let site = Site::start().await;
    let mut raw = Raw::asking(site.address, watched("steps", json!({ "count": 2 }))).await;
    let head = raw.expect_stream().await;
    assert_eq!(head.status, 200);
    assert_eq!(head.get("x-accel-buffering"), Some("no"));
    assert!(
        head.get("cache-control")
            .is_some_and(|value| value.contains("no-cache"))
    );
    for step in 1..=2 {
        let event = raw.event().await.expect("progress");
        // streamable-http: streams cannot be resumed, so events have no ids.
        assert_eq!((event.id, event.event, event.retry), (None, None, None));
        let message: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(message["params"]["progress"], f64::from(step));
        assert_eq!(message["params"]["progressToken"], "t");
    }
    site.gate.open(1);
    assert_eq!(raw.message().await["params"]["progress"], 3.0);
    let last = raw.message().await;
    assert_eq!(last["result"]["content"][0]["text"], "2 steps");
    assert_eq!(raw.event().await, None, "the response ends the stream");
}

#[tokio::test]
async fn a_handler_that_speaks_and_ends_at_once_is_a_stream_too() {
    let site = Site::start().await;
    let answer = site.ask(watched("step", json!({}))).await;
    let events = answer.events();
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[0].data.contains("notifications/progress"));
    assert!(events[1].data.contains("stepped"));
    // The client did not ask for progress, so none is sent, and the answer is JSON.
    let plain = site.ask(Ask::call("step", json!({}))).await;
    assert_eq!(plain.json()["result"]["content"][0]["text"], "stepped");
}

#[tokio::test]
async fn a_slow_call_that_says_nothing_is_json() {
    let site = Site::start().await;
    let mut raw = Raw::asking(site.address, Ask::call("wait", json!({}))).await;
    site.gate.arrived(1).await;
    site.gate.open(1);
    assert_eq!(
        raw.answer().await.json()["result"]["content"][0]["text"],
        "passed"
    );
}

#[tokio::test]
async fn a_long_silence_is_filled_with_comments() {
    let site = Site::set(|settings| settings.keep_alive = SOON).await;
    let mut raw = Raw::streaming(site.address, Ask::call("wait", json!({}))).await;
    for _ in 0..3 {
        assert_eq!(raw.piece().await.as_deref(), Some(&b":\n\n"[..]));
    }
    site.gate.open(1);
    assert_eq!(
        raw.message().await["result"]["content"][0]["text"],
        "passed"
    );
    assert_eq!(raw.event().await, None);
}

// rule: N4
// streamable-http: closing the stream MUST be taken for the cancellation of the request.
#[tokio::test]
async fn hanging_up_cancels_the_call() {
    let site = Site::start().await;
    let silent = Raw::asking(site.address, Ask::call("wait", json!({}))).await;
    site.gate.arrived(1).await;
    drop(silent);
    site.gate.dropped(1).await;

    let mut speaking = Raw::streaming(site.address, watched("steps", json!({ "count": 1 }))).await;
    speaking.message().await;
    site.gate.arrived(1).await;
    drop(speaking);
    site.gate.dropped(1).await;
}

#[tokio::test]
async fn many_calls_run_side_by_side() {
    let site = Site::start().await;
    let mut waiting = Vec::new();
    for _ in 0..20 {
        waiting.push(Raw::asking(site.address, Ask::call("wait", json!({}))).await);
    }
    site.gate.arrived(20).await;
    site.gate.open(20);
    for mut raw in waiting {
        assert_eq!(raw.answer().await.status(), 200);
    }
}
