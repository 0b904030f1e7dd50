//! The parameters that a handler can have, and the value of each.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{
    Args, Call, CallMeta, Caller, Cancelled, Catalog, ClientInfo, Extract, Failure, Log, Progress,
    Prompt, RawArgs, Reject, Resource, Server, SetupError, State, Tool, Uri,
};

use crate::{gate::Gate, wire::Wire};

#[derive(Clone)]
struct Shelf(Arc<str>);

async fn shelf(State(Shelf(name)): State<Shelf>) -> String {
    name.to_string()
}

fn problem(server: Server) -> SetupError {
    match server.build() {
        Ok(_) => panic!("the server should not be one"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_state_is_there_for_tools_prompts_and_resources() {
    let server = Server::new("s", "1")
        .state(7_u32)
        .state(Shelf("second".into()))
        .tool(Tool::new("shelf", shelf))
        .prompt(Prompt::new("shelf", shelf))
        .resource(Resource::new("shelf://it", shelf))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&server);
    assert_eq!(wire.text("shelf", json!({})).await, "second");
    let prompt = wire.result("prompts/get", json!({ "name": "shelf" })).await;
    assert_eq!(prompt["messages"][0]["content"]["text"], "second");
    let read = wire
        .result("resources/read", json!({ "uri": "shelf://it" }))
        .await;
    assert_eq!(read["contents"][0]["text"], "second");
}

#[test]
fn a_missing_state_is_found_when_the_server_is_built() {
    let servers = [
        (
            Server::new("s", "1").tool(Tool::new("shelf", shelf)),
            "tool `shelf`",
        ),
        (
            Server::new("s", "1").prompt(Prompt::new("shelf", shelf)),
            "prompt `shelf`",
        ),
        (
            Server::new("s", "1").resource(Resource::new("shelf://it", shelf)),
            "resource `shelf://it`",
        ),
    ];
    for (server, named) in servers {
        let error = problem(server);
        assert!(matches!(error, SetupError::MissingState { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(named) && text.contains("Shelf") && text.contains(".state("),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_running_server_refuses_a_tool_whose_state_it_lacks() {
    let live = Server::new("s", "1").build().expect("a server");
    let error = live
        .catalog()
        .add_tool(Tool::new("shelf", shelf))
        .expect_err("no state");
    assert!(matches!(error, SetupError::MissingState { .. }), "{error}");
    let listed = Wire::open(&live).result("tools/list", json!({})).await;
    assert_eq!(listed["tools"], json!([]));
}

/// An extractor of the test: it reads the caller, and can reject the request.
struct Tenant(String);

impl Extract for Tenant {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let id = call
            .caller()
            .id()
            .ok_or_else(|| Reject::new(401, "log in first"))?;
        Ok(Self(format!("{id} at {}", call.name())))
    }
}

#[tokio::test]
async fn an_extractor_of_ones_own_sees_the_call_and_may_refuse_it() {
    let server = Server::new("s", "1")
        .tool(Tool::new("must", async |Tenant(tenant): Tenant| tenant))
        .tool(Tool::new("may", async |tenant: Option<Tenant>| {
            tenant.map_or("nobody".to_owned(), |Tenant(tenant)| tenant)
        }))
        .build()
        .expect("a server");
    let mut local = Wire::open(&server);
    let refused = local.error("tools/call", json!({ "name": "must" })).await;
    assert_eq!(refused, json!({ "code": 401, "message": "log in first" }));
    assert_eq!(local.text("may", json!({})).await, "nobody");
    let mut known = Wire::open_as(&server, Caller::new("ann"));
    assert_eq!(known.text("must", json!({})).await, "ann at must");
    assert_eq!(known.text("may", json!({})).await, "ann at may");
}

#[tokio::test]
async fn an_optional_state_may_be_missing() {
    let server = Server::new("s", "1")
        .state(7_u32)
        .tool(Tool::new("has", async |state: Option<State<u32>>| {
            state.map_or(0, |State(n)| n)
        }))
        .tool(Tool::new("lacks", async |state: Option<State<u64>>| {
            state.is_none()
        }))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&server);
    assert_eq!(wire.text("has", json!({})).await, "7");
    assert_eq!(wire.text("lacks", json!({})).await, "true");
}

#[tokio::test]
async fn an_optional_extractor_declares_what_it_does() {
    let server = Server::new("s", "1")
        .tool(Tool::new("logs", async |log: Option<Log>| log.is_some()))
        .tool(Tool::new("changes", async |catalog: Option<Catalog>| {
            catalog.is_some()
        }))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&server);
    let discovered = wire.result("server/discover", json!({})).await;
    let declared = &discovered["capabilities"];
    for capability in ["logging", "tools", "prompts", "resources"] {
        assert!(
            declared.get(capability).is_some(),
            "{capability}: {declared}"
        );
    }
    assert_eq!(wire.text("logs", json!({})).await, "true");
    assert_eq!(wire.text("changes", json!({})).await, "true");
}

#[test]
fn arguments_are_not_optional_as_a_whole() {
    #[derive(Deserialize, JsonSchema)]
    struct Seat {
        #[expect(dead_code, reason = "only its schema matters")]
        row: u32,
    }
    let tool = Tool::new("book", async |seat: Option<Args<Seat>>| seat.is_some());
    let text = problem(Server::new("s", "1").tool(tool)).to_string();
    assert!(text.contains("make the fields of `T` optional"), "{text}");
}

#[tokio::test]
async fn a_caller_brings_its_attributes() {
    #[derive(Debug)]
    struct Role(&'static str);
    let role = async |caller: Caller| {
        let role = caller.get::<Role>().map_or("none", |role| role.0);
        format!("{} {role}", caller.id().unwrap_or("local"))
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("role", role))
        .build()
        .expect("a server");
    let boss = Caller::new("ann").with(Role("boss"));
    assert_eq!(
        Wire::open_as(&server, boss).text("role", json!({})).await,
        "ann boss"
    );
    assert_eq!(
        Wire::open(&server).text("role", json!({})).await,
        "local none"
    );
}

#[tokio::test]
async fn the_introduction_is_the_sessions_or_the_requests_own() {
    let who = async |introduction: ClientInfo| {
        let name = introduction.info.map_or("?".to_owned(), |info| info.name);
        format!("{name} {}", introduction.capabilities.roots.is_some())
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("who", who))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&server);
    wire.speak(Revision::LATEST_LEGACY);
    let client = json!({ "name": "session", "version": "1" });
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": { "roots": {} }, "clientInfo": client
    });
    wire.result("initialize", params).await;
    assert_eq!(wire.text("who", json!({})).await, "session true");
    // Each modern request has its own capabilities, even beside a session.
    wire.speak(Revision::LATEST);
    assert_eq!(wire.text("who", json!({})).await, "wire false");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
        "io.modelcontextprotocol/clientInfo": "not an implementation",
    });
    let result = wire
        .result("tools/call", json!({ "name": "who", "_meta": meta }))
        .await;
    assert_eq!(result["content"][0]["text"], "? true");
}

#[tokio::test]
async fn the_meta_of_a_request_comes_whole() {
    let meta = async |CallMeta(meta): CallMeta| serde_json::to_string(&meta).unwrap_or_default();
    let server = Server::new("s", "1")
        .tool(Tool::new("meta", meta))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&server, Revision::V2025_06_18).await;
    assert_eq!(wire.text("meta", json!({})).await, "{}");
    let sent =
        json!({ "progressToken": "t", "example.com/x": [1, { "y": null }], "traceparent": "00" });
    let result = wire
        .result("tools/call", json!({ "name": "meta", "_meta": sent }))
        .await;
    assert_eq!(result["content"][0]["text"], sent.to_string());
}

#[derive(Deserialize, JsonSchema)]
struct Point {
    x: i32,
    y: i32,
}

#[tokio::test]
async fn raw_arguments_come_letter_by_letter_and_beside_typed_ones() {
    let both = async |Args(Point { x, y }): Args<Point>, RawArgs(raw): RawArgs| {
        format!(
            "{} {}",
            x + y,
            raw.map_or(String::new(), |raw| raw.get().to_owned())
        )
    };
    let none = async |RawArgs(raw): RawArgs| raw.is_none();
    let server = Server::new("s", "1")
        .tool(Tool::new("both", both))
        .tool(Tool::new("none", none))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&server, Revision::V2025_11_25).await;
    wire.send_line(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{ "y":2 ,"x":1, "z":1e2},"name":"both"}}"#,
    )
    .await;
    let answer = wire.receive().await;
    assert_eq!(
        answer["result"]["content"][0]["text"],
        r#"3 { "y":2 ,"x":1, "z":1e2}"#
    );
    for params in [
        json!({ "name": "none" }),
        json!({ "name": "none", "arguments": null }),
    ] {
        assert_eq!(
            wire.result("tools/call", params).await["content"][0]["text"],
            "true"
        );
    }
}

#[test]
fn arguments_are_taken_once() {
    let twice = async |Args(_): Args<Point>, Args(_): Args<Point>| "";
    let error = problem(Server::new("s", "1").tool(Tool::new("twice", twice)));
    assert!(
        error.to_string().contains("two `Args` parameters"),
        "{error}"
    );
}

#[tokio::test]
async fn a_resource_knows_the_uri_it_is_read_at() {
    let server = Server::new("s", "1")
        .resource(Resource::new("at://{place}", async |Uri(uri): Uri| uri))
        .build()
        .expect("a server");
    let read = Wire::open(&server)
        .result("resources/read", json!({ "uri": "at://b%65rn" }))
        .await;
    assert_eq!(
        read["contents"][0],
        json!({ "uri": "at://b%65rn", "text": "at://b%65rn" })
    );
}

#[tokio::test]
async fn a_tool_can_add_tools() {
    let teach = async |catalog: Catalog| {
        catalog
            .add_tool(Tool::new("taught", async || "learned"))
            .map(|()| "done")
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("teach", teach))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&server);
    assert_eq!(wire.text("teach", json!({})).await, "done");
    assert_eq!(wire.text("taught", json!({})).await, "learned");
    let again = wire.call("teach", json!({})).await;
    assert_eq!(again["isError"], true, "{again}");
}

async fn steps(progress: Progress) -> bool {
    progress.at(1.0).await;
    progress.of(2.5, 10.0).say("on the way").await;
    progress.of(2.5, 10.0).await;
    progress.at(2.0).await;
    progress.at(f64::NAN).await;
    progress.at(f64::INFINITY).await;
    progress.report(10.0, Some(10.0), None).await;
    progress.is_wanted()
}

// rule: PC1
#[tokio::test]
async fn progress_grows_and_comes_before_the_answer_where_it_was_asked_for() {
    // progress: the value MUST increase with each notification.
    let server = Server::new("s", "1")
        .tool(Tool::new("steps", steps))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server, revision).await;
        for token in [json!("t"), json!(7), json!(0), json!("")] {
            let params = json!({ "name": "steps", "_meta": { "progressToken": token } });
            wire.ask("tools/call", params).await;
            let mut second = json!({ "progressToken": token, "progress": 2.5, "total": 10 });
            if revision > Revision::V2024_11_05 {
                second["message"] = json!("on the way");
            }
            let expected = [
                json!({ "progressToken": token, "progress": 1 }),
                second,
                json!({ "progressToken": token, "progress": 10, "total": 10 }),
            ];
            for params in expected {
                let came = wire.receive().await;
                assert_eq!(came["method"], "notifications/progress", "{revision}");
                assert!(
                    same_numbers(&came["params"], &params),
                    "{revision}: {came} is not {params}"
                );
            }
            assert_eq!(wire.receive().await["result"]["content"][0]["text"], "true");
        }
    }
}

/// Compares two values; the numbers 1 and 1.0 are equal.
fn same_numbers(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| {
                    other
                        .get(key)
                        .is_some_and(|other| same_numbers(value, other))
                })
        }
        (one, other) => one == other,
    }
}

// rule: PC1
#[tokio::test]
async fn clients_that_did_not_ask_get_no_progress() {
    let server = Server::new("s", "1")
        .tool(Tool::new("steps", steps))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&server, revision).await;
        assert_eq!(wire.text("steps", json!({})).await, "false");
        for token in [json!(null), json!(1.5), json!(true), json!(["t"])] {
            let params = json!({ "name": "steps", "_meta": { "progressToken": token } });
            assert_eq!(
                wire.result("tools/call", params).await["content"][0]["text"],
                "false"
            );
        }
    }
}

// rule: PC1
#[tokio::test]
async fn progress_ends_with_the_answer() {
    // progress: notifications MUST stop after completion.
    let gate = Gate::new();
    let leave = async |State(gate): State<Gate>, progress: Progress| {
        progress.at(1.0).await;
        tokio::spawn(async move {
            gate.pass().await;
            progress.at(2.0).await;
            gate.pass().await;
        });
        "left"
    };
    let server = gate
        .server()
        .tool(Tool::new("leave", leave))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&server);
    wire.ask(
        "tools/call",
        json!({ "name": "leave", "_meta": { "progressToken": 1 } }),
    )
    .await;
    assert_eq!(wire.receive().await["params"]["progress"], 1);
    assert_eq!(wire.receive().await["result"]["content"][0]["text"], "left");
    gate.arrived(1).await;
    gate.open(1);
    gate.arrived(1).await; // At this point it has tried.
    wire.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn work_that_a_drop_does_not_reach_hears_of_the_cancellation() {
    let gate = Gate::new();
    let (told, mut heard) = tokio::sync::mpsc::channel(4);
    let detached = move |State(gate): State<Gate>, cancelled: Cancelled| {
        let (told, watched) = (told.clone(), cancelled.clone());
        async move {
            tokio::spawn(async move {
                watched.wait().await;
                let _ = told.send(watched.is_cancelled()).await;
            });
            gate.pass().await;
            cancelled.is_cancelled()
        }
    };
    let server = gate
        .server()
        .tool(Tool::new("detached", detached))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&server);
    // The call was not cancelled, so the flag is not set, even after the answer.
    gate.open(1);
    assert_eq!(wire.text("detached", json!({})).await, "false");
    gate.arrived(1).await;
    assert!(heard.try_recv().is_err());
    let id = wire.ask_tool("detached", json!({})).await;
    gate.arrived(1).await;
    wire.cancel(&json!(id)).await;
    assert_eq!(heard.recv().await, Some(true));
    gate.dropped(1).await;
    wire.ask_tool("detached", json!({})).await;
    gate.arrived(1).await;
    wire.hang_up().await;
    assert_eq!(
        heard.recv().await,
        Some(true),
        "the end of the connection is one too"
    );
}

// rule: PC6
#[tokio::test(start_paused = true)]
async fn the_reason_of_a_cancellation_reaches_the_handler() {
    let gate = Gate::new();
    let (told, mut heard) = tokio::sync::mpsc::channel(4);
    let detached = move |State(gate): State<Gate>, cancelled: Cancelled| {
        let told = told.clone();
        async move {
            tokio::spawn(async move {
                cancelled.wait().await;
                let _ = told.send(cancelled.reason().map(str::to_owned)).await;
            });
            gate.pass().await;
            "done"
        }
    };
    let server = gate
        .server()
        .tool(Tool::new("detached", detached))
        .build()
        .expect("a server");
    let mut wire = Wire::open(&server);
    for (reason, wanted) in [
        (
            json!("the user pressed stop"),
            Some("the user pressed stop"),
        ),
        (json!(7), None),
    ] {
        let id = wire.ask_tool("detached", json!({})).await;
        gate.arrived(1).await;
        let params = json!({ "requestId": id, "reason": reason });
        wire.notify("notifications/cancelled", params).await;
        let heard = heard.recv().await.expect("it was cancelled");
        assert_eq!(heard.as_deref(), wanted);
        gate.dropped(1).await;
    }
}
