//! Clients whose messages do not quite follow the specification.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Args, Ask, LiveServer, Prompt, Resource, Server, Tool, ToolError};

use crate::wire::{Wire, modern_meta};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Town {
    #[expect(dead_code, reason = "it is only completed")]
    town: String,
}

fn server() -> LiveServer {
    async fn roots(Ask(ask): Ask) -> Result<String, ToolError> {
        let roots = ask.roots("roots").await?;
        Ok(roots.len().to_string())
    }
    let towns = Prompt::new("towns", async |_: Args<Town>| "").complete("town", ["Oslo"]);
    let server = Server::new("s", "1")
        .tool(Tool::new("roots", roots))
        .tool(Tool::new("done", async || "done"))
        .resource(Resource::new("a:b", async || "text"))
        .prompt(towns);
    server.build().expect("a server")
}

async fn open(live: &LiveServer, revision: Revision, params: Value) -> Wire {
    let mut wire = Wire::open(live);
    wire.speak(revision);
    let mut whole = json!({
        "protocolVersion": revision.as_str(), "capabilities": { "roots": {} },
        "clientInfo": { "name": "wire", "version": "1" },
    });
    for (name, value) in params.as_object().expect("an object") {
        whole[name] = value.clone();
    }
    wire.result("initialize", whole).await;
    wire.notify("notifications/initialized", Value::Null).await;
    wire
}

async fn hear(wire: &mut Wire) -> Value {
    let line = tokio::time::timeout(Duration::from_secs(20), wire.next_line());
    let line = line.await.expect("in time").expect("a message");
    serde_json::from_str(&line).expect("JSON")
}

// rule: J15
#[tokio::test]
async fn a_question_whose_answer_cannot_be_read_ends_at_once() {
    let live = server();
    for &revision in Revision::LEGACY {
        let mut wire = open(&live, revision, json!({})).await;
        for (answer, said) in [
            (r#"{"jsonrpc":"2.0","id":ID}"#, "cannot be read"),
            (
                r#"{"jsonrpc":"2.0","id":ID,"method":null,"params":null}"#,
                "cannot be read",
            ),
            (
                r#"{"jsonrpc":"2.0","id":ID,"result":{"roots":[],"x":NaN}}"#,
                "cannot be read",
            ),
            (
                r#"{"jsonrpc":"2.0","id":ID,"result":{"roots":[{"uri":"fi"#,
                "cannot be read",
            ),
            (
                r#"{"jsonrpc":"2.0","result":{"roots":[NaN]},"id":ID}"#,
                "cannot be read",
            ),
            (r#"{"id":ID,"result":{"roots":[]}}"#, "cannot be read"),
            (
                r#"{"jsonrpc":"2.0","id":ID,"error":{"code":"x","message":"boom"}}"#,
                "boom: x",
            ),
            (
                r#"{"jsonrpc":"2.0","id":ID,"error":{"message":"boom \ud83d"}}"#,
                "boom",
            ),
        ] {
            let params = json!({ "name": "roots", "arguments": {} });
            let id = wire.ask("tools/call", params).await;
            let asked = hear(&mut wire).await;
            assert_eq!(asked["method"], "roots/list", "{revision}");
            wire.send_line(&answer.replace("ID", &asked["id"].to_string()))
                .await;
            let failed = hear(&mut wire).await;
            assert_eq!(failed["id"], id, "{revision}, {answer}: {failed}");
            assert!(
                failed.to_string().contains(said),
                "{revision}, {answer}: {failed}"
            );
        }
        // A message that can be parsed is used, whatever else the library writes.
        let id = wire
            .ask("tools/call", json!({ "name": "roots", "arguments": {} }))
            .await;
        let asked = hear(&mut wire).await;
        wire.send(&json!({
            "jsonrpc": "2.0", "id": asked["id"], "method": null, "params": null, "error": null,
            "result": { "roots": [{ "uri": "file:///a" }] },
        }))
        .await;
        let answered = hear(&mut wire).await;
        assert_eq!(answered["id"], id, "{answered}");
        assert_eq!(answered["result"]["content"][0]["text"], "1", "{revision}");
        // An id without a waiting call belongs to an invalid request.
        wire.send(&json!({ "jsonrpc": "2.0", "id": "mine" })).await;
        let refused = hear(&mut wire).await;
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&json!("mine"), &json!(-32600))
        );
    }
}

// rule: J15
#[tokio::test]
async fn a_meta_that_is_null_is_none() {
    let live = server();
    for &revision in Revision::LEGACY {
        let mut wire = open(&live, revision, json!({ "_meta": null })).await;
        wire.result("ping", json!({ "_meta": null })).await;
        wire.result("tools/list", json!({ "_meta": null, "cursor": null }))
            .await;
        let called = json!({ "name": "done", "arguments": null, "_meta": null });
        let result = wire.result("tools/call", called).await;
        assert_eq!(result["content"][0]["text"], "done", "{revision}");
        let error = wire.error("ping", json!({ "_meta": [] })).await;
        assert_eq!(error["code"], -32602, "{revision}");
    }
    // A modern request has its version in `_meta`.
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    wire.result("tools/list", json!({ "_meta": modern_meta() }))
        .await;
}

// rule: J15
#[tokio::test]
async fn capabilities_of_clients_that_are_no_objects_are_still_declared() {
    let live = server();
    for &revision in Revision::LEGACY {
        for roots in [json!([]), json!(true)] {
            let capabilities = json!({ "capabilities": { "roots": roots, "sampling": 7 } });
            let mut wire = open(&live, revision, capabilities).await;
            wire.ask("tools/call", json!({ "name": "roots", "arguments": {} }))
                .await;
            assert_eq!(hear(&mut wire).await["method"], "roots/list", "{revision}");
        }
    }
}

// rule: J17
#[tokio::test]
async fn errors_about_names_are_one_short_line() {
    let live = server();
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        for name in [
            "no\nne\u{2028}such".to_owned(),
            format!("a:{}", "x".repeat(5000)),
        ] {
            let argument = |argument: &str| json!({ "name": argument, "value": "O" });
            let prompt = json!({ "type": "ref/prompt", "name": "towns" });
            let mut asked = vec![
                ("resources/read", json!({ "uri": name })),
                ("prompts/get", json!({ "name": name })),
                (
                    "completion/complete",
                    json!({ "ref": prompt, "argument": argument(&name) }),
                ),
            ];
            for reference in [
                json!({ "type": name, "name": "towns" }),
                json!({ "type": "ref/prompt", "name": name }),
                json!({ "type": "ref/resource", "uri": name }),
            ] {
                let params = json!({ "ref": reference, "argument": argument("town") });
                asked.push(("completion/complete", params));
            }
            if !revision.is_modern() {
                asked.push(("resources/subscribe", json!({ "uri": name })));
            }
            for (method, params) in asked {
                let error = wire.error(method, params).await;
                let message = error["message"].as_str().expect("a message");
                let is_line = !message.contains(['\n', '\u{2028}']);
                assert!(
                    is_line && message.len() < 500,
                    "{revision}, {method}: {message}"
                );
            }
        }
    }
}
