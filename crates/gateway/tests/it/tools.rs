//! Tools that are hidden, renamed, or called with arguments set by the gateway.

use serde_json::json;
use turnbuckle_gateway::{Gateway, LiveGateway, ToolSettings, UpstreamSettings};
use turnbuckle_host::ServerSpec;

use crate::{
    by_hand::{as_caller, as_legacy_caller, call, request, send, text},
    raw_child,
};

fn spec() -> ServerSpec {
    raw_child::spec(&std::env::temp_dir().join("turnbuckle-gateway-tools"))
}

async fn open(spec: ServerSpec, settings: UpstreamSettings) -> LiveGateway {
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("raw", spec, settings)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

#[tokio::test]
async fn a_tool_that_is_left_out_cannot_be_called_by_its_name() {
    let hidden = UpstreamSettings::new().tool("pid", ToolSettings::new().hidden());
    for (spec, settings) in [
        (spec().exclude_tools(["pid"]), UpstreamSettings::new()),
        (spec(), hidden),
    ] {
        let gateway = open(spec, settings).await;
        let ada = as_caller(&gateway, "ada").await;
        let list = request(&ada, "tools/list", &call("", &json!({}))).await;
        let list = list.expect("tools").to_string();
        assert!(
            list.contains("arguments") && !list.contains("\"pid\""),
            "{list}"
        );
        let refused = send(&ada, &call("pid", &json!({})))
            .await
            .expect_err("hidden");
        assert_eq!(refused["code"], -32602, "{refused}");
        assert!(send(&ada, &call("arguments", &json!({}))).await.is_ok());
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_member_that_a_server_could_read_as_another_is_refused() {
    let show = ToolSettings::new().name("show").fixed("n", json!(5));
    let gateway = open(spec(), UpstreamSettings::new().tool("arguments", show)).await;
    let modern = as_caller(&gateway, "ada").await;
    let legacy = as_legacy_caller(&gateway, "bob").await;
    for client in [&modern, &legacy] {
        assert!(send(client, &call("show", &json!({}))).await.is_ok());
        for more in [
            json!({ "Name": "pid" }),
            json!({ "name\0": "pid" }),
            json!({ "Arguments": { "n": 1 } }),
            json!({ "arguments": { "N": 1 } }),
        ] {
            let refused = send(client, &call("show", &more)).await;
            assert_eq!(refused.expect_err("refused")["code"], -32602, "{more}");
        }
    }
    gateway.close().await;
}

#[tokio::test]
async fn a_tool_is_offered_under_another_name_with_arguments_of_the_gateway() {
    let show = ToolSettings::new().name("show").fixed("n", json!(5));
    let gateway = open(spec(), UpstreamSettings::new().tool("arguments", show)).await;
    let ada = as_caller(&gateway, "ada").await;
    let list = request(&ada, "tools/list", &call("", &json!({}))).await;
    let list = list.expect("tools");
    let tools = list["tools"].as_array().expect("tools");
    let show = tools
        .iter()
        .find(|tool| tool["name"] == "show")
        .expect("it");
    assert_eq!(
        show["inputSchema"],
        json!({ "type": "object", "properties": { "q": { "type": "string" } }, "required": [] })
    );
    let arguments = json!({ "arguments": { "n": 1, "q": "x" } });
    let shown = send(&ada, &call("show", &arguments))
        .await
        .expect("a result");
    let seen: serde_json::Value = serde_json::from_str(text(&shown)).expect("JSON");
    assert_eq!(seen, json!({ "n": 5, "q": "x" }));
    let refused = send(&ada, &call("arguments", &arguments)).await;
    assert_eq!(refused.expect_err("its own name is gone")["code"], -32602);
    gateway.close().await;
}
