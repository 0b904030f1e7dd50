//! Limits of one tool: time, and how many calls run at once. Also some small mistakes of authors.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use turnbuckle_protocol::{LoggingLevel, Revision};
use turnbuckle_server::{Log, Resource, Server, SetupError, State, Tool};

use crate::wire::Wire;

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_stopped_and_the_model_reads_so() {
    let live = Server::new("s", "1")
        .tool(
            Tool::new("slow", async || {
                std::future::pending::<()>().await;
                "never"
            })
            .timeout(Duration::from_secs(3)),
        )
        .tool(Tool::new("quick", async || "done").timeout(Duration::from_secs(3)))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        let call = |tool: &str| json!({ "name": tool, "arguments": {} });
        let slow = wire.result("tools/call", call("slow")).await;
        assert_eq!(slow["isError"], true);
        let said = slow["content"][0]["text"].as_str().expect("text");
        assert!(said.contains("3s"), "{said}");
        let quick = wire.result("tools/call", call("quick")).await;
        assert_eq!(quick["content"][0]["text"], "done");
    }
}

#[tokio::test]
async fn only_so_many_calls_of_a_tool_run_at_once_and_all_of_them_run() {
    const CALLS: usize = 6;
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let go = Arc::new(Semaphore::new(0));
    let tool = {
        let (running, most, go) = (running.clone(), most.clone(), go.clone());
        move || {
            let (running, most, go) = (running.clone(), most.clone(), go.clone());
            async move {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                let permit = go.acquire().await;
                running.fetch_sub(1, Ordering::SeqCst);
                permit.map_or("closed", |permit| {
                    permit.forget();
                    "done"
                })
            }
        }
    };
    let live = Server::new("s", "1")
        .tool(Tool::new("busy", tool).concurrency(2))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    for _ in 0..CALLS {
        wire.ask_tool("busy", json!({})).await;
    }
    for _ in 0..CALLS {
        go.add_permits(1);
        assert_eq!(wire.receive().await["result"]["content"][0]["text"], "done");
    }
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_tool_may_start_switched_off() {
    let live = Server::new("s", "1")
        .tool(Tool::new("later", async || "now").disabled())
        .build()
        .expect("a server");
    let catalog = live.catalog();
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let listed = wire.result("tools/list", json!({})).await;
    assert_eq!(listed["tools"], json!([]));
    assert!(catalog.enable_tool("later"));
    let listed = wire.result("tools/list", json!({})).await;
    assert_eq!(listed["tools"][0]["name"], "later");
}

#[test]
fn two_states_of_one_type_are_a_mistake() {
    async fn number(State(number): State<u32>) -> String {
        number.to_string()
    }
    let server = Server::new("s", "1")
        .state(1_u32)
        .state("text")
        .state(2_u32)
        .tool(Tool::new("number", number));
    let error = server.build().err().expect("two numbers");
    assert!(
        matches!(error, SetupError::DuplicateState { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("u32"), "{error}");
}

#[tokio::test]
async fn json_values_are_answers() {
    let live = Server::new("s", "1")
        .tool(Tool::new("object", async || json!({ "a": 1 })))
        .tool(Tool::new("list", async || json!([1, 2])))
        .resource(Resource::new("json://it", async || json!({ "a": 1 })))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let object = wire
        .result("tools/call", json!({ "name": "object", "arguments": {} }))
        .await;
    assert_eq!(object["structuredContent"], json!({ "a": 1 }));
    assert_eq!(object["content"][0]["text"], r#"{"a":1}"#);
    let list = wire
        .result("tools/call", json!({ "name": "list", "arguments": {} }))
        .await;
    assert_eq!(list["content"][0]["text"], "[1,2]");
    assert_eq!(list.get("structuredContent"), None);
    let read = wire
        .result("resources/read", json!({ "uri": "json://it" }))
        .await;
    assert_eq!(read["contents"][0]["mimeType"], "application/json");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Row {
    #[serde(rename = "row")]
    _row: u8,
}

#[tokio::test]
async fn a_template_has_variables_and_no_arguments() {
    async fn seat(_: turnbuckle_server::Args<Row>) -> &'static str {
        ""
    }
    let live = Server::new("s", "1")
        .resource(Resource::new("seat://{row}", seat).complete("row", ["1"]))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let complete = json!({
        "ref": { "type": "ref/resource", "uri": "seat://{row}" },
        "argument": { "name": "column", "value": "" }
    });
    let error = wire.error("completion/complete", complete).await;
    assert_eq!(
        error["message"],
        "template `seat://{row}` has no variable `column`: it has `row`"
    );
    let error = wire
        .error("resources/read", json!({ "uri": "seat://x" }))
        .await;
    let message = error["message"].as_str().expect("text");
    assert!(
        message.starts_with("the URI does not match its template: variable `row`: "),
        "{message}"
    );
    assert!(
        !message.contains("argument") && !message.contains('\n'),
        "{message}"
    );
}

async fn chatter(log: Log) -> &'static str {
    log.debug("mumble");
    log.info("hello");
    log.error("ouch");
    "done"
}

async fn heard(server: Server, revision: Revision) -> Vec<Value> {
    let live = server
        .tool(Tool::new("chatter", chatter))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, revision).await;
    wire.ask_tool("chatter", json!({})).await;
    let mut heard = Vec::new();
    loop {
        let message = wire.receive().await;
        if message.get("id").is_some() {
            return heard;
        }
        heard.push(message["params"]["data"].clone());
    }
}

#[tokio::test]
async fn a_session_that_never_sets_a_level_gets_info_and_above_unless_set_otherwise() {
    let server = || Server::new("s", "1");
    for &revision in Revision::LEGACY {
        assert_eq!(heard(server(), revision).await, ["hello", "ouch"]);
        let severe = server().default_log_level(LoggingLevel::Error);
        assert_eq!(heard(severe, revision).await, ["ouch"]);
        let silent = server().no_default_log_level();
        assert!(heard(silent, revision).await.is_empty());
    }
    // A modern request sets its own log level.
    assert!(heard(server(), Revision::LATEST).await.is_empty());
}
