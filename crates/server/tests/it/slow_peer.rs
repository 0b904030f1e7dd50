//! Clients that do not read: only they wait, and the memory for them does not grow.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{LiveServer, Progress, Rates, Server, Tool};
use turnbuckle_transport::{Limits, Rate};

use crate::{gate::Gate, wire::Wire};

/// More than the pipe and the outbox of these tests hold together, in bytes.
const FLOOD: usize = 256 * 1024;

/// A server whose tool `flood` sends more than a client can be sent without reading.
fn server(gate: &Gate) -> LiveServer {
    let limits = Limits::default().with_outbox_high_water_bytes(16 * 1024);
    let flood = async |progress: Progress| {
        progress.report(1.0, None, Some("x".repeat(FLOOD))).await;
        "flooded"
    };
    gate.server()
        .limits(limits)
        .tool(Tool::new("flood", flood))
        .build()
        .expect("a server")
}

/// Calls the tool `flood` without reading its messages. When it returns, the server has handled
/// everything that was sent.
async fn flood(wire: &mut Wire, gate: &Gate) {
    wire.ask(
        "tools/call",
        json!({ "name": "flood", "_meta": { "progressToken": 1 } }),
    )
    .await;
    mark(wire, gate).await;
}

/// Waits until the server has handled everything that was sent so far.
async fn mark(wire: &mut Wire, gate: &Gate) {
    wire.ask_tool("wait", json!({})).await;
    gate.arrived(1).await;
}

/// Reads everything that was queued, up to the answer of `wait`, and returns the methods of the
/// notifications.
async fn caught_up(wire: &mut Wire, gate: &Gate, waiting: usize) -> Vec<String> {
    gate.open(waiting);
    let (mut methods, mut answered) = (Vec::new(), 0);
    while answered < waiting {
        let message = wire.receive().await;
        match message["method"].as_str() {
            Some(method) => methods.push(method.to_owned()),
            None if message["result"]["content"][0]["text"] == "passed" => answered += 1,
            None => {}
        }
    }
    methods
}

fn changes(methods: &[String]) -> usize {
    methods
        .iter()
        .filter(|method| method.ends_with("/list_changed"))
        .count()
}

#[tokio::test]
async fn others_are_served_and_changes_are_made_while_one_does_not_read() {
    let gate = Gate::new();
    let live = server(&gate);
    let mut stuck = Wire::at(&live, Revision::V2025_11_25).await;
    flood(&mut stuck, &gate).await;
    let mut other = Wire::at(&live, Revision::V2025_11_25).await;
    assert_eq!(other.text("now", json!({})).await, "now");
    live.catalog()
        .add_tool(Tool::new("more", async || ""))
        .expect("a tool");
    assert_eq!(
        other.receive().await["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(other.text("now", json!({})).await, "now");
    let held_up = caught_up(&mut stuck, &gate, 1).await;
    assert_eq!(held_up[0], "notifications/progress");
}

#[tokio::test]
async fn changes_fold_while_a_peer_does_not_read() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let gate = Gate::new();
        let live = server(&gate);
        let mut wire = Wire::at(&live, revision).await;
        if revision.is_modern() {
            let filter = json!({ "notifications": { "toolsListChanged": true } });
            wire.ask("subscriptions/listen", filter).await;
            wire.receive().await;
        }
        flood(&mut wire, &gate).await;
        for _ in 0..5_000 {
            live.catalog()
                .add_tool(Tool::new("more", async || ""))
                .expect("a tool");
            assert!(live.catalog().remove_tool("more"));
        }
        mark(&mut wire, &gate).await;
        let mut told = changes(&caught_up(&mut wire, &gate, 2).await);
        // The last change may be reported after the answers. It is reported, but only a few times.
        while told == 0 {
            told += usize::from(wire.receive().await["method"].is_string());
        }
        assert!(told <= 2, "{told} notifications for ten thousand changes");
    }
}

#[tokio::test]
async fn a_change_between_the_wish_and_its_acknowledgement_is_not_lost() {
    let gate = Gate::new();
    let live = server(&gate);
    let mut wire = Wire::open(&live);
    flood(&mut wire, &gate).await;
    wire.ask(
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true } }),
    )
    .await;
    mark(&mut wire, &gate).await;
    live.catalog()
        .add_tool(Tool::new("more", async || ""))
        .expect("a tool");
    let mut methods = caught_up(&mut wire, &gate, 2).await;
    while changes(&methods) == 0 {
        methods.extend(wire.receive().await["method"].as_str().map(str::to_owned));
    }
    methods.retain(|method| method != "notifications/progress");
    assert_eq!(
        methods,
        [
            "notifications/subscriptions/acknowledged",
            "notifications/tools/list_changed"
        ]
    );
}

#[tokio::test]
async fn a_subscription_that_was_cancelled_unread_hears_nothing_more() {
    // stdio: after a cancellation the server MUST NOT send anything more for that request.
    let gate = Gate::new();
    let live = server(&gate);
    let mut wire = Wire::open(&live);
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let id = wire.ask("subscriptions/listen", filter).await;
    wire.receive().await;
    flood(&mut wire, &gate).await;
    live.catalog()
        .add_tool(Tool::new("more", async || ""))
        .expect("a tool");
    mark(&mut wire, &gate).await;
    wire.cancel(&json!(id)).await;
    mark(&mut wire, &gate).await;
    let methods = caught_up(&mut wire, &gate, 3).await;
    assert_eq!(changes(&methods), 0, "{methods:?}");
    wire.assert_quiet().await;
}

#[tokio::test]
async fn an_answer_that_waits_for_room_can_still_be_cancelled() {
    let gate = Gate::new();
    let live = server(&gate);
    let mut wire = Wire::open(&live);
    let id = wire.ask_tool("wait", json!({})).await;
    gate.arrived(1).await;
    wire.ask(
        "tools/call",
        json!({ "name": "flood", "_meta": { "progressToken": 1 } }),
    )
    .await;
    wire.ask_tool("wait", json!({})).await;
    gate.arrived(1).await;
    gate.open(1); // The first has passed, but there is no space for its answer.
    wire.cancel(&json!(id)).await;
    mark(&mut wire, &gate).await;
    gate.open(2);
    let mut answered = Vec::new();
    while answered.len() < 3 {
        let message = wire.receive().await;
        if message.get("method").is_none() {
            answered.push(message["id"].clone());
        }
    }
    // Whether it was cancelled in time varies, but it is never answered twice.
    let times = answered
        .iter()
        .filter(|answer| **answer == json!(id))
        .count();
    assert!(times <= 1, "{answered:?}");
    let unique: std::collections::HashSet<String> = answered.iter().map(Value::to_string).collect();
    assert_eq!(unique.len(), answered.len());
}

#[tokio::test]
async fn a_peer_that_never_reads_can_hang_up() {
    let gate = Gate::new();
    let live = server(&gate);
    let mut wire = Wire::at(&live, Revision::V2025_11_25).await;
    flood(&mut wire, &gate).await;
    live.catalog()
        .add_tool(Tool::new("more", async || ""))
        .expect("a tool");
    wire.hang_up().await;
    gate.dropped(1).await;
}

#[tokio::test]
async fn a_handler_that_has_much_to_say_waits_for_its_reader() {
    let said = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&said);
    let endless = move |progress: Progress| {
        let said = Arc::clone(&counted);
        async move {
            for step in 0..10_000_u32 {
                progress
                    .report(f64::from(step), None, Some("x".repeat(1024)))
                    .await;
                said.fetch_add(1, Ordering::Relaxed);
            }
            "said"
        }
    };
    let gate = Gate::new();
    let limits = Limits::default().with_outbox_high_water_bytes(16 * 1024);
    let live = gate
        .server()
        .limits(limits)
        .rates(Rates::default().with_progress(Rate::UNLIMITED))
        .tool(Tool::new("endless", endless))
        .build();
    let mut wire = Wire::open(&live.expect("a server"));
    wire.ask(
        "tools/call",
        json!({ "name": "endless", "_meta": { "progressToken": 1 } }),
    )
    .await;
    mark(&mut wire, &gate).await;
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    // The pipe, the outbox, and the messages between them: a kilobyte each.
    let kept = said.load(Ordering::Relaxed);
    assert!(
        (64..300).contains(&kept),
        "{kept} messages are kept for a peer that does not read"
    );
    gate.open(1);
    let mut steps = 0;
    loop {
        let message = wire.receive().await;
        if message["result"]["content"][0]["text"] == "said" {
            break;
        }
        steps += usize::from(message["method"] == "notifications/progress");
    }
    assert_eq!(steps, 10_000, "and nothing was lost");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_asks_and_does_not_read_is_not_listened_to() {
    let large = async || "x".repeat(10_000);
    let limits = Limits::default().with_outbox_high_water_bytes(16 * 1024);
    let live = Server::new("s", "1")
        .limits(limits)
        .tool(Tool::new("large", large))
        .build();
    let mut wire = Wire::open(&live.expect("a server"));
    let mut asked = 0;
    // The clock is paused, so a timeout means that nothing else can continue.
    while tokio::time::timeout(Duration::from_secs(1), wire.ask_tool("large", json!({})))
        .await
        .is_ok()
    {
        asked += 1;
        assert!(asked < 10_000, "the server takes requests without end");
    }
    for _ in 0..asked {
        assert_eq!(wire.receive().await["result"]["content"][0]["type"], "text");
    }
}
