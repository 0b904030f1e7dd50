//! What a server limits, and what it requests from clients by itself: rates, pings, progress of
//! questions, the list of roots.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use turnbuckle_protocol::{
    CallToolResult, ContentBlock, CreateMessageRequestParams, Meta, Revision, TextResourceContents,
};
use turnbuckle_server::{
    Args, Ask, Caller, KeepAlive, LiveServer, Log, Ping, Progress, Prompt, Rates, Server, Tool,
    ToolError,
};
use turnbuckle_transport::Rate;

use crate::wire::{Wire, modern_meta};

/// A session of a client with these capabilities.
async fn open(live: &LiveServer, revision: Revision, capabilities: Value) -> Wire {
    let mut wire = Wire::open(live);
    wire.speak(revision);
    let client = json!({ "name": "wire", "version": "1" });
    let params = json!({
        "protocolVersion": revision.as_str(), "capabilities": capabilities, "clientInfo": client,
    });
    wire.result("initialize", params).await;
    wire.notify("notifications/initialized", Value::Null).await;
    wire
}

/// Returns the next message of the server, whatever it is.
async fn hear(wire: &mut Wire) -> Value {
    let line = wire.next_line().await.expect("a message");
    serde_json::from_str(&line).expect("JSON")
}

async fn answer(wire: &mut Wire, request: &Value, result: Value) {
    wire.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
        .await;
}

/// Calls a tool, with this in `_meta`; returns the messages before the answer, and the answer.
async fn call(
    wire: &mut Wire,
    revision: Revision,
    tool: &str,
    meta: &[(&str, Value)],
) -> (Vec<Value>, Value) {
    let mut own = if revision.is_modern() {
        modern_meta()
    } else {
        json!({})
    };
    for (key, value) in meta {
        own[*key] = value.clone();
    }
    let params = json!({ "name": tool, "arguments": {}, "_meta": own });
    let id = wire.ask("tools/call", params).await;
    let mut before = Vec::new();
    loop {
        let message = wire.receive().await;
        if message["id"] == id {
            return (before, message);
        }
        before.push(message);
    }
}

const STEPS: u32 = 5000;

// rule: PC7
#[tokio::test]
async fn reports_that_come_too_soon_give_way_to_newer_ones_and_the_last_is_sent() {
    async fn busy(progress: Progress) -> &'static str {
        for step in 0..STEPS {
            progress.at(step).await;
        }
        "done"
    }
    let rates = Rates::default().with_progress(Rate::new(3, 1));
    let server = Server::new("s", "1").rates(rates);
    let live = server
        .tool(Tool::new("busy", busy))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        let token = [("progressToken", json!("t"))];
        let (reports, _) = call(&mut wire, revision, "busy", &token).await;
        let steps: Vec<_> = reports
            .iter()
            .map(|report| report["params"]["progress"].as_u64().expect("a number"))
            .collect();
        assert_eq!(steps[..3], [0, 1, 2], "{revision}");
        assert_eq!(steps.last(), Some(&u64::from(STEPS - 1)), "{revision}");
        assert!(steps.len() < 1000, "{revision}: {}", steps.len());
        assert!(steps.is_sorted());
    }
}

// rule: PC7
#[tokio::test]
async fn a_report_that_says_that_all_is_done_never_waits() {
    async fn steps(progress: Progress) -> &'static str {
        for step in 1..=10 {
            progress.of(step, 10).await;
        }
        progress.at(11).await;
        "done"
    }
    let rates = Rates::default().with_progress(Rate::new(1, 1));
    let server = Server::new("s", "1").rates(rates);
    let live = server
        .tool(Tool::new("steps", steps))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let token = [("progressToken", json!(7))];
    let (reports, _) = call(&mut wire, Revision::LATEST, "steps", &token).await;
    let steps: Vec<_> = reports
        .iter()
        .map(|report| report["params"]["progress"].as_u64().expect("a number"))
        .collect();
    assert_eq!(steps.first(), Some(&1));
    assert!(steps.ends_with(&[10, 11]), "{steps:?}");
}

// rule: PC7
#[tokio::test]
async fn reports_that_all_is_done_are_slowed_too_if_they_go_on() {
    async fn growing(progress: Progress) -> &'static str {
        for step in 1..=STEPS {
            progress.of(step, step).await;
        }
        "done"
    }
    let rates = Rates::default().with_progress(Rate::new(3, 1));
    let server = Server::new("s", "1").rates(rates);
    let live = server
        .tool(Tool::new("growing", growing))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let token = [("progressToken", json!(7))];
    let (reports, _) = call(&mut wire, Revision::LATEST, "growing", &token).await;
    let last = &reports.last().expect("a report")["params"]["progress"];
    assert_eq!(last.as_u64(), Some(u64::from(STEPS)));
    assert!(reports.len() < 1000, "{}", reports.len());
}

// rule: L3
#[tokio::test]
async fn log_messages_beyond_the_rate_are_dropped_and_counted() {
    async fn chatter(log: Log) -> &'static str {
        for number in 0..STEPS {
            log.info(number);
        }
        "done"
    }
    let rates = Rates::default().with_log_messages(Rate::new(3, 1));
    let server = Server::new("s", "1").rates(rates);
    let live = server
        .tool(Tool::new("chatter", chatter))
        .build()
        .expect("a server");
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        let level = if revision.is_modern() {
            vec![("io.modelcontextprotocol/logLevel", json!("info"))]
        } else {
            Vec::new()
        };
        let (said, _) = call(&mut wire, revision, "chatter", &level).await;
        assert_eq!(said[0]["params"]["data"], 0);
        let lost: u64 = said
            .iter()
            .filter_map(|message| message["params"]["data"]["dropped"].as_u64())
            .sum();
        let told = said
            .iter()
            .filter(|message| message["params"]["data"].is_u64());
        assert_eq!(told.count() as u64 + lost, u64::from(STEPS), "{revision}");
        assert!(lost > 4000, "{revision}: {lost}");
    }
}

fn pings() -> KeepAlive {
    KeepAlive::every(Duration::from_secs(1))
        .timeout(Duration::from_secs(1))
        .failures(2)
}

// rule: PG1, PG2
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_answer_pings_loses_its_session() {
    for &revision in Revision::LEGACY {
        let server = Server::new("s", "1").keep_alive(pings().on_pipes());
        let live = server.build().expect("a server");
        let mut wire = open(&live, revision, json!({})).await;
        for _ in 0..5 {
            let ping = hear(&mut wire).await;
            assert_eq!(ping["method"], "ping", "{revision}");
            answer(&mut wire, &ping, json!({})).await;
        }
        for _ in 0..2 {
            assert_eq!(hear(&mut wire).await["method"], "ping");
            assert_eq!(hear(&mut wire).await["method"], "notifications/cancelled");
        }
        assert_eq!(wire.next_line().await, None, "{revision}");
    }
}

// rule: PG1
#[tokio::test(start_paused = true)]
async fn a_client_that_says_in_a_batch_that_it_is_initialized_is_pinged() {
    let live = Server::new("s", "1").keep_alive(pings().on_pipes()).build();
    let mut wire = Wire::open(&live.expect("a server"));
    wire.initialize(Revision::V2025_03_26.as_str()).await;
    wire.send(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]))
        .await;
    assert_eq!(hear(&mut wire).await["method"], "ping");
}

// rule: PG1
#[tokio::test(start_paused = true)]
async fn pipes_and_modern_clients_are_left_alone() {
    let live = Server::new("s", "1").keep_alive(pings()).build();
    let live = live.expect("a server");
    let mut wire = open(&live, Revision::V2025_11_25, json!({})).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    wire.assert_quiet().await;
    let live = Server::new("s", "1").keep_alive(pings().on_pipes()).build();
    let mut wire = Wire::at(&live.expect("a server"), Revision::LATEST).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    wire.assert_quiet().await;
}

// rule: PG1
#[tokio::test(start_paused = true)]
async fn a_handler_can_ping_the_client_of_its_call() {
    async fn look(ping: Ping) -> String {
        match ping.send(Duration::from_secs(2)).await {
            Ok(_) => "answered".to_owned(),
            Err(error) => error.to_string(),
        }
    }
    let server = Server::new("s", "1").tool(Tool::new("look", look));
    let live = server.build().expect("a server");
    for &revision in Revision::LEGACY {
        let mut wire = open(&live, revision, json!({})).await;
        for (answers, said) in [
            (true, "answered"),
            (false, "the client did not answer the ping within 2s"),
        ] {
            wire.send(&json!({
                "jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": { "name": "look" },
            }))
            .await;
            let ping = hear(&mut wire).await;
            assert_eq!(ping["method"], "ping", "{revision}");
            if answers {
                answer(&mut wire, &ping, json!({})).await;
            } else {
                assert_eq!(hear(&mut wire).await["method"], "notifications/cancelled");
            }
            let answered = hear(&mut wire).await;
            assert_eq!(answered["result"]["content"][0]["text"], said, "{revision}");
        }
    }
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let (before, answered) = call(&mut wire, Revision::LATEST, "look", &[]).await;
    assert!(before.is_empty(), "{before:?}");
    let text = "a client of 2026-07-28 or later cannot be pinged";
    assert_eq!(answered["result"]["content"][0]["text"], text);
}

// rule: PC8
#[tokio::test]
async fn a_client_tells_how_far_its_answer_is() {
    let heard: Arc<Mutex<Vec<f64>>> = Arc::default();
    let kept = Arc::clone(&heard);
    let write = move |Ask(ask): Ask| {
        let kept = Arc::clone(&kept);
        async move {
            let request = CreateMessageRequestParams::new(vec![], 10);
            let written = ask.sample("text", request).progress(move |report| {
                kept.lock().expect("no panic").push(report.progress);
            });
            Ok::<_, ToolError>(written.await?.model)
        }
    };
    let server = Server::new("s", "1").tool(Tool::new("write", write));
    let live = server.build().expect("a server");
    for &revision in Revision::LEGACY {
        heard.lock().expect("no panic").clear();
        let mut wire = open(&live, revision, json!({ "sampling": {} })).await;
        let params = json!({ "name": "write", "arguments": {} });
        wire.ask("tools/call", params).await;
        let asked = hear(&mut wire).await;
        assert_eq!(asked["method"], "sampling/createMessage");
        let token = asked["params"]["_meta"]["progressToken"].clone();
        assert!(!token.is_null(), "{asked}");
        for (token, progress) in [
            (&token, 1.0),
            (&json!("other"), 2.0),
            (&token, 2.0),
            (&token, 1.5),
            (&token, 3.0),
        ] {
            let params = json!({ "progressToken": token, "progress": progress });
            wire.notify("notifications/progress", params).await;
        }
        let content = json!({ "type": "text", "text": "hi" });
        let said = json!({ "role": "assistant", "model": "m", "content": content });
        answer(&mut wire, &asked, said).await;
        wire.receive().await;
        // progress: a report after the answer belongs to no request.
        let params = json!({ "progressToken": token, "progress": 9 });
        wire.notify("notifications/progress", params).await;
        wire.result("ping", json!({})).await;
        assert_eq!(
            *heard.lock().expect("no panic"),
            [1.0, 2.0, 3.0],
            "{revision}"
        );
    }
}

fn rooted() -> LiveServer {
    async fn roots(Ask(ask): Ask) -> Result<String, ToolError> {
        let roots = ask.roots("roots").await?;
        Ok(roots
            .into_iter()
            .map(|root| root.uri)
            .collect::<Vec<_>>()
            .join(" "))
    }
    let server = Server::new("s", "1").tool(Tool::new("roots", roots));
    server.build().expect("a server")
}

fn text(answer: &Value) -> &Value {
    &answer["result"]["content"][0]["text"]
}

// rule: O4
#[tokio::test]
async fn roots_are_asked_for_once_until_the_client_says_that_they_changed() {
    let live = rooted();
    for &revision in Revision::LEGACY {
        let mut wire = open(&live, revision, json!({ "roots": { "listChanged": true } })).await;
        for uri in ["file:///a", "file:///b"] {
            for round in 0..3 {
                let params = json!({ "name": "roots", "arguments": {} });
                wire.ask("tools/call", params).await;
                if round == 0 {
                    let asked = hear(&mut wire).await;
                    assert_eq!(asked["method"], "roots/list", "{revision}");
                    answer(&mut wire, &asked, json!({ "roots": [{ "uri": uri }] })).await;
                }
                assert_eq!(text(&wire.receive().await), uri, "{revision}, {round}");
            }
            wire.notify("notifications/roots/list_changed", Value::Null)
                .await;
        }
    }
}

// rule: O4
#[tokio::test]
async fn a_client_that_does_not_tell_of_changes_is_asked_each_time() {
    let live = rooted();
    let mut wire = open(&live, Revision::V2025_06_18, json!({ "roots": {} })).await;
    for uri in ["file:///a", "file:///b"] {
        wire.ask("tools/call", json!({ "name": "roots", "arguments": {} }))
            .await;
        let asked = hear(&mut wire).await;
        answer(&mut wire, &asked, json!({ "roots": [{ "uri": uri }] })).await;
        assert_eq!(text(&wire.receive().await), uri);
    }
}

// rule: J15
#[tokio::test]
async fn an_odd_root_does_not_lose_the_others_however_it_is_asked_for() {
    let live = rooted();
    let odd = json!([7, { "name": "nameless" }, { "uri": "file:///a" }, { "uri": 5 }]);
    let mut wire = open(&live, Revision::V2025_11_25, json!({ "roots": {} })).await;
    wire.ask("tools/call", json!({ "name": "roots", "arguments": {} }))
        .await;
    let asked = hear(&mut wire).await;
    answer(&mut wire, &asked, json!({ "roots": odd })).await;
    assert_eq!(text(&wire.receive().await), "file:///a");

    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let mut meta = modern_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "roots": {} });
    let mut params = json!({ "name": "roots", "arguments": {}, "_meta": meta });
    wire.ask("tools/call", params.clone()).await;
    let paused = hear(&mut wire).await["result"].take();
    params["requestState"] = paused["requestState"].clone();
    params["inputResponses"] = json!({ "roots": { "roots": odd } });
    let result = wire.result("tools/call", params).await;
    assert_eq!(result["content"][0]["text"], "file:///a", "{result}");
}

// rule: J15
#[tokio::test]
async fn odd_parts_of_initialize_do_not_lose_the_rest() {
    let live = rooted();
    let mut wire = Wire::open(&live);
    wire.speak(Revision::V2025_11_25);
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "roots": { "listChanged": "yes" }, "elicitation": 7, "sampling": {} },
        "clientInfo": { "name": "odd", "version": "1", "icons": [3], "title": 7 },
    });
    let result = wire.result("initialize", params).await;
    assert_eq!(result["protocolVersion"], "2025-11-25");
    wire.notify("notifications/initialized", Value::Null).await;
    // The roots that could be parsed are still used.
    wire.ask("tools/call", json!({ "name": "roots", "arguments": {} }))
        .await;
    assert_eq!(hear(&mut wire).await["method"], "roots/list");
}

// rule: J10
#[tokio::test]
async fn keys_of_meta_in_results_that_break_the_grammar_are_left_out() {
    async fn marked() -> CallToolResult {
        let meta = || {
            Meta(
                json!({ "com.example/good": 1, "-bad": 2, "a..b/c": 3, "plain": 4 })
                    .as_object()
                    .cloned()
                    .unwrap_or_default(),
            )
        };
        let mut block = ContentBlock::text("hi");
        if let ContentBlock::Text(text) = &mut block {
            text.meta = Some(meta());
        }
        let mut contents = TextResourceContents::new("a:b", "text");
        contents.meta = Some(meta());
        let embedded = ContentBlock::resource(contents);
        let mut result = CallToolResult::new(vec![block, embedded]);
        result.meta = Some(meta());
        result
    }
    let server = Server::new("s", "1").tool(Tool::new("marked", marked).task());
    let live = server.build().expect("a server");
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::LATEST,
    ] {
        let mut wire = Wire::at(&live, revision).await;
        let (_, answer) = call(&mut wire, revision, "marked", &[]).await;
        assert_good_keys(&answer["result"], revision);
    }
    // A task cannot return such a result either.
    let mut wire = Wire::at(&live, Revision::V2025_11_25).await;
    let params = json!({ "name": "marked", "arguments": {}, "task": {} });
    let mut answered = async |method: &str, params: Value| {
        let id = wire.ask(method, params).await;
        loop {
            let message = hear(&mut wire).await;
            if message["id"] == id {
                return message;
            }
        }
    };
    let created = answered("tools/call", params).await;
    let waiting = json!({ "taskId": created["result"]["task"]["taskId"] });
    let answer = answered("tasks/result", waiting).await;
    assert_good_keys(&answer["result"], Revision::V2025_11_25);
}

fn assert_good_keys(result: &Value, revision: Revision) {
    for meta in [
        &result["_meta"],
        &result["content"][0]["_meta"],
        &result["content"][1]["resource"]["_meta"],
    ] {
        assert_eq!(meta["com.example/good"], 1, "{revision}: {result}");
        assert_eq!(meta["plain"], 4);
        assert!(meta.get("-bad").is_none() && meta.get("a..b/c").is_none());
    }
}

// rule: J17
#[tokio::test]
async fn errors_of_the_protocol_are_one_line() {
    let live = rooted();
    for &revision in Revision::ALL {
        let mut wire = Wire::at(&live, revision).await;
        let big = "x".repeat(3000);
        for (method, params) in [
            ("tools/call", json!({ "name": "no such tool" })),
            ("tools/call", json!({ "name": "no\nsuch\u{2028}tool" })),
            ("tools/call", json!({ "name": "roots", "arguments": [] })),
            ("tools/call", json!({ "name": big })),
            ("tools/call", json!({})),
            ("tools/list", json!({ "cursor": "no\ncursor" })),
            ("no/such\nmethod", json!({})),
        ] {
            let error = wire.error(method, params).await;
            let message = error["message"].as_str().expect("a message");
            assert!(!message.contains('\n'), "{revision}: {message}");
            assert!(message.len() < 400, "{revision}: {message}");
        }
    }
}

// rule: T3, J18, RS11
#[tokio::test]
async fn a_caller_who_asks_too_often_gets_an_error_with_a_code_of_our_own() {
    let rates = Rates::default()
        .with_tool_calls(Rate::new(2, 1))
        .with_completions(Rate::new(1, 1));
    let towns =
        Prompt::new("towns", async |_town: Args<Town>| "").complete("town", ["Oslo", "Lyon"]);
    let server = Server::new("s", "1")
        .rates(rates)
        .tool(Tool::new("tool", async || "done"))
        .prompt(towns);
    let live = server.build().expect("a server");
    for &revision in Revision::ALL {
        // Each revision has a caller of its own, whose calls are counted separately.
        let mut wire = Wire::at_as(&live, revision, Caller::new(revision.as_str())).await;
        let tool = json!({ "name": "tool", "arguments": {} });
        let reference = json!({ "type": "ref/prompt", "name": "towns" });
        let argument = json!({ "name": "town", "value": "O" });
        let completion = json!({ "ref": reference, "argument": argument });
        for (method, params, accepted) in [
            ("tools/call", tool, 2),
            ("completion/complete", completion, 1),
        ] {
            // More calls are allowed if a second passes in the meantime.
            let mut refused = None;
            for number in 0..100 {
                let response = wire.request(method, params.clone()).await;
                if let Some(error) = response.get("error") {
                    assert!(number >= accepted, "{revision}: {error}");
                    refused = Some(error.clone());
                    break;
                }
            }
            let error = refused.expect("so many in a row are too many");
            assert_eq!(error["code"], 429, "{revision}: {error}");
            let message = error["message"].as_str().expect("a message");
            assert!(message.contains("rate limit"), "{message}");
        }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Town {
    #[expect(dead_code, reason = "it is only completed")]
    town: String,
}

// rule: I6
#[tokio::test]
async fn answers_that_cannot_be_read_are_refused_with_an_error() {
    let live = rooted();
    let mut wire = Wire::at(&live, Revision::LATEST).await;
    let mut meta = modern_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "roots": {} });
    let params = json!({ "name": "roots", "arguments": {}, "_meta": meta });
    wire.ask("tools/call", params.clone()).await;
    let paused = hear(&mut wire).await["result"].take();
    for responses in [
        json!(7),
        json!([]),
        json!({ "roots": 7 }),
        json!({ "roots": { "roots": 7 } }),
        json!({ "roots": { "action": "accept" } }),
    ] {
        let mut retry = params.clone();
        retry["requestState"] = paused["requestState"].clone();
        retry["inputResponses"] = responses.clone();
        let error = wire.error("tools/call", retry).await;
        assert_eq!(error["code"], -32602, "{responses}");
    }
}
