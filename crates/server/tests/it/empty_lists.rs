//! Lists that are declared while they are empty, so that clients are notified when entries are
//! added.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Catalog, LiveServer, Prompt, Resource, Server, SetupError, Tool};

use crate::wire::Wire;

const LISTS: [(&str, &str); 3] = [
    ("tools", "notifications/tools/list_changed"),
    ("prompts", "notifications/prompts/list_changed"),
    ("resources", "notifications/resources/list_changed"),
];

fn fill(catalog: &Catalog, list: &str) -> Result<(), SetupError> {
    match list {
        "tools" => catalog.add_tool(Tool::new("late", async || "here")),
        "prompts" => catalog.add_prompt(Prompt::new("late", async || "here")),
        _ => catalog.add_resource(Resource::new("late://it", async || "here")),
    }
}

async fn declared(live: &LiveServer) -> Vec<String> {
    let mut wire = Wire::open(live);
    let result = wire.initialize(Revision::LATEST_LEGACY.as_str()).await;
    let discovered = {
        let mut wire = Wire::at(live, Revision::LATEST).await;
        wire.result("server/discover", json!({})).await
    };
    let names = |capabilities: &Value| -> Vec<String> {
        let capabilities = capabilities.as_object().expect("an object");
        capabilities.keys().cloned().collect()
    };
    let legacy = names(&result["capabilities"]);
    assert_eq!(legacy, names(&discovered["capabilities"]));
    legacy
}

#[tokio::test]
async fn a_session_hears_when_a_list_that_was_empty_fills() {
    for &revision in Revision::LEGACY {
        let live = Server::new("s", "1").build().expect("a server");
        let catalog = live.catalog();
        let mut wire = Wire::at(&live, revision).await;
        for (list, notification) in LISTS {
            let before = wire.result(&format!("{list}/list"), json!({})).await;
            assert_eq!(before[list], json!([]));
            fill(&catalog, list).expect("it can be served");
            assert_eq!(wire.receive().await["method"], notification);
            let after = wire.result(&format!("{list}/list"), json!({})).await;
            assert_eq!(after[list].as_array().map(Vec::len), Some(1));
        }
    }
}

#[tokio::test]
async fn a_subscription_hears_when_a_list_that_was_empty_fills() {
    let live = Server::new("s", "1").build().expect("a server");
    let catalog = live.catalog();
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let wanted = json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true
    });
    wire.ask("subscriptions/listen", json!({ "notifications": wanted }))
        .await;
    let acknowledged = wire.receive().await;
    assert_eq!(acknowledged["params"]["notifications"], wanted);
    for (list, notification) in LISTS {
        fill(&catalog, list).expect("it can be served");
        assert_eq!(wire.receive().await["method"], notification);
    }
}

#[tokio::test]
async fn a_handler_that_is_given_the_catalog_makes_the_server_declare_every_list() {
    async fn learn(catalog: Catalog) -> &'static str {
        fill(&catalog, "prompts").map_or("it was known", |()| "learnt")
    }
    let live = Server::new("s", "1")
        .tool(Tool::new("learn", learn))
        .build()
        .expect("a server");
    assert_eq!(declared(&live).await, ["prompts", "resources", "tools"]);
    let mut wire = Wire::at(&live, Revision::LATEST_LEGACY).await;
    let id = wire.ask_tool("learn", json!({})).await;
    let mut messages = [wire.receive().await, wire.receive().await];
    messages.sort_by_key(|message| message.get("id").is_some());
    assert_eq!(messages[0]["method"], LISTS[1].1);
    assert_eq!(messages[1]["id"], id);
}

#[tokio::test]
async fn an_author_who_names_lists_declares_those_and_no_others() {
    let live = Server::new("s", "1")
        .dynamic_tools()
        .prompt(Prompt::new("there", async || ""))
        .build()
        .expect("a server");
    let catalog = live.catalog();
    assert_eq!(declared(&live).await, ["prompts", "tools"]);
    fill(&catalog, "resources").expect("a resource");
    assert_eq!(declared(&live).await, ["prompts", "resources", "tools"]);
    let live = Server::new("s", "1")
        .dynamic_prompts()
        .dynamic_completions()
        .build()
        .expect("a server");
    assert_eq!(declared(&live).await, ["completions", "prompts"]);
}

#[tokio::test]
async fn a_server_whose_catalog_stays_closed_declares_what_it_has() {
    let live = Server::new("s", "1")
        .tool(Tool::new("there", async || ""))
        .build()
        .expect("a server");
    assert_eq!(declared(&live).await, ["tools"]);
}
