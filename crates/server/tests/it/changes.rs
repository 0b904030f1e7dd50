//! Who is notified that a list has changed: legacy sessions and `subscriptions/listen`.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Catalog, LiveServer, Prompt, Resource, Server, Tool};

use crate::wire::Wire;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn one_of_each() -> LiveServer {
    Server::new("s", "1")
        .tool(Tool::new("tool", async || ""))
        .prompt(Prompt::new("prompt", async || ""))
        .resource(Resource::new("r://it", async || ""))
        .build()
        .expect("a server")
}

/// How many changes [`change`] can make.
const CHANGES: usize = 6;

/// Makes one change, and returns the notification that must follow.
fn change(catalog: &Catalog, step: usize) -> &'static str {
    match step {
        0 => catalog
            .add_tool(Tool::new("more", async || ""))
            .expect("a tool"),
        1 => catalog
            .add_prompt(Prompt::new("more", async || ""))
            .expect("a prompt"),
        2 => catalog
            .add_resource(Resource::new("more://{x}", async || ""))
            .expect("a resource"),
        3 => assert!(catalog.remove_tool("more")),
        4 => assert!(catalog.remove_prompt("more")),
        _ => assert!(catalog.remove_resource("more://{x}")),
    }
    [TOOLS, PROMPTS, RESOURCES][step % 3]
}

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";

// rule: T2, V4
#[tokio::test]
async fn a_session_hears_of_every_list_once_it_is_initialized() {
    // lifecycle: before `initialized` the server SHOULD send nothing but pings and logs.
    for &revision in Revision::LEGACY {
        let live = one_of_each();
        let mut wire = Wire::open(&live);
        let declared = wire.initialize(revision.as_str()).await;
        for list in ["tools", "prompts", "resources"] {
            assert_eq!(declared["capabilities"][list]["listChanged"], true);
        }
        let catalog = live.catalog();
        for step in 0..CHANGES {
            change(&catalog, step);
        }
        wire.assert_quiet().await;
        wire.notify("notifications/initialized", Value::Null).await;
        wire.result("ping", json!({})).await;
        for step in 0..CHANGES {
            // One at a time, so that no two changes are combined.
            let method = change(&catalog, step);
            assert_eq!(
                wire.receive().await,
                json!({ "jsonrpc": "2.0", "method": method })
            );
        }
        // No notification is sent if nothing changed.
        assert!(!catalog.remove_tool("never"));
        assert!(catalog.add_tool(Tool::new("tool", async || "")).is_err());
        assert!(
            catalog
                .add_tool(Tool::new("not a name", async || ""))
                .is_err()
        );
        wire.assert_quiet().await;
    }
}

#[tokio::test]
async fn a_session_hears_only_of_lists_that_it_was_promised() {
    // lifecycle: both sides MUST stay within the capabilities that were negotiated.
    let live = Server::new("s", "1")
        .tool(Tool::new("tool", async || ""))
        .build()
        .expect("a server");
    let mut early = Wire::at(&live, Revision::V2025_11_25).await;
    early.result("ping", json!({})).await;
    live.catalog()
        .add_prompt(Prompt::new("late", async || ""))
        .expect("a prompt");
    let mut late = Wire::at(&live, Revision::V2025_11_25).await;
    late.result("ping", json!({})).await;
    assert!(live.catalog().remove_prompt("late"));
    assert_eq!(late.receive().await["method"], PROMPTS);
    early.assert_quiet().await;
    live.catalog()
        .add_tool(Tool::new("more", async || ""))
        .expect("a tool");
    assert_eq!(early.receive().await["method"], TOOLS);
}

async fn listen(wire: &mut Wire, filter: Value) -> (i64, Value) {
    let id = wire
        .ask("subscriptions/listen", json!({ "notifications": filter }))
        .await;
    let mut acknowledged = wire.receive().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(acknowledged["params"]["_meta"], json!({ SUBSCRIPTION: id }));
    (id, acknowledged["params"]["notifications"].take())
}

// rule: U1
#[tokio::test]
async fn a_subscription_is_acknowledged_first_and_hears_what_it_asked_for() {
    // subscriptions: the acknowledgement MUST come first; nothing that was not asked for is sent.
    let filters = [
        (json!({ "toolsListChanged": true }), Some(TOOLS)),
        (
            json!({ "promptsListChanged": true, "toolsListChanged": false }),
            Some(PROMPTS),
        ),
        (json!({ "resourcesListChanged": true }), Some(RESOURCES)),
        (json!({}), None),
    ];
    for (filter, expected) in filters {
        let live = one_of_each();
        let mut wire = Wire::open(&live);
        let (id, _) = listen(&mut wire, filter).await;
        for step in 0..CHANGES {
            let method = change(&live.catalog(), step);
            if expected == Some(method) {
                let told = wire.receive().await;
                assert_eq!(told["method"], method);
                assert_eq!(told["params"], json!({ "_meta": { SUBSCRIPTION: id } }));
            }
            wire.assert_quiet().await;
        }
    }
}

// rule: U1
#[tokio::test]
async fn the_acknowledgement_names_what_will_be_told_and_no_more() {
    let wish = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": false,
        "resourceSubscriptions": ["r://it"],
        "taskIds": ["t"],
    });
    let mut wire = Wire::open(&one_of_each());
    let (_, granted) = listen(&mut wire, wish.clone()).await;
    assert_eq!(
        granted,
        json!({
            "toolsListChanged": true,
            "promptsListChanged": true,
            "resourceSubscriptions": ["r://it"],
        })
    );
    let few = Server::new("s", "1")
        .prompt(Prompt::new("p", async || ""))
        .build()
        .expect("a server");
    let (_, granted) = listen(&mut Wire::open(&few), wish).await;
    assert_eq!(granted, json!({ "promptsListChanged": true }));
}

#[tokio::test]
async fn several_subscriptions_and_a_session_are_each_told_for_themselves() {
    let live = one_of_each();
    let mut wire = Wire::at(&live, Revision::V2025_06_18).await;
    wire.speak(Revision::LATEST);
    let (first, _) = listen(&mut wire, json!({ "toolsListChanged": true })).await;
    let (second, _) = listen(&mut wire, json!({ "toolsListChanged": true })).await;
    let (_, _) = listen(&mut wire, json!({ "promptsListChanged": true })).await;
    live.catalog()
        .add_tool(Tool::new("m", async || ""))
        .expect("a tool");
    let mut told: Vec<Value> = Vec::new();
    for notification in wire.receive_many(3).await {
        assert_eq!(notification["method"], TOOLS);
        told.push(notification["params"]["_meta"][SUBSCRIPTION].clone());
    }
    told.sort_by_key(Value::as_i64);
    assert_eq!(told, [Value::Null, json!(first), json!(second)]);
    wire.assert_quiet().await;
}

#[tokio::test]
async fn a_cancelled_subscription_hears_nothing_more_and_its_id_is_free() {
    let live = one_of_each();
    let mut wire = Wire::open(&live);
    let (id, _) = listen(&mut wire, json!({ "toolsListChanged": true })).await;
    let (other, _) = listen(&mut wire, json!({ "toolsListChanged": true })).await;
    wire.cancel(&json!(id)).await;
    wire.assert_quiet().await;
    live.catalog()
        .add_tool(Tool::new("m", async || ""))
        .expect("a tool");
    assert_eq!(wire.receive().await["params"]["_meta"][SUBSCRIPTION], other);
    wire.assert_quiet().await;
    wire.ask_with(
        json!(id),
        "subscriptions/listen",
        json!({ "notifications": {} }),
    )
    .await;
    assert_eq!(wire.receive().await["params"]["_meta"][SUBSCRIPTION], id);
}

#[tokio::test]
async fn any_id_can_name_a_subscription() {
    let live = one_of_each();
    for id in [
        "\"text\"",
        "0",
        "18446744073709551615",
        "123456789012345678901234567890",
    ] {
        let mut wire = Wire::open(&live);
        let meta = crate::wire::modern_meta();
        let params = json!({ "notifications": { "toolsListChanged": true }, "_meta": meta });
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{params}}}"#
        );
        wire.send_bytes(format!("{request}\n").as_bytes()).await;
        let named = format!(r#""_meta":{{"{SUBSCRIPTION}":{id}}}"#);
        let acknowledged = wire.next_line().await.expect("an acknowledgement");
        assert!(acknowledged.contains(&named), "{acknowledged}");
        live.catalog()
            .add_tool(Tool::new("m", async || ""))
            .expect("a tool");
        let told = wire.next_line().await.expect("a notification");
        assert!(told.contains(&named), "{told}");
        assert!(live.catalog().remove_tool("m"));
    }
}

#[tokio::test]
async fn a_broken_wish_is_refused() {
    let mut wire = Wire::open(&one_of_each());
    for params in [
        json!({}),
        json!({ "notifications": null }),
        json!({ "notifications": [] }),
        json!({ "notifications": { "toolsListChanged": "yes" } }),
    ] {
        assert_eq!(
            wire.code("subscriptions/listen", params.clone()).await,
            -32602,
            "{params}"
        );
    }
}

// rule: T2
#[tokio::test]
async fn clients_that_did_not_ask_are_not_notified() {
    let live = one_of_each();
    let mut silent = Wire::open(&live);
    silent.result("tools/list", json!({})).await;
    let mut asked = Wire::open(&live);
    listen(&mut asked, json!({ "toolsListChanged": true })).await;
    change(&live.catalog(), 0);
    assert_eq!(asked.receive().await["method"], TOOLS);
    silent.assert_quiet().await;
}

#[tokio::test]
async fn a_change_from_another_thread_outside_the_runtime_is_told() {
    let live = one_of_each();
    let mut wire = Wire::open(&live);
    listen(&mut wire, json!({ "toolsListChanged": true })).await;
    let catalog = live.catalog();
    let thread = std::thread::spawn(move || catalog.add_tool(Tool::new("m", async || "")));
    assert_eq!(wire.receive().await["method"], TOOLS);
    thread.join().expect("no panic").expect("a tool");
}
