//! Servers that flood, lie and die, and lists that are far too long: others do not notice.

use serde_json::json;
use turnbuckle_client::Era;
use turnbuckle_gateway::{Gateway, LiveGateway};
use turnbuckle_server::{Server, Tool};

use crate::{
    by_hand::{as_caller, call, send, text},
    raw_child,
    site::{Door, client, join},
};

fn clock() -> Server {
    Server::new("clock", "1.0.0").tool(Tool::new("now", async || "noon"))
}

async fn beside_a_clock() -> LiveGateway {
    let file = std::env::temp_dir().join("turnbuckle-gateway-faults");
    let gateway = Gateway::new("gateway", "1.0.0")
        .server("bad", raw_child::spec(&file))
        .mount("clock", clock())
        .expect("a server")
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

#[tokio::test]
async fn a_server_that_floods_or_lies_leaves_the_others_alone() {
    let gateway = beside_a_clock().await;
    let ada = as_caller(&gateway, "ada").await;
    for fault in ["bad__flood", "bad__lie"] {
        let (caller, params) = (ada.clone(), call(fault, &json!({})));
        let said = tokio::spawn(async move { send(&caller, &params).await });
        for _ in 0..50 {
            let now = send(&ada, &call("clock__now", &json!({}))).await;
            assert_eq!(text(&now.expect("the time")), "noon");
        }
        let said = said.await.expect("no panic").expect("a result");
        assert_eq!(text(&said), "said", "{fault}");
    }
    // It is still there.
    let pid = send(&ada, &call("bad__pid", &json!({})))
        .await
        .expect("a result");
    assert!(text(&pid).parse::<u32>().is_ok());
    gateway.close().await;
}

#[tokio::test]
async fn a_server_that_dies_again_and_again_leaves_the_others_alone() {
    let gateway = beside_a_clock().await;
    let ada = as_caller(&gateway, "ada").await;
    for _ in 0..3 {
        let lost = send(&ada, &call("bad__die", &json!({}))).await;
        let lost = lost.expect_err("its server died");
        assert_eq!(lost["code"], -32603, "{lost}");
        let now = send(&ada, &call("clock__now", &json!({}))).await;
        assert_eq!(text(&now.expect("the time")), "noon");
    }
    gateway.close().await;
}

#[tokio::test]
async fn ten_thousand_tools_are_passed_on_by_one_server_and_bounded_beside_others() {
    const MANY: usize = 10_000;
    let many = || {
        let server = Server::new("many", "1.0.0");
        (0..MANY).fold(server, |server, number| {
            server.tool(Tool::new(format!("t{number}"), async || "done"))
        })
    };
    let gateway = Gateway::new("gateway", "1.0.0")
        .mount("many", many())
        .expect("a server")
        .open()
        .expect("a gateway");
    gateway.settled().await;
    let ada = join(&client(Era::Modern), &gateway, Door::Lines).await;
    assert_eq!(ada.tools().await.expect("tools").len(), MANY);
    let last = ada.call("t9999", json!({})).await.expect("a result");
    assert_eq!(last.text(), "done");
    gateway.close().await;

    let gateway = Gateway::new("gateway", "1.0.0")
        .mount("many", many())
        .expect("a server")
        .mount("clock", clock())
        .expect("a server")
        .open()
        .expect("a gateway");
    gateway.settled().await;
    let ada = join(&client(Era::Legacy), &gateway, Door::Lines).await;
    let tools = ada.tools().await.expect("tools");
    assert_eq!(tools.len(), 2_001, "2,000 of the one, and the clock");
    let now = ada.call("clock__now", json!({})).await.expect("the time");
    assert_eq!(now.text(), "noon");
    gateway.close().await;
}
