//! `subscriptions/listen` over HTTP.

use serde_json::{Value, json};
use turnbuckle_server::Tool;

use super::{ask::Ask, raw::Raw, site::Site};

async fn listen(site: &Site, id: &str, notifications: Value) -> Raw {
    let params = json!({ "notifications": notifications });
    let ask = Ask::modern_as(id, "subscriptions/listen", params);
    Raw::streaming(site.address, ask).await
}

fn subscription(message: &Value) -> &Value {
    &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
}

#[tokio::test]
async fn changes_come_after_the_acknowledgement_to_those_who_asked() {
    let site = Site::start().await;
    let mut tools = listen(&site, "a", json!({ "toolsListChanged": true })).await;
    let mut both = listen(
        &site,
        "b",
        json!({ "toolsListChanged": true, "promptsListChanged": true }),
    )
    .await;
    let mut none = listen(&site, "c", json!({})).await;
    for (raw, id) in [(&mut tools, "a"), (&mut both, "b"), (&mut none, "c")] {
        let first = raw.message().await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(subscription(&first), id);
        let accepted = &first["params"]["notifications"];
        // The server has no prompts, so it does not acknowledge changes of them.
        assert_eq!(accepted.get("promptsListChanged"), None);
        assert_eq!(accepted.get("toolsListChanged").is_some(), id != "c");
    }
    site.live
        .catalog()
        .add_tool(Tool::new("late", async || "late"))
        .expect("a tool");
    for (raw, id) in [(&mut tools, "a"), (&mut both, "b")] {
        let change = raw.message().await;
        assert_eq!(change["method"], "notifications/tools/list_changed");
        assert_eq!(subscription(&change), id);
    }
    let list = site.ask(Ask::modern("tools/list", json!({}))).await;
    assert!(list.text().contains("late"));
    drop((tools, both, none));
}

// rule: U2
#[tokio::test]
async fn a_subscription_ends_with_its_result_when_the_server_stops() {
    let mut site = Site::start().await;
    let mut raw = listen(&site, "s", json!({ "toolsListChanged": true })).await;
    raw.message().await;
    site.stop();
    let last = raw.message().await;
    assert_eq!(last["id"], "s");
    assert_eq!(last["result"]["resultType"], "complete");
    let tag = &last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(tag, "s");
    assert_eq!(raw.event().await, None);
    site.stopped().await.expect("an orderly end");
}

#[tokio::test]
async fn one_door_that_closes_leaves_the_others_open() {
    let mut first = Site::start().await;
    let live = first.live.clone();
    let (announce, announced) = tokio::sync::oneshot::channel();
    let second = tokio::spawn(async move {
        let http = turnbuckle_server::Http::bind("127.0.0.1:0");
        live.serve(http.announce(|address| {
            let _ = announce.send(address);
        }))
        .await
    });
    let address = announced.await.expect("it listens").expect("at TCP");
    let ask = || {
        let params = json!({ "notifications": { "toolsListChanged": true } });
        Ask::modern_as("s", "subscriptions/listen", params)
    };
    let mut raw = Raw::streaming(address, ask()).await;
    raw.message().await;
    first.stop();
    let live = first.live.clone();
    first.stopped().await.expect("an orderly end");
    live.catalog()
        .add_tool(Tool::new("late", async || "late"))
        .expect("a tool");
    assert_eq!(
        raw.message().await["method"],
        "notifications/tools/list_changed"
    );
    let mut another = Raw::streaming(address, ask()).await;
    assert_eq!(
        another.message().await["method"],
        "notifications/subscriptions/acknowledged"
    );
    second.abort();
}
