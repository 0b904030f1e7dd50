//! Many calls at once on one connection.

use std::collections::HashSet;

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Args, LiveServer, Server, Tool};

use crate::{gate::Gate, wire::Wire};

/// How many requests of one peer are served at once.
const LIMIT: u32 = 1024;

// rule: T3
#[tokio::test]
async fn as_many_calls_run_at_once_as_may_and_each_is_answered() {
    let gate = Gate::new();
    let mut wire = Wire::at(&gate.live(), Revision::V2025_11_25).await;
    let mut asked = HashSet::new();
    for _ in 0..LIMIT {
        asked.insert(wire.ask_tool("wait", json!({})).await);
    }
    // All of them are at the gate: none of them waits for another.
    gate.arrived(LIMIT).await;
    for method in ["tools/call", "tools/list", "no/such"] {
        let refused = wire.error(method, json!({ "name": "wait" })).await;
        assert_eq!(refused["code"], -32600);
        let message = refused["message"].as_str().expect("a message");
        assert!(message.contains("1024 requests are in flight"), "{message}");
    }
    assert_eq!(gate.count_arrived(), 0, "the refused call did not run");
    // ping: the receiver MUST respond promptly.
    assert_eq!(wire.result("ping", json!({})).await, json!({}));
    gate.open(1);
    assert!(asked.remove(&wire.receive().await["id"].as_i64().expect("a number")));
    asked.insert(wire.ask_tool("wait", json!({})).await);
    gate.arrived(1).await;
    gate.open(LIMIT as usize);
    for answer in wire.receive_many(LIMIT as usize).await {
        assert_eq!(answer["result"]["content"][0]["text"], "passed");
        assert!(
            asked.remove(&answer["id"].as_i64().expect("a number")),
            "{answer}"
        );
    }
    assert!(asked.is_empty());
    wire.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_one_connection_does_not_limit_another() {
    let gate = Gate::new();
    let live = gate.live();
    let mut full = Wire::open(&live);
    for _ in 0..LIMIT {
        full.ask_tool("wait", json!({})).await;
    }
    gate.arrived(LIMIT).await;
    let mut other = Wire::open(&live);
    assert_eq!(other.text("now", json!({})).await, "now");
    full.hang_up().await;
    gate.dropped(LIMIT).await;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Turn {
    turns: u32,
}

/// Yields to other tasks this many times.
async fn turn(Args(Turn { turns }): Args<Turn>) -> u32 {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    turns
}

fn turning() -> LiveServer {
    Server::new("s", "1")
        .tool(Tool::new("turn", turn))
        .build()
        .expect("a server")
}

/// Reuses ids as soon as they are answered, while the server runs on other threads.
async fn ids_are_used_again_at_once(live: LiveServer) {
    let mut wire = Wire::open(&live);
    for round in 0..300_u32 {
        let params = json!({ "name": "turn", "arguments": { "turns": round % 3 } });
        wire.ask_with(json!("same"), "tools/call", params).await;
        let answer = wire.receive().await;
        assert!(answer.get("result").is_some(), "round {round}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_id_is_free_as_soon_as_its_answer_is_read() {
    let live = turning();
    let peers: Vec<_> = (0..8)
        .map(|_| tokio::spawn(ids_are_used_again_at_once(live.clone())))
        .collect();
    for peer in peers {
        peer.await.expect("no peer was refused");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_peers_at_once_each_get_their_own_answers() {
    let live = turning();
    let mut peers = Vec::new();
    for peer in 0..16_u32 {
        let live = live.clone();
        peers.push(tokio::spawn(async move {
            let mut wire = Wire::open(&live);
            for number in 0..100_u32 {
                let arguments = json!({ "turns": peer + number % 4 });
                wire.ask_with(
                    json!(number),
                    "tools/call",
                    json!({ "name": "turn", "arguments": arguments }),
                )
                .await;
            }
            for answer in wire.receive_many(100).await {
                let number = answer["id"].as_u64().expect("a number");
                let text = (u64::from(peer) + number % 4).to_string();
                assert_eq!(answer["result"]["content"][0]["text"], Value::from(text));
            }
        }));
    }
    for peer in peers {
        peer.await.expect("no peer was mistaken");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_catalog_that_changes_under_load_is_always_whole() {
    let live = turning();
    let changing = {
        let catalog = live.catalog();
        tokio::task::spawn_blocking(move || {
            for round in 0..500 {
                let name = format!("tool-{round}");
                catalog
                    .add_tool(Tool::new(name.clone(), async || ""))
                    .expect("a tool");
                assert!(catalog.remove_tool(&name));
            }
        })
    };
    let mut wire = Wire::open(&live);
    while !changing.is_finished() {
        let tools = wire.result("tools/list", json!({})).await;
        let count = tools["tools"].as_array().map_or(0, Vec::len);
        assert!((1..=2).contains(&count), "{tools}");
    }
    changing.await.expect("every change was made");
}
