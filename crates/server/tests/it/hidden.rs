//! What a caller may not see is not there: a server that has it hidden answers byte for byte as one
//! that does not have it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Args, Prompt, RawArgs, Resource, Server, Tool};

use crate::wire::Wire;

#[derive(Deserialize, JsonSchema)]
struct Topic {
    topic: String,
}

/// Something of each kind that everybody sees, and if wanted something of each kind that nobody
/// does.
pub(crate) fn server(has_hidden: bool) -> Server {
    let server = Server::new("s", "1")
        .tool(Tool::new("open", async || "open").task())
        .prompt(prompt("open"))
        .resource(Resource::new("open://one", async || "one"))
        .resource(Resource::new("open://all/{topic}", about).complete("topic", ["a", "b"]));
    if !has_hidden {
        return server;
    }
    let schema = json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
    });
    let tool = Tool::new("secret", async |RawArgs(_): RawArgs| "secret").input_schema(schema);
    server
        .tool(tool.scopes(["admin"]).task_only().visible(|_| false))
        .prompt(prompt("secret").visible(|_| false))
        .resource(Resource::new("secret://one", async || "one").visible(|_| false))
        .resource(
            Resource::new("secret://all/{topic}", about)
                .complete("topic", ["a", "b"])
                .visible(|_| false),
        )
}

fn prompt(name: &str) -> Prompt {
    Prompt::new(name, about).complete("topic", ["a", "b"])
}

async fn about(Args(Topic { topic }): Args<Topic>) -> String {
    topic
}

/// Requests that name what is hidden: their methods and params.
pub(crate) fn requests() -> Vec<(&'static str, Value)> {
    let argument = json!({ "name": "topic", "value": "" });
    let of_prompt = json!({ "type": "ref/prompt", "name": "secret" });
    let of_template = json!({ "type": "ref/resource", "uri": "secret://all/{topic}" });
    vec![
        (
            "tools/call",
            json!({ "name": "secret", "arguments": { "region": "eu" } }),
        ),
        ("tools/call", json!({ "name": "secret", "arguments": 7 })),
        (
            "tools/call",
            json!({ "name": "secret", "arguments": {}, "task": { "ttl": 1000 } }),
        ),
        (
            "prompts/get",
            json!({ "name": "secret", "arguments": { "topic": "a" } }),
        ),
        ("resources/read", json!({ "uri": "secret://one" })),
        ("resources/read", json!({ "uri": "secret://all/a" })),
        ("resources/subscribe", json!({ "uri": "secret://one" })),
        ("resources/unsubscribe", json!({ "uri": "secret://one" })),
        (
            "completion/complete",
            json!({ "ref": of_prompt, "argument": argument }),
        ),
        (
            "completion/complete",
            json!({ "ref": of_template, "argument": argument }),
        ),
        (
            "completion/complete",
            json!({ "ref": of_template, "argument": { "name": "x", "value": "" } }),
        ),
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
    ]
}

#[tokio::test]
async fn what_is_hidden_answers_like_what_is_absent() {
    let [hidden, absent] = [true, false].map(|has| server(has).build().expect("a server"));
    for &revision in Revision::ALL {
        let mut one = Wire::at(&hidden, revision).await;
        let mut other = Wire::at(&absent, revision).await;
        for (method, params) in requests() {
            one.ask(method, params.clone()).await;
            other.ask(method, params.clone()).await;
            let answers = (one.next_line().await, other.next_line().await);
            assert!(answers.0.is_some());
            let is_list = method.ends_with("/list") && revision.is_modern();
            if is_list {
                // What differs by caller is not for shared caches, and says so.
                continue;
            }
            assert_eq!(answers.0, answers.1, "{revision} {method} {params}");
        }
    }
}
