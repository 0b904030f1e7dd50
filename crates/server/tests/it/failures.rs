//! The ways in which a call fails, what the client gets in each case, and that the connection
//! survives.

use std::fmt;

use serde_json::{Value, json};
use turnbuckle_protocol::{ContentBlock, Revision};
use turnbuckle_server::{
    Call, Extract, Failure, Fault, Image, LiveServer, Next, Prompt, Reject, Reply, Resource,
    Server, Tool, ToolError,
};

use crate::wire::Wire;

/// A text that must never leave the process.
const SECRET: &str = "password hunter2";

#[derive(Debug)]
struct Leak;

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SECRET)
    }
}

impl std::error::Error for Leak {}

struct Broken;

impl Extract for Broken {
    fn extract(_: &Call<'_>) -> Result<Self, Failure> {
        panic!("{SECRET}")
    }
}

struct Faulty;

impl Extract for Faulty {
    fn extract(_: &Call<'_>) -> Result<Self, Failure> {
        Err(Leak.into())
    }
}

#[tokio::test]
async fn an_unexpected_error_of_an_extractor_is_a_number_to_the_model() {
    let live = Server::new("s", "1")
        .tool(Tool::new("faulty", async |_: Faulty| ""))
        .build()
        .expect("a server");
    let call = json!({ "name": "faulty", "arguments": {} });
    let result = Wire::open(&live).result("tools/call", call).await;
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().expect("text");
    assert!(
        text.contains("fault ") && !text.contains("hunter2"),
        "{text}"
    );
}

async fn panicking(_: Call<'static>, _: Next) -> Result<Reply, Failure> {
    panic!("{SECRET}")
}

/// Panics before it returns a future.
fn panicking_at_once(_: Call<'static>, _: Next) -> std::future::Ready<Result<Reply, Failure>> {
    panic!("{SECRET}")
}

fn headless() -> std::future::Ready<&'static str> {
    panic!("{SECRET}")
}

async fn late() -> &'static str {
    tokio::task::yield_now().await;
    panic!("{SECRET}")
}

async fn early() -> &'static str {
    panic!("{SECRET}")
}

struct Unwritable;

impl serde::Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(SECRET))
    }
}

impl schemars::JsonSchema for Unwritable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Unwritable".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object" })
    }
}

/// Tools that fail in different ways, all of them with errors that must be hidden.
fn broken_tools() -> Vec<Tool> {
    vec![
        Tool::new("fault", async || Err::<(), _>(Fault::new(Leak))),
        Tool::new("tool-fault", async || Err::<(), _>(ToolError::fault(Leak))),
        Tool::new("early-panic", early),
        Tool::new("late-panic", late),
        Tool::new("panic-in-the-head", headless),
        Tool::new("panic-in-an-extractor", async |_: Broken| ""),
        Tool::new("panic-in-a-layer", async || "").layer(panicking),
        Tool::new("panic-in-the-head-of-a-layer", async || "").layer(panicking_at_once),
        Tool::new("layered-panic", early).layer(through),
        Tool::new("layered-late-panic", late).layer(through),
        Tool::new("layered-panic-in-an-extractor", async |_: Broken| "").layer(through),
        Tool::new("unwritable", async || turnbuckle_server::Json(Unwritable)),
        Tool::new("panic-with-an-odd-payload", async || -> &'static str {
            std::panic::panic_any(7_u8)
        }),
    ]
}

async fn through(call: Call<'static>, next: Next) -> Result<Reply, Failure> {
    next.run(call).await
}

fn is_hidden(error: &Value) {
    assert_eq!(error["code"], -32603, "{error}");
    let text = error.to_string();
    assert!(
        !text.contains("hunter2") && !text.contains("panick"),
        "{text}"
    );
    assert!(
        text.contains("fault "),
        "the number leads to the log: {text}"
    );
    assert_eq!(error.get("data"), None);
}

#[tokio::test]
async fn our_own_faults_are_numbers_to_the_peer_and_the_connection_survives_each() {
    let mut server = Server::new("s", "1").tool(Tool::new("fine", async || "fine"));
    let names: Vec<Value> = {
        let mut names = Vec::new();
        for tool in broken_tools() {
            server = server.tool(tool);
        }
        let live = server.build().expect("a server");
        let listed = Wire::open(&live).result("tools/list", json!({})).await;
        names.extend(
            listed["tools"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|tool| tool["name"].clone()),
        );
        each_fails_alone(&live, &names[1..]).await;
        names
    };
    assert_eq!(names.len(), broken_tools().len() + 1);
}

async fn each_fails_alone(live: &LiveServer, names: &[Value]) {
    for &revision in Revision::ALL {
        let mut wire = Wire::at(live, revision).await;
        for name in names {
            is_hidden(&wire.error("tools/call", json!({ "name": name })).await);
            assert_eq!(wire.text("fine", json!({})).await, "fine", "after {name}");
        }
        wire.hang_up().await;
    }
}

// rule: RS9
#[tokio::test]
async fn prompts_resources_and_completions_fail_alike() {
    let live = Server::new("s", "1")
        .prompt(Prompt::new("panic", async || -> &'static str {
            panic!("{SECRET}")
        }))
        .prompt(Prompt::new("fault", async || Err::<&str, _>(Leak)))
        .resource(Resource::new("panic://it", async || -> &'static str {
            panic!("{SECRET}")
        }))
        .resource(Resource::new("fault://it", async || Err::<&str, _>(Leak)))
        .resource(
            Resource::new("c://{panic}/{head}/{fault}", async || "")
                .complete("panic", async |_: String| -> Vec<String> {
                    panic!("{SECRET}")
                })
                .complete("head", completing_at_once)
                .complete("fault", async |_: String| Err::<Vec<String>, _>(Leak)),
        )
        .build()
        .expect("a server");
    let mut wire = Wire::open(&live);
    for name in ["panic", "fault"] {
        is_hidden(&wire.error("prompts/get", json!({ "name": name })).await);
        is_hidden(
            &wire
                .error("resources/read", json!({ "uri": format!("{name}://it") }))
                .await,
        );
    }
    for name in ["panic", "head", "fault"] {
        let reference = json!({ "type": "ref/resource", "uri": "c://{panic}/{head}/{fault}" });
        let params = json!({ "ref": reference, "argument": { "name": name, "value": "" } });
        is_hidden(&wire.error("completion/complete", params).await);
    }
    wire.assert_quiet().await;
}

fn completing_at_once(_: String) -> std::future::Ready<Vec<String>> {
    panic!("{SECRET}")
}

#[tokio::test]
async fn a_panic_in_a_rule_of_visibility_is_a_fault_of_the_request() {
    let live = Server::new("s", "1")
        .tool(Tool::new("fine", async || "fine"))
        .tool(Tool::new("ghost", async || "boo").visible(|_| panic!("{SECRET}")))
        .prompt(Prompt::new("ghost", async || "boo").visible(|_| panic!("{SECRET}")))
        .resource(Resource::new("ghost://{x}", async || "boo").visible(|_| panic!("{SECRET}")))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        for (method, params) in [
            ("tools/list", json!({})),
            ("tools/call", json!({ "name": "ghost" })),
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "ghost" })),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({ "uri": "ghost://1" })),
        ] {
            is_hidden(&wire.error(method, params).await);
            assert_eq!(wire.text("fine", json!({})).await, "fine");
        }
        wire.hang_up().await;
    }
}

#[tokio::test]
async fn a_tool_error_is_a_result_for_the_model_to_read() {
    let live = Server::new("s", "1")
        .tool(Tool::new("text", async || {
            Err::<(), _>(ToolError::new("no seats left"))
        }))
        .tool(Tool::new("content", async || {
            let picture = Image::new("image/png", [1]).into();
            Err::<(), _>(ToolError::with_content(vec![
                ContentBlock::text("look"),
                picture,
            ]))
        }))
        .tool(Tool::new("any", async || {
            "x".parse::<u32>().map_err(ToolError::shown)
        }))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        for (tool, text) in [
            ("text", "no seats left"),
            ("content", "look"),
            ("any", "invalid digit found in string"),
        ] {
            let result = wire.call(tool, json!({})).await;
            assert_eq!(result["isError"], true, "{tool} at {revision}");
            assert_eq!(result["content"][0]["text"], text);
        }
        assert_eq!(
            wire.call("content", json!({})).await["content"][1]["type"],
            "image"
        );
    }
}

#[tokio::test]
async fn a_reject_is_an_error_of_the_protocol_from_wherever_it_comes() {
    fn reject() -> Reject {
        Reject::new(1042, "not on a Sunday").with_data(json!({ "day": "Sunday" }))
    }
    let layer = async |_: Call<'static>, _: Next| Err::<Reply, Failure>(reject().into());
    let live = Server::new("s", "1")
        .tool(Tool::new("bare", async || Err::<(), _>(reject())))
        .tool(Tool::new("as-tool-error", async || {
            Err::<(), _>(ToolError::from(reject()))
        }))
        .tool(Tool::new("layered", async || "").layer(layer))
        .prompt(Prompt::new("prompt", async || Err::<&str, _>(reject())))
        .prompt(Prompt::new("failure", async || {
            Err::<&str, _>(Failure::from(reject()))
        }))
        .resource(Resource::new("r://it", async || Err::<&str, _>(reject())))
        .build()
        .expect("a server");
    let expected =
        json!({ "code": 1042, "message": "not on a Sunday", "data": { "day": "Sunday" } });
    let mut wire = Wire::open(&live);
    for tool in ["bare", "as-tool-error", "layered"] {
        assert_eq!(
            wire.error("tools/call", json!({ "name": tool })).await,
            expected,
            "{tool}"
        );
    }
    for prompt in ["prompt", "failure"] {
        assert_eq!(
            wire.error("prompts/get", json!({ "name": prompt })).await,
            expected
        );
    }
    assert_eq!(
        wire.error("resources/read", json!({ "uri": "r://it" }))
            .await,
        expected
    );
}

#[tokio::test]
async fn a_tool_error_outside_a_tool_is_an_error_with_its_text() {
    let live = Server::new("s", "1")
        .prompt(Prompt::new("p", async || {
            Err::<&str, _>(ToolError::new("no such city"))
        }))
        .resource(Resource::new("r://it", async || {
            Err::<&str, _>(ToolError::new("no such city"))
        }))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&live);
    let expected = json!({ "code": -32603, "message": "no such city" });
    assert_eq!(
        wire.error("prompts/get", json!({ "name": "p" })).await,
        expected
    );
    assert_eq!(
        wire.error("resources/read", json!({ "uri": "r://it" }))
            .await,
        expected
    );
}

// rule: J9
#[tokio::test]
async fn codes_that_a_revision_must_not_send_are_not_sent() {
    // errors: 2026-07-28 MUST NOT emit -32002 and -32042, nor the codes it keeps in reserve.
    let cases = [
        (-32002, -32602),
        (-32042, -32603),
        (-32023, -32603),
        (-32099, -32603),
        (-32050, -32603),
        (-32602, -32602),
        (-32000, -32000),
        (7, 7),
    ];
    let mut server = Server::new("s", "1");
    for (index, (code, _)) in cases.into_iter().enumerate() {
        let handler = move || async move { Err::<(), _>(Reject::new(code, "no")) };
        server = server.tool(Tool::new(format!("t{index}"), handler));
    }
    let mut wire = Wire::open(&server.build().expect("a server"));
    for (index, (code, sent)) in cases.into_iter().enumerate() {
        let name = format!("t{index}");
        assert_eq!(
            wire.code("tools/call", json!({ "name": name })).await,
            sent,
            "{code}"
        );
    }
}

#[tokio::test]
async fn a_handler_that_says_not_found_says_it_in_the_words_of_the_revision() {
    let lost = async || Err::<&str, _>(Reject::resource_not_found("r://it"));
    let live = Server::new("s", "1")
        .resource(Resource::new("r://it", lost))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        let code = if revision.is_modern() { -32602 } else { -32002 };
        assert_eq!(
            wire.code("resources/read", json!({ "uri": "r://it" }))
                .await,
            code
        );
    }
}

#[tokio::test]
async fn a_panic_leaves_the_other_calls_of_its_connection_alone() {
    let gate = crate::gate::Gate::new();
    let live = gate
        .server()
        .tool(Tool::new("late-panic", late))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&live);
    let waiting = wire.ask_tool("wait", json!({})).await;
    gate.arrived(1).await;
    is_hidden(
        &wire
            .error("tools/call", json!({ "name": "late-panic" }))
            .await,
    );
    gate.open(1);
    assert_eq!(wire.receive().await["id"], waiting);
}
