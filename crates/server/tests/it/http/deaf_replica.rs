//! A replica that receives nothing for a while, as if its connection to Redis were interrupted: it
//! gets the messages of others when it is back. And a store that cannot be reached at all.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use turnbuckle_protocol::Revision;
use turnbuckle_server::Tool;
use turnbuckle_store::{
    BoxFuture, JoinGuard, MemoryReplicas, ReplicaStores, StateClaim, StateUse, StoreError,
    UsedStates,
    bus::{Bus, Delivery, Inbox, NodeId, Recipient},
};

use super::{
    ask::{Ask, call, notice},
    asks::book,
    site::{Session, Site},
};
use crate::gate::Gate;

const SECRET: [u8; 32] = [7; 32];

/// A bus that delivers nothing while it is silent, and on which no replica seems to have ended.
struct SilentAtTimes {
    bus: Arc<dyn Bus>,
    is_silent: Arc<AtomicBool>,
}

impl Bus for SilentAtTimes {
    fn join(&self, node: NodeId, inbox: Inbox) -> JoinGuard {
        let is_silent = Arc::clone(&self.is_silent);
        let inbox: Inbox = Arc::new(move |message| {
            if !is_silent.load(Ordering::Relaxed) {
                inbox(message);
            }
        });
        self.bus.join(node, inbox)
    }

    fn ready(&self, node: NodeId) -> BoxFuture<'_, ()> {
        self.bus.ready(node)
    }

    fn left(&self, node: NodeId) -> BoxFuture<'_, ()> {
        self.bus.left(node)
    }

    fn send(&self, to: Recipient, message: Vec<u8>) -> BoxFuture<'_, Result<Delivery, StoreError>> {
        self.bus.send(to, message)
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.bus.nodes()
    }

    fn is_gone(&self, node: NodeId) -> bool {
        self.bus.is_gone(node)
    }
}

/// A store of used states that cannot be reached.
struct Unreachable;

impl UsedStates for Unreachable {
    fn claim<'a>(&'a self, _: StateUse<'a>) -> BoxFuture<'a, Result<StateClaim, StoreError>> {
        Box::pin(async { Err(StoreError::new("test", "it is away, at 10.0.0.7")) })
    }
}

async fn replica(stores: &ReplicaStores) -> Site {
    let gate = Gate::new();
    let server = gate
        .server()
        .tool(Tool::new("book", book))
        .replicas(stores.clone())
        .secret(&SECRET);
    Site::serving(server, gate, |http| http).await
}

/// Two replicas, and a flag that interrupts the messages between them.
async fn replicas() -> (Site, Site, Arc<AtomicBool>) {
    let is_silent = Arc::new(AtomicBool::new(false));
    let mut stores = ReplicaStores::from(MemoryReplicas::default());
    stores.bus = Arc::new(SilentAtTimes {
        bus: stores.bus,
        is_silent: Arc::clone(&is_silent),
    });
    (replica(&stores).await, replica(&stores).await, is_silent)
}

fn moved(session: &Session, to: &Site) -> Session {
    Session {
        address: to.address,
        ..session.clone()
    }
}

#[tokio::test]
async fn the_end_of_a_session_reaches_a_replica_that_was_deaf() {
    let (here, there, is_silent) = replicas().await;
    let session = Session::open(&here, Revision::V2025_11_25).await;
    let elsewhere = moved(&session, &there);
    assert_eq!(elsewhere.post(call(1, "now")).await.status(), 200);
    is_silent.store(true, Ordering::Relaxed);
    let ended = session.ask(Ask::new("DELETE", "/mcp")).await;
    assert_eq!(ended.status(), 204);
    assert_eq!(elsewhere.post(call(2, "now")).await.status(), 200);
    is_silent.store(false, Ordering::Relaxed);
    let known = tokio::time::timeout(Duration::from_secs(20), async {
        while elsewhere.post(call(3, "now")).await.status() != 404 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    known.await.expect("the end is known there");
}

#[tokio::test]
async fn a_cancellation_reaches_a_replica_that_was_deaf() {
    let (here, there, is_silent) = replicas().await;
    let session = Session::open(&here, Revision::V2025_06_18).await;
    let mut running = session.send(call(7, "wait")).await;
    here.gate.arrived(1).await;
    is_silent.store(true, Ordering::Relaxed);
    let cancel = notice("notifications/cancelled", json!({ "requestId": 7 }));
    assert_eq!(moved(&session, &there).post(cancel).await.status(), 202);
    is_silent.store(false, Ordering::Relaxed);
    here.gate.dropped(1).await;
    running.answer().await;
}

#[tokio::test]
async fn a_round_that_cannot_be_looked_up_says_to_try_again() {
    let mut stores = ReplicaStores::from(MemoryReplicas::default());
    stores.used_states = Arc::new(Unreachable);
    let site = replica(&stores).await;
    let round = |more: serde_json::Value| {
        let mut params = json!({ "name": "book", "arguments": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        } });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        Ask::call("book", json!({})).body(message.to_string())
    };
    let first = site.ask(round(json!({}))).await.json();
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let second = site.ask(round(json!({
        "inputResponses": { "seat": { "action": "accept", "content": { "row": 7 } } },
        "requestState": first["result"]["requestState"],
    })));
    let second = second.await.json();
    let told = second["error"]["message"].as_str().unwrap_or_default();
    assert!(told.contains("try again"), "{second}");
    assert!(!told.contains("10.0.0.7"), "{second}");
}
