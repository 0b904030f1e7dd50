//! Who is notified that a resource has changed, in every revision, and what happens to slow
//! clients.

use serde_json::{Value, json};
use turnbuckle_protocol::{Revision, error::code};
use turnbuckle_server::{Caller, Changes, LiveServer, Resource, Server, Tool};
use turnbuckle_store::LocalFanout;

use crate::wire::Wire;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const UPDATED: &str = "notifications/resources/updated";

fn library() -> Server {
    Server::new("s", "1")
        .tool(Tool::new("tool", async || ""))
        .resource(Resource::new("r://one", async || "1"))
        .resource(Resource::new("r://two", async || "2"))
        .resource(Resource::new("page://{number}", async || "page"))
        .resource(
            Resource::new("secret://it", async || "hush")
                .visible(|caller| caller.id() == Some("ann")),
        )
}

fn live() -> LiveServer {
    library().build().expect("a server")
}

/// Subscribes to a resource as the revision defines, and returns the id with which notifications
/// are tagged, if they are.
async fn subscribe(wire: &mut Wire, revision: Revision, uri: &str) -> Value {
    if !revision.is_modern() {
        let result = wire
            .result("resources/subscribe", json!({ "uri": uri }))
            .await;
        assert_eq!(result, json!({}));
        return Value::Null;
    }
    let (id, granted) = listen(wire, json!({ "resourceSubscriptions": [uri] })).await;
    assert_eq!(granted, json!({ "resourceSubscriptions": [uri] }));
    id
}

async fn listen(wire: &mut Wire, filter: Value) -> (Value, Value) {
    let params = json!({ "notifications": filter });
    let id = json!(wire.ask("subscriptions/listen", params).await);
    let mut first = wire.receive().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"], json!({ SUBSCRIPTION: id }));
    (id, first["params"]["notifications"].take())
}

fn updated(uri: &str, id: &Value) -> Value {
    let params = match id {
        Value::Null => json!({ "uri": uri }),
        id => json!({ "uri": uri, "_meta": { SUBSCRIPTION: id } }),
    };
    json!({ "jsonrpc": "2.0", "method": UPDATED, "params": params })
}

#[tokio::test]
async fn only_subscribers_are_notified_of_a_change() {
    for &revision in Revision::ALL {
        let live = live();
        let mut wire = Wire::at(&live, revision).await;
        let mut other = Wire::at(&live, revision).await;
        for uri in ["r://one", "page://7"] {
            let id = subscribe(&mut wire, revision, uri).await;
            live.changes().resource("r://two");
            live.changes().resource("page://8");
            live.changes().resource(uri);
            assert_eq!(wire.receive().await, updated(uri, &id), "{revision}");
        }
        wire.assert_quiet().await;
        other.assert_quiet().await;
    }
}

// rule: RS1
#[tokio::test]
async fn the_capability_is_there_where_resources_are() {
    for &revision in Revision::LEGACY {
        let mut wire = Wire::open(&live());
        let declared = wire.initialize(revision.as_str()).await;
        assert_eq!(declared["capabilities"]["resources"]["subscribe"], true);
        let bare = Server::new("s", "1").build().expect("a server");
        let mut wire = Wire::at(&bare, revision).await;
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            let refused = wire.code(method, json!({ "uri": "r://one" })).await;
            assert_eq!(refused, code::METHOD_NOT_FOUND);
        }
    }
    let mut wire = Wire::open(&live());
    let discovered = wire.result("server/discover", json!({})).await;
    assert_eq!(discovered["capabilities"]["resources"]["subscribe"], true);
    // 2026-07-28 has `subscriptions/listen` instead.
    let refused = wire.code("resources/subscribe", json!({ "uri": "r://one" }));
    assert_eq!(refused.await, code::METHOD_NOT_FOUND);
}

// rule: RS10
#[tokio::test]
async fn what_is_not_there_or_not_to_be_seen_cannot_be_subscribed_to() {
    for &revision in Revision::LEGACY {
        let mut wire = Wire::at(&live(), revision).await;
        for uri in ["r://three", "secret://it"] {
            let refused = wire
                .code("resources/subscribe", json!({ "uri": uri }))
                .await;
            assert_eq!(refused, code::RESOURCE_NOT_FOUND);
        }
        for params in [json!({}), json!({ "uri": 5 })] {
            let refused = wire.code("resources/subscribe", params).await;
            assert_eq!(refused, code::INVALID_PARAMS);
        }
    }
    // subscriptions: the acknowledgement omits unsupported parts.
    let wish =
        json!({ "resourceSubscriptions": ["r://one", "r://three", "secret://it", "r://one"] });
    let (_, granted) = listen(&mut Wire::open(&live()), wish.clone()).await;
    assert_eq!(granted, json!({ "resourceSubscriptions": ["r://one"] }));
    let mut ann = Wire::open_as(&live(), Caller::new("ann"));
    let (_, granted) = listen(&mut ann, wish).await;
    let seen = json!({ "resourceSubscriptions": ["r://one", "secret://it"] });
    assert_eq!(granted, seen);
    let nothing = json!({ "resourceSubscriptions": ["r://three"] });
    let (_, granted) = listen(&mut Wire::open(&live()), nothing).await;
    assert_eq!(granted, json!({}));
}

#[tokio::test]
async fn after_unsubscribing_no_notification_comes() {
    for &revision in Revision::LEGACY {
        let live = live();
        let mut wire = Wire::at(&live, revision).await;
        for uri in ["r://one", "r://one", "r://two"] {
            subscribe(&mut wire, revision, uri).await;
        }
        // Unsubscribing without a subscription, or from an unknown resource, changes nothing.
        for uri in ["r://one", "r://one", "r://three"] {
            let params = json!({ "uri": uri });
            assert_eq!(
                wire.result("resources/unsubscribe", params).await,
                json!({})
            );
        }
        live.changes().resource("r://one");
        live.changes().resource("r://two");
        assert_eq!(wire.receive().await, updated("r://two", &Value::Null));
        wire.assert_quiet().await;
    }
}

#[tokio::test]
async fn a_session_that_subscribes_early_is_told_once_it_is_ready() {
    // lifecycle: before `initialized` the server SHOULD send nothing but pings and logs.
    let live = live();
    let mut wire = Wire::open(&live);
    wire.initialize("2025-11-25").await;
    subscribe(&mut wire, Revision::V2025_11_25, "r://one").await;
    live.changes().resource("r://one");
    wire.assert_quiet().await;
    wire.notify("notifications/initialized", Value::Null).await;
    assert_eq!(wire.receive().await, updated("r://one", &Value::Null));
}

#[tokio::test]
async fn a_handler_says_that_something_changed() {
    let server = library().tool(Tool::new("touch", async |changes: Changes| {
        changes.resource("r://one");
        changes.tools();
    }));
    let live = server.build().expect("a server");
    let mut wire = Wire::open(&live);
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["r://one"] });
    listen(&mut wire, filter).await;
    let mut other = Wire::open(&live);
    other.ask_tool("touch", json!({})).await;
    assert_eq!(wire.receive().await["method"], UPDATED);
    let list = wire.receive().await;
    assert_eq!(list["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn everything_is_all_that_one_listens_to() {
    let live = live();
    let mut wire = Wire::open(&live);
    let filter = json!({ "resourcesListChanged": true, "resourceSubscriptions": ["r://two"] });
    listen(&mut wire, filter).await;
    live.changes().everything();
    let mut told: Vec<_> = wire.receive_many(2).await;
    told.sort_by_key(|message| message["method"].to_string());
    assert_eq!(told[0]["method"], "notifications/resources/list_changed");
    assert_eq!(told[1]["params"]["uri"], "r://two");
    wire.assert_quiet().await;
}

#[tokio::test]
async fn replicas_that_share_a_fanout_hear_of_each_other() {
    let fanout = LocalFanout::default();
    let replica = || library().fanout(fanout.clone()).build().expect("a server");
    let (one, other) = (replica(), replica());
    for revision in [Revision::V2025_06_18, Revision::LATEST] {
        let mut wire = Wire::at(&one, revision).await;
        let id = subscribe(&mut wire, revision, "r://one").await;
        other.changes().resource("r://one");
        assert_eq!(wire.receive().await, updated("r://one", &id));
    }
    drop(other);
    // A server that has been dropped leaves nothing behind.
    let mut wire = Wire::open(&one);
    let id = subscribe(&mut wire, Revision::LATEST, "r://one").await;
    one.changes().resource("r://one");
    assert_eq!(wire.receive().await, updated("r://one", &id));
}

#[tokio::test]
async fn there_is_a_limit_to_what_one_can_subscribe_to() {
    let live = live();
    let uris: Vec<_> = (0..1001).map(|number| format!("page://{number}")).collect();
    let mut wire = Wire::open(&live);
    let listen_to = |uris: &[String]| json!({ "notifications": { "resourceSubscriptions": uris } });
    let refused = wire.code("subscriptions/listen", listen_to(&uris)).await;
    assert_eq!(refused, code::INVALID_PARAMS);
    let long: Vec<_> = (0..100)
        .map(|number| format!("page://{number}{}", "x".repeat(1400)))
        .collect();
    let refused = wire.code("subscriptions/listen", listen_to(&long)).await;
    assert_eq!(refused, code::INVALID_PARAMS);
    wire.ask("subscriptions/listen", listen_to(&uris[..1000]))
        .await;
    let granted = wire.receive().await["params"]["notifications"].take();
    assert_eq!(
        granted["resourceSubscriptions"]
            .as_array()
            .expect("uris")
            .len(),
        1000
    );

    let mut session = Wire::at(&live, Revision::V2025_11_25).await;
    for uri in &uris[..1000] {
        subscribe(&mut session, Revision::V2025_11_25, uri).await;
    }
    let refused = session.code("resources/subscribe", json!({ "uri": uris[1000] }));
    assert_eq!(refused.await, code::INVALID_PARAMS);
    session
        .result("resources/unsubscribe", json!({ "uri": uris[0] }))
        .await;
    subscribe(&mut session, Revision::V2025_11_25, &uris[1000]).await;
}

#[tokio::test]
async fn a_slow_listener_gets_each_change_once_and_delays_no_one() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let live = live();
        let mut slow = Wire::at(&live, revision).await;
        let first = subscribe(&mut slow, revision, "r://one").await;
        let second = subscribe(&mut slow, revision, "r://two").await;
        let mut quick = Wire::at(&live, revision).await;
        let other = subscribe(&mut quick, revision, "r://two").await;
        // Far more than the pipe and the outbox hold.
        for _ in 0..50_000 {
            live.changes().resource("r://one");
        }
        live.changes().resource("r://two");
        assert_eq!(quick.receive().await, updated("r://two", &other));
        let mut count = 0;
        loop {
            let told = slow.receive().await;
            if told == updated("r://two", &second) {
                break;
            }
            assert_eq!(told, updated("r://one", &first));
            count += 1;
        }
        assert!(count < 50_000, "changes were folded: {count}");
        // Nothing is lost: the last change is reported, however many came before.
        live.changes().resource("r://one");
        assert_eq!(slow.receive().await, updated("r://one", &first));
        slow.assert_quiet().await;
    }
}

// rule: PC4, U2
#[tokio::test]
async fn a_subscription_that_ends_with_the_input_is_called_off_and_answered() {
    // cancellation: a server MUST send `cancelled` for a subscription that it ends; subscriptions:
    // it SHOULD answer the request.
    let mut wire = Wire::open(&live());
    let (id, _) = listen(&mut wire, json!({ "toolsListChanged": true })).await;
    let (other, _) = listen(&mut wire, json!({ "promptsListChanged": true })).await;
    wire.cancel(&json!(other)).await;
    wire.result("tools/list", json!({})).await;
    // Requests that have ended or that the client cancelled are not cancelled by the server: only
    // the first is.
    wire.end_input().await;
    let cancelled = wire.receive().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], id);
    let last = wire.receive().await;
    assert_eq!(last["id"], id);
    assert_eq!(last["result"]["_meta"], json!({ SUBSCRIPTION: id }));
}
