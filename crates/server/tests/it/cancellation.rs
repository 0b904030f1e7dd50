//! `notifications/cancelled`: the handler is dropped, no answer is sent, and the id can be used
//! again.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{
    Ask, Call, CompletionContext, Failure, Next, Prompt, Reply, Resource, Server, State, Tool,
};

use crate::{gate::Gate, wire::Wire};

// rule: S4
#[tokio::test]
async fn a_cancelled_call_is_dropped_unanswered_and_its_id_is_free() {
    // cancellation: receivers SHOULD stop processing and not answer the cancelled request.
    for &revision in Revision::ALL {
        let gate = Gate::new();
        let mut wire = Wire::at(&gate.live(), revision).await;
        let id = wire.ask_tool("wait", json!({})).await;
        gate.arrived(1).await;
        wire.cancel(&json!(id)).await;
        gate.dropped(1).await;
        gate.open(1);
        wire.assert_quiet().await;
        wire.ask_with(json!(id), "tools/call", json!({ "name": "wait" }))
            .await;
        let answer = wire.receive().await;
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(id), &json!("passed"))
        );
        assert_eq!(gate.count_dropped(), 0);
    }
}

// rule: PC11
#[tokio::test]
async fn a_cancellation_that_names_nothing_in_flight_is_ignored() {
    // cancellation: notifications for unknown or finished requests, and malformed ones, SHOULD be
    // ignored.
    let gate = Gate::new();
    let mut wire = Wire::at(&gate.live(), Revision::V2025_11_25).await;
    let done = wire.ask_tool("now", json!({})).await;
    wire.receive().await;
    let running = wire.ask_tool("wait", json!({})).await;
    gate.arrived(1).await;
    for id in [
        json!(done),
        json!(99),
        json!(running.to_string()),
        json!(null),
        json!([running]),
        json!(2.5),
    ] {
        wire.cancel(&id).await;
    }
    wire.notify("notifications/cancelled", json!({ "reason": "why not" }))
        .await;
    wire.notify("notifications/cancelled", Value::Null).await;
    wire.assert_quiet().await;
    assert_eq!(gate.count_dropped(), 0);
    gate.open(1);
    assert_eq!(wire.receive().await["id"], running);
}

#[tokio::test]
async fn any_id_can_be_cancelled_however_large() {
    let gate = Gate::new();
    let mut wire = Wire::at(&gate.live(), Revision::V2025_11_25).await;
    for id in [
        "-1",
        "18446744073709551615",
        "123456789012345678901234567890",
        r#""text""#,
        r#""""#,
    ] {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"wait"}}}}"#
        );
        wire.send_bytes(format!("{call}\n").as_bytes()).await;
        gate.arrived(1).await;
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
        wire.send_bytes(format!("{cancel}{id},\"reason\":\"enough\"}}}}\n").as_bytes())
            .await;
        gate.dropped(1).await;
    }
    wire.assert_quiet().await;
}

#[tokio::test]
async fn prompts_resources_completions_and_layered_calls_are_cancelled_alike() {
    let gate = Gate::new();
    let waiting = async |State(gate): State<Gate>| {
        gate.pass().await;
        "passed"
    };
    let around =
        async |call: Call<'static>, next: Next| -> Result<Reply, Failure> { next.run(call).await };
    let completing = {
        let gate = gate.clone();
        move |_: CompletionContext| {
            let gate = gate.clone();
            async move {
                gate.pass().await;
                vec!["passed"]
            }
        }
    };
    let server = gate
        .server()
        .tool(Tool::new("layered", waiting).layer(around))
        .prompt(Prompt::new("prompt", waiting))
        .resource(Resource::new("wait://{x}", waiting).complete("x", completing))
        .build()
        .expect("a server");
    let reference = json!({ "type": "ref/resource", "uri": "wait://{x}" });
    let mut wire = Wire::open(&server);
    for (method, params) in [
        ("tools/call", json!({ "name": "layered" })),
        ("prompts/get", json!({ "name": "prompt" })),
        ("resources/read", json!({ "uri": "wait://1" })),
        (
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "x", "value": "" } }),
        ),
    ] {
        let id = wire.ask(method, params).await;
        gate.arrived(1).await;
        wire.cancel(&json!(id)).await;
        gate.dropped(1).await;
    }
    wire.assert_quiet().await;
}

// rule: PC2
#[tokio::test]
async fn one_peer_cannot_cancel_for_another() {
    let gate = Gate::new();
    let live = gate.live();
    let mut one = Wire::open(&live);
    let mut other = Wire::open(&live);
    let id = one.ask_tool("wait", json!({})).await;
    gate.arrived(1).await;
    other.cancel(&json!(id)).await;
    other.assert_quiet().await;
    assert_eq!(gate.count_dropped(), 0);
    gate.open(1);
    assert_eq!(one.receive().await["id"], id);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_connection_ends_all_that_runs_on_it() {
    for hang_up in [true, false] {
        let gate = Gate::new();
        let live = gate.live();
        let mut wire = Wire::open(&live);
        let mut other = Wire::open(&live);
        for _ in 0..5 {
            wire.ask_tool("wait", json!({})).await;
        }
        other.ask_tool("wait", json!({})).await;
        gate.arrived(6).await;
        if hang_up {
            wire.hang_up().await;
        } else {
            wire.abandon().await;
        }
        gate.dropped(5).await;
        gate.open(1);
        other.receive().await;
        assert_eq!(gate.count_dropped(), 0);
    }
}

#[tokio::test]
async fn a_thousand_calls_cancelled_at_random_are_each_answered_once_or_never() {
    let gate = Gate::new();
    let mut wire = Wire::open(&gate.live());
    let ids: Vec<i64> = {
        let mut ids = Vec::new();
        for _ in 0..1000 {
            ids.push(wire.ask_tool("wait", json!({})).await);
        }
        ids
    };
    gate.arrived(1000).await;
    for id in ids.iter().filter(|id| *id % 3 == 0) {
        wire.cancel(&json!(id)).await;
    }
    gate.dropped(333).await;
    gate.open(667);
    let mut answered = Vec::new();
    for answer in wire.receive_many(667).await {
        answered.push(answer["id"].as_i64().expect("a number"));
    }
    answered.sort_unstable();
    let expected: Vec<i64> = ids.into_iter().filter(|id| id % 3 != 0).collect();
    assert_eq!(answered, expected);
    wire.assert_quiet().await;
}

/// Reads the server's question as a line, because `receive` expects only answers.
async fn question(wire: &mut Wire) -> Value {
    let line = wire.next_line().await.expect("a request");
    let request: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(request["method"], "roots/list");
    request["id"].clone()
}

// rule: V7, PC6
// lifecycle: a side that stops waiting for an answer SHOULD send a cancellation, servers too.
#[tokio::test(start_paused = true)]
async fn a_question_that_is_given_up_is_taken_back() {
    const PATIENT: Duration = Duration::from_secs(5);
    let folders = async |Ask(ask): Ask| match tokio::time::timeout(PATIENT, ask.roots("f")).await {
        Ok(_) => "listed",
        Err(_) => "too late",
    };
    let server = Server::new("s", "1").tool(Tool::new("folders", folders));
    let server = server.build().expect("a server");
    for &revision in Revision::LEGACY {
        let mut wire = Wire::open(&server);
        wire.speak(revision);
        let client = json!({ "name": "wire", "version": "1" });
        let params = json!({
            "protocolVersion": revision.as_str(), "capabilities": { "roots": {} }, "clientInfo": client,
        });
        wire.result("initialize", params).await;
        wire.notify("notifications/initialized", Value::Null).await;

        let late = wire.ask_tool("folders", json!({})).await;
        let asked = question(&mut wire).await;
        let said = wire.receive().await;
        assert_eq!(said["method"], "notifications/cancelled", "{revision}");
        assert_eq!(said["params"]["requestId"], asked);
        let answer = wire.receive().await;
        assert_eq!(answer["id"], late);
        assert_eq!(answer["result"]["content"][0]["text"], "too late");

        let unwanted = wire.ask_tool("folders", json!({})).await;
        let asked = question(&mut wire).await;
        let params = json!({ "requestId": unwanted, "reason": "R2" });
        wire.notify("notifications/cancelled", params).await;
        let said = wire.receive().await;
        assert_eq!(said["method"], "notifications/cancelled", "{revision}");
        assert_eq!(said["params"]["requestId"], asked);
        // The question is cancelled with the reason of the call.
        assert_eq!(said["params"]["reason"], "R2", "{revision}");
        wire.assert_quiet().await;
    }
}
