//! Several changes of the catalog at once, replacing tools, and disabling and enabling them.

use serde_json::json;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{LiveServer, Prompt, Resource, Server, SetupError, Tool};

use crate::wire::Wire;

fn server() -> LiveServer {
    Server::new("s", "1")
        .tool(Tool::new("one", async || "old one"))
        .tool(Tool::new("two", async || "old two"))
        .tool(Tool::new("three", async || "old three"))
        .build()
        .expect("a server")
}

async fn listed(wire: &mut Wire, list: &str, key: &str) -> Vec<String> {
    let result = wire.result(&format!("{list}/list"), json!({})).await;
    let entries = result[list].as_array().expect("a list");
    entries
        .iter()
        .map(|entry| entry[key].as_str().expect("a name").to_owned())
        .collect()
}

async fn said(wire: &mut Wire, tool: &str) -> String {
    let result = wire
        .result("tools/call", json!({ "name": tool, "arguments": {} }))
        .await;
    result["content"][0]["text"]
        .as_str()
        .expect("text")
        .to_owned()
}

#[tokio::test]
async fn several_changes_are_told_once_for_each_list() {
    let live = server();
    let catalog = live.catalog();
    let mut wire = Wire::at(&live, Revision::LATEST_LEGACY).await;
    wire.result("ping", json!({})).await;
    catalog
        .edit()
        .remove_tool("one")
        .replace_tool(Tool::new("two", async || "new two"))
        .add_tool(Tool::new("four", async || "new four"))
        .add_resource(Resource::new("r://it", async || ""))
        .remove_prompt("never")
        .apply()
        .expect("all of them can be made");
    let mut told = [
        wire.receive().await["method"].to_string(),
        wire.receive().await["method"].to_string(),
    ];
    told.sort();
    assert_eq!(
        told,
        [
            "\"notifications/resources/list_changed\"",
            "\"notifications/tools/list_changed\""
        ]
    );
    wire.assert_quiet().await;
    assert_eq!(
        listed(&mut wire, "tools", "name").await,
        ["two", "three", "four"]
    );
    assert_eq!(said(&mut wire, "two").await, "new two");
}

#[tokio::test]
async fn an_edit_with_a_mistake_changes_nothing() {
    let live = server();
    let catalog = live.catalog();
    let mut wire = Wire::at(&live, Revision::LATEST_LEGACY).await;
    wire.result("ping", json!({})).await;
    let taken = catalog
        .edit()
        .remove_tool("one")
        .add_tool(Tool::new("two", async || ""))
        .apply();
    assert!(
        matches!(taken, Err(SetupError::Duplicate { .. })),
        "{taken:?}"
    );
    let wrong = catalog
        .edit()
        .remove_tool("one")
        .add_tool(Tool::new("not a name", async || ""))
        .add_tool(Tool::new("two", async || ""))
        .apply();
    assert!(
        matches!(wrong, Err(SetupError::Invalid { .. })),
        "{wrong:?}"
    );
    wire.assert_quiet().await;
    assert_eq!(
        listed(&mut wire, "tools", "name").await,
        ["one", "two", "three"]
    );
}

#[tokio::test]
async fn a_replaced_entry_keeps_its_place_and_is_told_once() {
    let live = server();
    let catalog = live.catalog();
    catalog
        .add_prompt(Prompt::new("greet", async || "hello"))
        .expect("a prompt");
    let mut wire = Wire::at(&live, Revision::LATEST_LEGACY).await;
    wire.result("ping", json!({})).await;
    catalog
        .replace_tool(Tool::new("one", async || "new one").about("New."))
        .expect("a tool");
    assert_eq!(
        wire.receive().await["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(
        listed(&mut wire, "tools", "name").await,
        ["one", "two", "three"]
    );
    assert_eq!(said(&mut wire, "one").await, "new one");
    catalog
        .replace_prompt(Prompt::new("greet", async || "good evening"))
        .expect("a prompt");
    assert_eq!(
        wire.receive().await["method"],
        "notifications/prompts/list_changed"
    );
    let got = wire.result("prompts/get", json!({ "name": "greet" })).await;
    assert_eq!(got["messages"][0]["content"]["text"], "good evening");
    // An entry that does not exist yet is added.
    for text in ["first", "second"] {
        catalog
            .replace_resource(Resource::new("r://it", move || async move { text }))
            .expect("a resource");
        wire.receive().await;
        let read = wire
            .result("resources/read", json!({ "uri": "r://it" }))
            .await;
        assert_eq!(read["contents"][0]["text"], text);
    }
}

/// The tool is called continuously while it is replaced again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_no_moment_without_a_tool_that_is_replaced() {
    let live = server();
    let catalog = live.catalog();
    let replacing = tokio::task::spawn_blocking(move || {
        for _ in 0..300 {
            catalog
                .replace_tool(Tool::new("one", async || "a one"))
                .expect("a tool");
        }
    });
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let mut calls = 0;
    while calls < 100 || !replacing.is_finished() {
        assert!(said(&mut wire, "one").await.ends_with("one"));
        calls += 1;
    }
    replacing.await.expect("it did not panic");
}

#[tokio::test]
async fn a_tool_that_is_switched_off_does_not_exist_and_comes_back_to_its_place() {
    let live = server();
    let catalog = live.catalog();
    let mut wire = Wire::at(&live, Revision::LATEST_LEGACY).await;
    wire.result("ping", json!({})).await;
    assert!(catalog.disable_tool("two"));
    assert!(!catalog.disable_tool("two"));
    assert_eq!(
        wire.receive().await["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(listed(&mut wire, "tools", "name").await, ["one", "three"]);
    let error = wire
        .error("tools/call", json!({ "name": "two", "arguments": {} }))
        .await;
    assert_eq!(error["code"], -32602);
    // Its name stays taken, and a replacement stays disabled.
    assert!(catalog.add_tool(Tool::new("two", async || "")).is_err());
    catalog
        .replace_tool(Tool::new("two", async || "new two"))
        .expect("a tool");
    wire.receive().await;
    assert_eq!(listed(&mut wire, "tools", "name").await, ["one", "three"]);
    assert!(catalog.enable_tool("two"));
    assert!(!catalog.enable_tool("two"));
    wire.receive().await;
    assert_eq!(
        listed(&mut wire, "tools", "name").await,
        ["one", "two", "three"]
    );
    assert_eq!(said(&mut wire, "two").await, "new two");
    assert_eq!(said(&mut wire, "three").await, "old three");
    wire.assert_quiet().await;
}
