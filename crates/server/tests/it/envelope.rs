//! Lines that are not messages, and unusual messages.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Args, CallMeta, MemoryBudget, RawArgs, Server, Tool};
use turnbuckle_transport::Limits;

use crate::{gate::Gate, sample, wire::Wire};

/// Lines that cannot be parsed, with the code and the id of the answer. `None` means no id.
const MALFORMED: &[(&str, i64, Option<i64>)] = &[
    ("nonsense", -32700, None),
    ("{", -32700, None),
    (r#"{"jsonrpc":"2.0","id":5,"method":"ping""#, -32700, None),
    (r#"{"jsonrpc":"2.0","id":5,"method":"ping"}}"#, -32700, None),
    (
        r#"{"jsonrpc":"2.0","id":5,"method":"ping"} {}"#,
        -32700,
        None,
    ),
    (r#"{"jsonrpc":"2.0","id":5,"method":"pi	ng"}"#, -32700, None),
    ("{'jsonrpc':'2.0'}", -32700, None),
    ("\u{feff}{}", -32700, None),
    ("7", -32600, None),
    ("null", -32600, None),
    ("true", -32600, None),
    (r#""ping""#, -32600, None),
    ("[]", -32600, None),
    ("{}", -32600, None),
    (r#"{"jsonrpc":"2.0"}"#, -32600, None),
    (r#"{"jsonrpc":"2.0","id":5}"#, -32600, Some(5)),
    (r#"{"id":5,"method":"ping"}"#, -32600, Some(5)),
    (
        r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#,
        -32600,
        Some(5),
    ),
    (r#"{"jsonrpc":2.0,"id":5,"method":"ping"}"#, -32600, Some(5)),
    (r#"{"jsonrpc":"2.0","id":5,"method":null}"#, -32600, Some(5)),
    (
        r#"{"jsonrpc":"2.0","id":5,"method":["ping"]}"#,
        -32600,
        Some(5),
    ),
    (
        r#"{"jsonrpc":"2.0","id":5,"id":5,"method":"ping"}"#,
        -32600,
        Some(5),
    ),
    (
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","result":{}}"#,
        -32600,
        Some(5),
    ),
    (
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        -32600,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        -32600,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1e3,"method":"ping"}"#,
        -32600,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
        -32600,
        None,
    ),
    (
        r#"{"jsonrpc":"2.0","id":[5],"method":"ping"}"#,
        -32600,
        None,
    ),
    (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, None),
    (
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}"#,
        -32602,
        Some(5),
    ),
    (
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":"x"}"#,
        -32602,
        Some(5),
    ),
    (
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":1,"a":2}}"#,
        -32602,
        Some(5),
    ),
];

async fn each_is_answered_on(mut wire: Wire, no_id: Option<Value>) {
    for (line, code, id) in MALFORMED {
        wire.send_line(line).await;
        let answer = wire.receive().await;
        assert_eq!(answer["error"]["code"], *code, "{line}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{line}"
        );
        let id = id.map_or_else(|| no_id.clone(), |id| Some(json!(id)));
        assert_eq!(answer.get("id"), id.as_ref(), "{line}");
    }
    wire.assert_quiet().await;
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_and_the_connection_goes_on() {
    // schema: an error response has no id if it was unreadable, since 2025-11-25; JSON-RPC has null.
    each_is_answered_on(Wire::open(&sample::server()), None).await;
    for &revision in Revision::LEGACY {
        let no_id = (revision < Revision::V2025_11_25).then_some(Value::Null);
        each_is_answered_on(Wire::at(&sample::server(), revision).await, no_id).await;
    }
}

// rule: J1
#[tokio::test]
async fn broken_notifications_and_responses_get_no_answer() {
    // JSON-RPC: a notification is never answered, not even an invalid one.
    let mut wire = Wire::open(&sample::server());
    for line in [
        r#"{"jsonrpc":"2.0","method":7}"#,
        r#"{"method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        "",
        "   ",
        "\r",
    ] {
        wire.send_line(line).await;
    }
    wire.assert_quiet().await;
}

#[tokio::test]
async fn text_that_is_not_utf_8_is_a_parse_error() {
    let mut wire = Wire::open(&sample::server());
    for bytes in [
        &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n"[..],
        b"\xc3\x28\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xed\xa0\x80\"}}\n",
        b"\0\n",
        b"\xff\xfe{\0}\0\n",
    ] {
        wire.send_bytes(bytes).await;
        assert_eq!(wire.receive().await["error"]["code"], -32700);
    }
    wire.assert_quiet().await;
}

#[tokio::test]
async fn a_lone_surrogate_in_a_string_does_no_harm() {
    let server = Server::new("echo", "1")
        .tool(Tool::new("echo", echo))
        .build()
        .expect("a server");
    let mut wire = Wire::at(&server, Revision::V2025_11_25).await;
    wire.send_line(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\ud800"}}}"#,
    )
    .await;
    let answer = wire.receive().await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    wire.assert_quiet().await;
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_by_name_and_the_next_is_served() {
    let limits = Limits::default().with_max_message_bytes(400);
    let server = Server::new("small", "1")
        .limits(limits)
        .tool(Tool::new("echo", echo));
    let mut wire = Wire::open(&server.build().expect("a server"));
    for length in [401, 5_000, 300_000] {
        // The id comes before the part that is too long, as clients write it, so the answer has the
        // id of the request.
        let text = "x".repeat(length);
        wire.ask_with(
            json!(length),
            "tools/call",
            json!({ "name": "echo", "arguments": { "text": text } }),
        )
        .await;
        let answer = wire.receive().await;
        assert_eq!(answer["error"]["code"], -32600);
        assert_eq!(answer["id"], length);
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("400 bytes"), "{message}");
        wire.assert_quiet().await;
    }
    wire.send_line(&"[".repeat(1000)).await;
    let answer = wire.receive().await;
    assert_eq!(
        (&answer["error"]["code"], answer.get("id")),
        (&json!(-32600), None)
    );
    // No request waits for an answer to a notification or a response that is too long.
    let long = "x".repeat(500);
    wire.notify(
        "notifications/cancelled",
        json!({ "requestId": 1, "reason": long }),
    )
    .await;
    let answer = wire.receive().await;
    assert_eq!(
        (&answer["error"]["code"], answer.get("id")),
        (&json!(-32600), None)
    );
    wire.assert_quiet().await;
}

#[tokio::test]
async fn a_last_line_without_its_end_is_still_a_message() {
    let mut wire = Wire::at(&sample::server(), Revision::V2025_06_18).await;
    wire.send_bytes(br#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#)
        .await;
    wire.end_input().await;
    assert_eq!(
        wire.next_line().await.as_deref(),
        Some(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#)
    );
    assert_eq!(wire.next_line().await, None);
    wire.ended().await.expect("in peace");
}

#[tokio::test]
async fn a_line_torn_by_the_end_of_input_is_a_parse_error() {
    let mut wire = Wire::at(&sample::server(), Revision::V2025_06_18).await;
    wire.send_bytes(br#"{"jsonrpc":"2.0","id":9,"meth"#).await;
    wire.end_input().await;
    let rest = wire.rest().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["error"]["code"], -32700);
    wire.ended().await.expect("in peace");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echoed {
    text: serde_json::Value,
}

async fn echo(Args(Echoed { text }): Args<Echoed>) -> String {
    text.to_string()
}

async fn length(RawArgs(raw): RawArgs) -> usize {
    raw.map_or(0, |raw| raw.get().len())
}

async fn marks(CallMeta(meta): CallMeta) -> usize {
    meta.0.len()
}

#[tokio::test]
async fn depth_that_would_break_a_recursive_reader_is_an_error_and_no_more() {
    let server = Server::new("deep", "1")
        .tool(Tool::new("echo", echo))
        .tool(Tool::new("length", length))
        .tool(Tool::new("marks", marks))
        .limits(Limits::default().with_max_json_nodes(10_000_000))
        .memory_budget(
            MemoryBudget::default()
                .with_total(1 << 30)
                .with_per_caller(1 << 29),
        )
        .build()
        .expect("a server");
    for depth in [200, 100_000] {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let mut wire = Wire::at(&server, Revision::V2025_11_25).await;
            let mut answer = async |line: String| {
                wire.send_line(&line).await;
                wire.receive().await
            };
            let call = |tool: &str, rest: String| {
                format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}",{rest}}}}}"#
                )
            };
            let refused = answer(call("echo", format!(r#""arguments":{{"text":{deep}}}"#))).await;
            assert_eq!(refused["result"]["isError"], true, "{refused}");
            let text = refused["result"]["content"][0]["text"]
                .as_str()
                .expect("a text");
            assert!(text.contains("recursion limit"), "{text}");
            // A part that is not parsed may be nested to any depth.
            let passed = answer(call("length", format!(r#""arguments":{{"text":{deep}}}"#))).await;
            assert_eq!(
                passed["result"]["content"][0]["text"],
                (deep.len() + 9).to_string()
            );
            let unread = answer(call("length", format!(r#""more":{deep}"#))).await;
            assert_eq!(unread["result"]["content"][0]["text"], "0");
            let meta = answer(call("marks", format!(r#""_meta":{{"a":{deep}}}"#))).await;
            assert_eq!(meta["error"]["code"], -32602, "{meta}");
            let beside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","more":{deep}}}"#);
            assert_eq!(answer(beside).await["result"], json!({}));
            for method in [
                "initialize",
                "completion/complete",
                "prompts/get",
                "resources/read",
            ] {
                let line = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":{deep},"uri":{deep},"ref":{deep}}}}}"#
                );
                assert!(answer(line).await["error"]["code"].is_i64(), "{method}");
            }
            let id = answer(format!(
                r#"{{"jsonrpc":"2.0","id":{deep},"method":"ping"}}"#
            ))
            .await;
            assert_eq!(id["error"]["code"], -32600);
            wire.assert_quiet().await;
        }
    }
}

// rule: J4, V6
#[tokio::test]
async fn every_id_comes_back_letter_by_letter() {
    let long = format!("\"{}\"", "é".repeat(200_000));
    let mut wire = Wire::at(&sample::server(), Revision::V2025_06_18).await;
    for id in [
        "0",
        "-1",
        "9007199254740993",
        "9223372036854775807",
        "18446744073709551615",
        "-170141183460469231731687303715884105728",
        "123456789012345678901234567890123456789012345678901234567890",
        r#""""#,
        r#""1""#,
        r#""\" \\ \n""#,
        &long,
    ] {
        wire.send_bytes(
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes(),
        )
        .await;
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(wire.next_line().await, Some(expected));
    }
}

// rule: J3
#[tokio::test]
async fn an_id_in_flight_is_refused_and_free_again_when_it_is_answered() {
    let gate = Gate::new();
    let mut wire = Wire::open(&gate.live());
    let wait = json!({ "name": "wait" });
    wire.ask_with(json!(1), "tools/call", wait.clone()).await;
    gate.arrived(1).await;
    // basic: a request id must differ from the sender's others in flight.
    for method in ["no/such", "tools/list", "server/discover", "tools/call"] {
        wire.ask_with(json!(1), method, wait.clone()).await;
        let refused = wire.receive().await;
        assert_eq!(refused["id"], 1);
        assert_eq!(refused["error"]["code"], -32600);
        assert!(
            refused["error"]["message"]
                .as_str()
                .is_some_and(|text| text.contains("`1`"))
        );
    }
    assert_eq!(gate.count_arrived(), 0, "the refused call did not run");
    // A number and a text are different ids.
    wire.ask_with(json!("1"), "tools/call", json!({ "name": "now" }))
        .await;
    assert_eq!(wire.receive().await["id"], "1");
    for _ in 0..100 {
        gate.open(1);
        assert_eq!(
            wire.receive().await["result"]["content"][0]["text"],
            "passed"
        );
        wire.ask_with(json!(1), "tools/call", wait.clone()).await;
        gate.arrived(1).await;
    }
}

#[tokio::test]
async fn members_by_the_thousand_do_no_harm_and_by_the_hundred_thousand_are_refused() {
    let mut wire = Wire::at(&sample::server(), Revision::V2025_11_25).await;
    for (count, is_served) in [(20_000, true), (300_000, false)] {
        let members: Vec<String> = (0..count)
            .map(|number| format!("\"m{number}\":1"))
            .collect();
        let many = members.join(",");
        for params in [
            format!(r#"{{"name":"lose","arguments":{{{many}}}}}"#),
            format!(r#"{{"name":"lose","_meta":{{{many}}}}}"#),
        ] {
            let request =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            wire.send_line(&request).await;
            let answer = wire.receive().await;
            assert_eq!(answer["id"], 1);
            if is_served {
                let text = &answer["result"]["content"][0]["text"];
                assert_eq!(text, "the map is lost");
            } else {
                let message = answer["error"]["message"].as_str();
                assert!(message.is_some_and(|text| text.contains("max_json_nodes")));
            }
        }
    }
}
