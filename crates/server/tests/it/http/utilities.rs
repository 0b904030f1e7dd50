//! Subscriptions, log messages and roots over HTTP: each message on the stream it belongs to.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Log, Resource, RootsChanged, Server, Tool};

use super::{
    ask::{Ask, notice, request},
    raw::Raw,
    site::{SESSIONS, Session, Site},
};
use crate::gate::Gate;

const UPDATED: &str = "notifications/resources/updated";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

async fn site() -> Site {
    let server = Server::new("s", "1")
        .no_default_log_level()
        .resource(Resource::new("r://one", async || "1"))
        .resource(Resource::new("r://two", async || "2"))
        .tool(Tool::new("say", async |log: Log| {
            log.info("said");
            "done"
        }))
        .on_roots_changed(async |client: RootsChanged| {
            let _ = client.roots().await;
            let _ = client.roots().await;
        });
    Site::serving(server, Gate::new(), |http| http).await
}

/// Opens the standing stream of a session, and takes its priming event.
async fn standing(session: &Session, revision: Revision) -> Raw {
    let mut stream = session.listen().await;
    if revision == Revision::V2025_11_25 {
        stream.event().await.expect("the priming event");
    }
    stream
}

#[tokio::test]
async fn a_session_hears_of_its_resources_on_its_standing_stream() {
    let site = site().await;
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        let other = Session::open(&site, revision).await;
        let mut stream = standing(&session, revision).await;
        let mut silent = standing(&other, revision).await;
        let subscribe = |method, uri| request(1, method, json!({ "uri": uri }));
        let answer = session.post(subscribe("resources/subscribe", "r://one"));
        assert_eq!(answer.await.json()["result"], json!({}));
        let answer = other.post(subscribe("resources/subscribe", "r://two"));
        assert_eq!(answer.await.json()["result"], json!({}));
        site.live.changes().resource("r://one");
        let told = stream.message().await;
        assert_eq!(told["method"], UPDATED);
        assert_eq!(told["params"], json!({ "uri": "r://one" }));
        let answer = session.post(subscribe("resources/unsubscribe", "r://one"));
        assert_eq!(answer.await.json()["result"], json!({}));
        site.live.changes().resource("r://one");
        site.live.changes().resource("r://two");
        assert_eq!(silent.message().await["params"]["uri"], "r://two");
        site.live.changes().resources();
        let next = stream.message().await;
        assert_eq!(next["method"], "notifications/resources/list_changed");
    }
}

#[tokio::test]
async fn a_session_that_does_not_listen_yet_hears_later() {
    let site = site().await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let params = json!({ "uri": "r://one" });
    session
        .post(request(1, "resources/subscribe", params))
        .await;
    // Many more than are kept for a session whose client does not listen.
    for _ in 0..5000 {
        site.live.changes().resource("r://one");
        site.live.changes().resources();
    }
    let mut stream = session.listen().await;
    let mut last = [false; 2];
    for _ in 0..2 {
        let method = stream.message().await["method"].clone();
        last[usize::from(method == UPDATED)] = true;
    }
    assert_eq!(last, [true; 2]);
}

#[tokio::test]
async fn a_listen_stream_hears_of_its_resources_until_it_hangs_up() {
    let site = site().await;
    let filter = |uri: &str| json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let listen = |id: &str, uri| Ask::modern_as(id, "subscriptions/listen", filter(uri));
    let mut one = Raw::streaming(site.address, listen("a", "r://one")).await;
    let mut two = Raw::streaming(site.address, listen("b", "r://two")).await;
    for (raw, uri) in [(&mut one, "r://one"), (&mut two, "r://two")] {
        let first = raw.message().await;
        let granted = &first["params"]["notifications"];
        assert_eq!(granted, &json!({ "resourceSubscriptions": [uri] }));
    }
    site.live.changes().resource("r://two");
    let told = two.message().await;
    assert_eq!(told["method"], UPDATED);
    let tag = json!({ "io.modelcontextprotocol/subscriptionId": "b" });
    assert_eq!(told["params"], json!({ "uri": "r://two", "_meta": tag }));
    drop(two);
    for _ in 0..100 {
        site.live.changes().resource("r://two");
        site.live.changes().resource("r://one");
    }
    // However often it changed, the stream that was not read gets at least one notification.
    assert_eq!(one.message().await["params"]["uri"], "r://one");
}

#[tokio::test]
async fn resources_that_are_not_there_do_not_count() {
    let site = site().await;
    let long = format!("r://{}", "x".repeat(10));
    let uris: Vec<_> = (0..2000).map(|number| format!("{long}{number}")).collect();
    let params = json!({ "notifications": { "resourceSubscriptions": uris } });
    let ask = Ask::modern_as("a", "subscriptions/listen", params);
    let mut raw = Raw::streaming(site.address, ask).await;
    assert_eq!(raw.message().await["params"]["notifications"], json!({}));
}

fn says(params: &Value) -> bool {
    params["method"] == "notifications/message" && params["params"]["data"] == "said"
}

// rule: L2
#[tokio::test]
async fn log_messages_come_on_the_stream_of_the_request_alone() {
    let site = site().await;
    let mut ask = json!({ "name": "say", "arguments": {}, "_meta": { LEVEL: "info" } });
    let filter = json!({ "notifications": { "resourcesListChanged": true } });
    let listen = Ask::modern_as("l", "subscriptions/listen", filter);
    let mut listening = Raw::streaming(site.address, listen).await;
    listening.message().await;
    let mut raw = Raw::streaming(site.address, Ask::modern("tools/call", ask.clone())).await;
    assert!(says(&raw.message().await));
    assert_eq!(raw.message().await["result"]["content"][0]["text"], "done");
    // Without a level, or if the message is not severe enough, the answer is plain JSON.
    ask["_meta"][LEVEL] = json!("error");
    for silent in [ask, json!({ "name": "say", "arguments": {} })] {
        let answer = site.ask(Ask::modern("tools/call", silent)).await;
        assert_eq!(answer.json()["result"]["content"][0]["text"], "done");
    }
    site.live.changes().resources();
    let next = listening.message().await;
    assert_eq!(next["method"], "notifications/resources/list_changed");
}

#[tokio::test]
async fn a_session_sets_its_level_for_itself() {
    let site = site().await;
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        let other = Session::open(&site, revision).await;
        let say = || request(2, "tools/call", json!({ "name": "say", "arguments": {} }));
        let set = request(1, "logging/setLevel", json!({ "level": "debug" }));
        assert_eq!(session.post(set).await.json()["result"], json!({}));
        let mut raw = session.stream(say()).await;
        if revision == Revision::V2025_11_25 {
            raw.event().await.expect("the priming event");
        }
        assert!(says(&raw.message().await), "{revision}");
        assert_eq!(raw.message().await["id"], 2);
        let answer = other.post(say()).await;
        assert_eq!(answer.json()["result"]["content"][0]["text"], "done");
    }
}

#[tokio::test]
async fn roots_that_change_are_asked_for_on_the_standing_stream() {
    let site = site().await;
    for revision in SESSIONS {
        let roots = json!({ "roots": { "listChanged": true } });
        let session = Session::open_with(&site, revision, roots).await;
        let mut stream = standing(&session, revision).await;
        let changed = notice("notifications/roots/list_changed", json!({}));
        assert_eq!(session.post(changed).await.status(), 202);
        for _ in 0..2 {
            let asked = stream.message().await;
            assert_eq!(asked["method"], "roots/list", "{revision}");
            let result = json!({ "roots": [] });
            let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
            assert_eq!(session.post(answer).await.status(), 202);
        }
    }
}
