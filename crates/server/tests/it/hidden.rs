//! An entry that the caller may not see does not exist: a server with hidden entries answers
//! exactly like one without them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Args, Caller, Log, Prompt, RawArgs, Resource, Server, Tool};

use crate::wire::Wire;

#[derive(Deserialize, JsonSchema)]
struct Topic {
    topic: String,
}

/// An entry of each kind that every caller sees, and optionally one of each kind that no caller
/// sees.
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

/// The methods and params of requests that name hidden entries.
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

// rule: RS10
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
            assert_eq!(answers.0, answers.1, "{revision} {method} {params}");
        }
    }
}

/// A server in which all entries but the first are visible only to the boss, and one in which they
/// do not exist.
fn alone(has_hidden: bool) -> Server {
    let server = Server::new("s", "1").page_size(1);
    if !has_hidden {
        return server;
    }
    let is_boss = |caller: &Caller| caller.id() == Some("boss");
    server
        .tool(
            Tool::new("bake", async |log: Log| log.info("hot"))
                .task()
                .visible(is_boss),
        )
        .prompt(prompt("ask").visible(is_boss))
        .resource(Resource::new("own://one", async || "one").visible(is_boss))
        .resource(
            Resource::new("own://all/{topic}", about)
                .complete("topic", ["a"])
                .visible(is_boss),
        )
}

/// Every method of a server, with valid params.
fn methods() -> Vec<(&'static str, Value)> {
    let mut all = requests();
    let tasks = ["tasks/get", "tasks/result", "tasks/cancel", "tasks/update"];
    all.extend(tasks.map(|method| (method, json!({ "taskId": "t", "inputResponses": {} }))));
    all.extend([
        ("tasks/list", json!({})),
        ("server/discover", json!({})),
        ("logging/setLevel", json!({ "level": "info" })),
        ("tools/call", json!({})),
        ("prompts/get", json!({})),
        ("resources/read", json!({})),
        ("completion/complete", json!({})),
        ("ping", json!({})),
    ]);
    all
}

#[tokio::test]
async fn capabilities_tell_of_nothing_that_the_caller_does_not_see() {
    let [hidden, absent] = [true, false].map(|has| alone(has).build().expect("a server"));
    for &revision in Revision::ALL {
        let mut one = Wire::open_as(&hidden, Caller::new("ann"));
        let mut other = Wire::open_as(&absent, Caller::new("ann"));
        if revision.is_modern() {
            one.speak(revision);
            other.speak(revision);
        } else {
            let opened = one.initialize(revision.as_str()).await;
            assert_eq!(opened, other.initialize(revision.as_str()).await);
            assert_eq!(opened["capabilities"], json!({}));
        }
        for (method, params) in methods() {
            one.ask(method, params.clone()).await;
            other.ask(method, params.clone()).await;
            let answers = (one.next_line().await, other.next_line().await);
            assert!(answers.0.is_some());
            assert_eq!(answers.0, answers.1, "{revision} {method} {params}");
        }
    }
}

#[tokio::test]
async fn callers_are_offered_what_they_see() {
    let live = alone(true).build().expect("a server");
    let mut wire = Wire::open_as(&live, Caller::new("boss"));
    let discovered = wire.result("server/discover", json!({})).await;
    let offered = &discovered["capabilities"];
    for capability in [
        "tools",
        "prompts",
        "resources",
        "completions",
        "logging",
        "extensions",
    ] {
        assert!(offered.get(capability).is_some(), "{capability}: {offered}");
    }
    assert_eq!(discovered["cacheScope"], "private");
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "own://all/{topic}" },
        "argument": { "name": "topic", "value": "" },
    });
    let completed = wire.result("completion/complete", params).await;
    assert_eq!(completed["completion"]["values"], json!(["a"]));
}

/// A server with these tools in this order. The letter says whether every caller, no caller or the
/// boss sees the tool.
fn paged(tools: &[(&'static str, char)]) -> Server {
    let mut server = Server::new("s", "1").page_size(1);
    for (name, who) in tools {
        let tool = Tool::new(*name, async || "");
        server = server.tool(match who {
            'e' => tool,
            'b' => tool.visible(|caller| caller.id() == Some("boss")),
            _ => tool.visible(|_| false),
        });
    }
    server
}

#[tokio::test]
async fn cursors_tell_of_nothing_that_the_caller_does_not_see() {
    let all = [
        ("h0", 'n'),
        ("a", 'e'),
        ("h1", 'n'),
        ("x", 'b'),
        ("h2", 'n'),
        ("y", 'b'),
        ("h3", 'n'),
        ("b", 'e'),
        ("h4", 'n'),
        ("c", 'e'),
        ("z", 'b'),
        ("h5", 'n'),
    ];
    let seen: Vec<_> = all.into_iter().filter(|(_, who)| *who != 'n').collect();
    let hidden = paged(&all).build().expect("a server");
    let absent = paged(&seen).build().expect("a server");
    for caller in [Caller::new("boss"), Caller::new("ann")] {
        let mut one = Wire::open_as(&hidden, caller.clone());
        let mut other = Wire::open_as(&absent, caller);
        let mut params = json!({});
        let mut names = Vec::new();
        loop {
            let page = one.result("tools/list", params.clone()).await;
            assert_eq!(page, other.result("tools/list", params).await);
            names.push(page["tools"][0]["name"].clone());
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        let is_boss = names.len() > 3;
        let wanted = if is_boss {
            json!(["a", "x", "y", "b", "c", "z"])
        } else {
            json!(["a", "b", "c"])
        };
        assert_eq!(json!(names), wanted);
    }
    // A guessed cursor of a hidden entry is answered as if the entry did not exist.
    let (mut one, mut other) = (Wire::open(&hidden), Wire::open(&absent));
    for guess in [
        "t0-0000000000000000",
        "t1-af63bd4c8601b7df",
        "t3-08b05d07b5566bef",
        "t4",
    ] {
        one.ask("tools/list", json!({ "cursor": guess })).await;
        other.ask("tools/list", json!({ "cursor": guess })).await;
        assert_eq!(one.next_line().await, other.next_line().await, "{guess}");
    }
}

/// Restricted entries can be added and removed like all others.
#[tokio::test]
async fn a_cursor_at_something_that_only_some_see_stays_good() {
    let all = [("a", 'e'), ("x", 'b'), ("y", 'b'), ("b", 'e')];
    let live = paged(&all).build().expect("a server");
    let mut wire = Wire::open_as(&live, Caller::new("boss"));
    let first = wire.result("tools/list", json!({})).await;
    let second = wire
        .result("tools/list", json!({ "cursor": first["nextCursor"] }))
        .await;
    assert_eq!(second["tools"][0]["name"], "x");
    let at_x = json!({ "cursor": second["nextCursor"] });
    let catalog = live.catalog();
    assert!(catalog.remove_tool("a"));
    assert_eq!(
        wire.result("tools/list", at_x.clone()).await["tools"][0]["name"],
        "y"
    );
    assert!(catalog.remove_tool("x"));
    assert_eq!(
        wire.result("tools/list", at_x.clone()).await["tools"][0]["name"],
        "y"
    );
    assert!(catalog.remove_tool("y"));
    assert_eq!(
        wire.result("tools/list", at_x).await["tools"][0]["name"],
        "b"
    );
}
