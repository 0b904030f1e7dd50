//! Servers that flood, lie and die, and lists that are far too long, do not affect others.

use serde_json::json;
use turnbuckle_client::Era;
use turnbuckle_gateway::{Gateway, LiveGateway};
use turnbuckle_host::{ServerSpec, ServerState};
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
    // The process is still running.
    let pid = send(&ada, &call("bad__pid", &json!({})))
        .await
        .expect("a result");
    assert!(text(&pid).parse::<u32>().is_ok());
    gateway.close().await;
}

#[tokio::test]
async fn a_server_that_hangs_leaves_the_others_alone() {
    let gateway = beside_a_clock().await;
    let ada = as_caller(&gateway, "ada").await;
    // Each call waits until the server is told to continue.
    let waiting: Vec<_> = (0..16)
        .map(|number| {
            let who = json!({ "arguments": { "who": number.to_string() } });
            let (caller, params) = (ada.clone(), call("bad__later", &who));
            tokio::spawn(async move { send(&caller, &params).await })
        })
        .collect();
    for _ in 0..50 {
        let now = send(&ada, &call("clock__now", &json!({}))).await;
        assert_eq!(text(&now.expect("the time")), "noon");
    }
    assert!(waiting.iter().all(|call| !call.is_finished()));
    for call in waiting {
        call.abort();
        let _ = call.await;
    }
    // The process still gets other calls.
    let pid = send(&ada, &call("bad__pid", &json!({}))).await;
    assert!(text(&pid.expect("a result")).parse::<u32>().is_ok());
    gateway.close().await;
}

#[tokio::test]
async fn a_server_that_dies_at_each_start_rests_and_leaves_the_others_alone() {
    let name = format!("turnbuckle-gateway-storm-{}", std::process::id());
    let file = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&file);
    let command = format!("echo started >> '{}'; exit 1", file.display());
    let (tell, mut rests) = tokio::sync::mpsc::unbounded_channel();
    let gateway = Gateway::new("gateway", "1.0.0")
        .server("bad", ServerSpec::command("sh", ["-c", &command]))
        .mount("clock", clock())
        .expect("a server")
        .on_state(move |server, state| {
            if server.as_str() == "bad" && matches!(state, ServerState::Failed { .. }) {
                let _ = tell.send(());
            }
        })
        .open()
        .expect("a gateway");
    let ada = as_caller(&gateway, "ada").await;
    let clock_ticks = async || {
        for _ in 0..50 {
            let now = send(&ada, &call("clock__now", &json!({}))).await;
            assert_eq!(text(&now.expect("the time")), "noon");
        }
    };
    clock_ticks().await;
    rests.recv().await.expect("it is given a rest");
    let starts = || {
        std::fs::read_to_string(&file)
            .expect("a file")
            .lines()
            .count()
    };
    let before = starts();
    // Five attempts with two starts each, because the program is tried with both eras.
    assert!((1..=10).contains(&before), "{before} starts");
    // Calls do not start the server again while it rests.
    let refused = send(&ada, &call("bad__anything", &json!({}))).await;
    assert!(refused.is_err());
    clock_ticks().await;
    assert_eq!(starts(), before);
    gateway.close().await;
    let _ = std::fs::remove_file(file);
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
