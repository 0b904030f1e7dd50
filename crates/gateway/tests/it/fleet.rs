//! Several servers behind one gateway: names, routes, and servers of the same process.

use std::time::Duration;

use serde_json::json;
use turnbuckle_client::Era;
use turnbuckle_gateway::{Gateway, LiveGateway, Mount, Naming};
use turnbuckle_server::{Resource, Server, Tool};

use crate::{
    child,
    site::{Door, client, join},
};

fn clock() -> Server {
    Server::new("clock", "1.0.0")
        .tool(Tool::new("now", async || "noon"))
        .resource(Resource::new("clock://now", async || "noon"))
}

async fn names(gateway: &LiveGateway) -> Vec<String> {
    let client = join(&client(Era::Modern), gateway, Door::Lines).await;
    let tools = client.tools().await.expect("tools");
    tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn several_servers_are_told_apart_by_their_names() {
    let gateway = Gateway::new("gateway", "1.0.0")
        .server("up", child::spec())
        .mount("clock", clock())
        .unwrap()
        .open()
        .unwrap();
    gateway.settled().await;
    let all = names(&gateway).await;
    assert!(
        all.contains(&"up__echo".to_owned()) && all.contains(&"clock__now".to_owned()),
        "{all:?}"
    );
    for era in [Era::Legacy, Era::Modern] {
        let client = join(&client(era), &gateway, Door::Lines).await;
        assert_eq!(
            client.call("clock__now", json!({})).await.unwrap().text(),
            "noon"
        );
        assert_eq!(
            client.call("up__form", json!({})).await.unwrap().text(),
            "accepted"
        );
        assert_eq!(client.read("clock://now").await.unwrap().contents.len(), 1);
        assert_eq!(client.read("note://one").await.unwrap().contents.len(), 1);
        assert!(client.call("now", json!({})).await.is_err());
    }
    gateway.close().await;
}

#[tokio::test]
async fn a_server_is_added_and_removed_while_the_gateway_runs() {
    let gateway = Gateway::new("gateway", "1.0.0")
        .naming(Naming::Prefixed)
        .mount("clock", clock())
        .unwrap()
        .open()
        .unwrap();
    gateway.settled().await;
    assert_eq!(names(&gateway).await, ["clock__now"]);
    gateway.add(
        "up",
        child::spec(),
        turnbuckle_gateway::UpstreamSettings::new(),
    );
    gateway.settled().await;
    assert!(names(&gateway).await.contains(&"up__echo".to_owned()));
    assert!(gateway.remove("up").await);
    assert_eq!(names(&gateway).await, ["clock__now"]);
    gateway.close().await;
}

#[tokio::test]
async fn a_server_that_fails_leaves_the_others_alone() {
    let gateway = Gateway::new("gateway", "1.0.0")
        .server(
            "broken",
            turnbuckle_host::ServerSpec::command("no-such-program-at-all", ["x"]),
        )
        .mount("clock", clock())
        .unwrap()
        .open()
        .unwrap();
    let client = join(&client(Era::Modern), &gateway, Door::Lines).await;
    while !names(&gateway).await.contains(&"clock__now".to_owned()) {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        client.call("clock__now", json!({})).await.unwrap().text(),
        "noon"
    );
    gateway.close().await;
}

#[tokio::test]
async fn a_server_is_mounted_in_another() {
    let own = Server::new("own", "1.0.0").tool(Tool::new("mine", async || "mine"));
    let gateway = own.mount("clock", clock()).unwrap().open().unwrap();
    gateway.settled().await;
    assert_eq!(names(&gateway).await, ["mine", "clock__now"]);
    let client = join(&client(Era::Legacy), &gateway, Door::Http).await;
    assert_eq!(client.call("mine", json!({})).await.unwrap().text(), "mine");
    assert_eq!(
        client.call("clock__now", json!({})).await.unwrap().text(),
        "noon"
    );
    gateway.close().await;
}

/// Merging long lists takes a while. Meanwhile a server is still starting although its lists were read.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lists_wait_until_those_of_a_starting_server_are_merged() {
    const TOOLS: usize = 2_000;
    let long = (0..TOOLS).fold(Server::new("long", "1.0.0"), |server, n| {
        server.tool(Tool::new(format!("tool_{n}"), async || "done"))
    });
    let gateway = Gateway::new("gateway", "1.0.0")
        .naming(Naming::Prefixed)
        .mount("long", long)
        .unwrap()
        .open()
        .unwrap();
    let client = join(&client(Era::Modern), &gateway, Door::Lines).await;
    let mut lists = tokio::task::JoinSet::new();
    let settled = gateway.settled();
    tokio::pin!(settled);
    while tokio::time::timeout(Duration::from_millis(5), &mut settled)
        .await
        .is_err()
    {
        let client = client.clone();
        lists.spawn(async move { client.tools().await.expect("tools").len() });
    }
    assert!(!lists.is_empty(), "no list was asked for while it started");
    let counts = lists.join_all().await;
    assert!(counts.iter().all(|count| *count == TOOLS), "{counts:?}");
    gateway.close().await;
}
