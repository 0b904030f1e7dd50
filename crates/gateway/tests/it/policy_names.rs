//! Policies keep applying when the names that clients see get a prefix or lose it.

use std::sync::Arc;

use serde_json::json;
use turnbuckle_client::Era;
use turnbuckle_gateway::{
    Gateway, LiveGateway, Naming, ToolSettings, UpstreamSettings,
    operation::{Operation, Policy, PolicyRule},
};
use turnbuckle_server::{Prompt, Server, Tool};

use crate::{
    by_hand::{as_caller, call, send, text},
    site::{Door, client, join, listen, remote},
};

/// A server with a tool and a prompt that are secret, and with others that are not.
async fn server(name: &str) -> String {
    let server = Server::new(name, "1")
        .tool(Tool::new("secret_delete", async || "deleted"))
        .tool(Tool::new("echo", async || "echoed"))
        .prompt(Prompt::new("secret_prompt", async || "secret"))
        .prompt(Prompt::new("hello", async || "hello"));
    listen(server.build().expect("a server")).await
}

/// A gateway with these servers and this rule.
async fn gateway(servers: &[&str], naming: Naming, rule: &PolicyRule) -> LiveGateway {
    let policy = Policy::new().rule(rule.clone());
    let mut gateway = Gateway::new("gateway", "1")
        .naming(naming)
        .operation(Arc::new(Operation::new().policy(policy)));
    for name in servers {
        gateway = gateway.server(*name, remote(&server(name).await));
    }
    let gateway = gateway.open().expect("a gateway");
    gateway.settled().await;
    gateway
}

/// Checks that no tool or prompt of server `s` with a secret name is listed or can be used.
async fn has_no_secrets_of_s(gateway: &LiveGateway, what: &str) {
    for era in [Era::Legacy, Era::Modern] {
        let client = join(&client(era), gateway, Door::Lines).await;
        let tools = client.tools().await.expect("a list");
        let tools: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let prompts = client.prompts().await.expect("a list");
        let prompts: Vec<_> = prompts.iter().map(|it| it.name.as_str()).collect();
        for (names, word) in [(&tools, "echo"), (&prompts, "hello")] {
            assert!(
                names.iter().any(|name| name.ends_with(word)),
                "{what}: {names:?}"
            );
            let is_secret = |name: &&str| name.contains("secret") && !name.starts_with("z__");
            assert!(!names.iter().any(is_secret), "{what}: {names:?}");
        }
        for name in ["secret_delete", "s__secret_delete"] {
            let called = client.call(name, json!({})).await;
            let error = called.expect_err("it is denied").to_string();
            assert!(error.contains("unknown tool"), "{what}: {error}");
        }
        for name in ["secret_prompt", "s__secret_prompt"] {
            let got = client.get(name, json!({})).await;
            assert!(got.is_err(), "{what}: {name}");
        }
    }
}

fn denying(prefix: &str) -> PolicyRule {
    PolicyRule::for_all().deny([
        format!("{prefix}secret*"),
        format!("prompt:{prefix}secret*"),
    ])
}

#[tokio::test]
async fn denied_entries_stay_denied_when_names_lose_their_prefix() {
    let rule = denying("s__");
    let both = gateway(&["s", "z"], Naming::Auto, &rule).await;
    has_no_secrets_of_s(&both, "two servers").await;
    assert!(both.remove("z").await);
    has_no_secrets_of_s(&both, "one is removed").await;
    both.close().await;
    for naming in [Naming::Auto, Naming::Bare] {
        let one = gateway(&["s"], naming, &rule).await;
        has_no_secrets_of_s(&one, "one server").await;
        one.close().await;
    }
    let bare = gateway(&["s", "z"], Naming::Bare, &rule).await;
    has_no_secrets_of_s(&bare, "bare names").await;
    bare.close().await;
}

#[tokio::test]
async fn denied_entries_stay_denied_when_names_get_a_prefix() {
    let rule = denying("");
    let gateway = gateway(&["s"], Naming::Auto, &rule).await;
    has_no_secrets_of_s(&gateway, "one server").await;
    let other = remote(&server("z").await);
    gateway.add("z", other, UpstreamSettings::new());
    gateway.settled().await;
    has_no_secrets_of_s(&gateway, "one is added").await;
    gateway.close().await;
}

#[tokio::test]
async fn allowed_and_asked_entries_stay_so_when_names_lose_their_prefix() {
    let rule = PolicyRule::for_all().allow(["s__echo"]).ask(["s__echo"]);
    let gateway = gateway(&["s", "z"], Naming::Auto, &rule).await;
    for name in ["s__echo", "echo"] {
        let ada = as_caller(&gateway, "ada").await;
        let tools = ada.tools().await.expect("a list");
        let tools: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(tools, [name]);
        let asked = send(&ada, &call(name, &json!({})))
            .await
            .expect("a question");
        assert_eq!(asked["resultType"], "input_required", "{name}: {asked}");
        gateway.remove("z").await;
    }
    gateway.close().await;
}

/// A rule names a tool as it was before it was renamed, or after it.
#[tokio::test]
async fn a_renamed_tool_is_denied_by_all_its_names() {
    for naming in [Naming::Bare, Naming::Prefixed] {
        for pattern in ["secret*", "s__secret*", "drop", "s__drop"] {
            let policy = Policy::new().rule(PolicyRule::for_all().deny([pattern]));
            let renamed = ToolSettings::new().name("drop");
            let settings = UpstreamSettings::new().tool("secret_delete", renamed);
            let gateway = Gateway::new("gateway", "1")
                .naming(naming)
                .operation(Arc::new(Operation::new().policy(policy)))
                .server_with("s", remote(&server("s").await), settings)
                .open()
                .expect("a gateway");
            gateway.settled().await;
            let ada = as_caller(&gateway, "ada").await;
            let (drop, echo) = match naming {
                Naming::Prefixed => ("s__drop", "s__echo"),
                _ => ("drop", "echo"),
            };
            let denied = send(&ada, &call(drop, &json!({}))).await;
            assert!(denied.is_err(), "{naming:?} {pattern}: {denied:?}");
            let echoed = send(&ada, &call(echo, &json!({}))).await.expect("a result");
            assert_eq!(text(&echoed), "echoed");
            gateway.close().await;
        }
    }
}
