//! Tests of the envelope as tables: a message, and its expected result.

use proptest::prelude::*;
use serde_json::{Value, json, value::RawValue};

use super::*;

/// The kind of a message, or the error code of its answer.
fn verdict(message: &[u8]) -> String {
    match parse(message) {
        Ok(Frame::One(Message::Request(request))) => format!("request {}", request.method),
        Ok(Frame::One(Message::Notification(note))) => format!("notification {}", note.method),
        Ok(Frame::One(Message::Response(response))) => match response.outcome {
            Ok(_) => "result".into(),
            Err(_) => "error".into(),
        },
        Ok(Frame::Batch(members)) => format!("batch of {}", members.len()),
        Err(malformed) => {
            let id = malformed
                .id
                .map_or("?".into(), |id| id.into_owned().to_string());
            malformed
                .kind
                .code()
                .map_or("dropped".into(), |code| format!("{code} to {id}"))
        }
    }
}

#[test]
fn a_broken_response_names_its_request() {
    for (message, id) in [
        (r#"{"id":7,"result":{}}"#, Some(7)),
        (
            r#"{"jsonrpc":"1.0","id":7,"error":"x","level":"warn"}"#,
            Some(7),
        ),
        // A line of a log.
        (r#"{"level":"warn","id":7,"error":"retrying"}"#, None),
    ] {
        let malformed = parse(message.as_bytes()).unwrap_err();
        assert_eq!(malformed.kind, MalformedKind::NoAnswer, "{message}");
        assert_eq!(malformed.id, id.map(IdRef::Int), "{message}");
    }
}

// rule: J1, J4
#[test]
#[expect(clippy::too_many_lines, reason = "a table may be long")]
fn every_shape_has_its_verdict() {
    let table: &[(&str, &str)] = &[
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "request ping",
        ),
        (
            r#"{"method":"ping","params":{},"id":"a","jsonrpc":"2.0"}"#,
            "request ping",
        ),
        (r#"{"jsonrpc":"2.0","method":"x/y"}"#, "notification x/y"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "result"),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
            "error",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
            "error",
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
            "error",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
            "request ping",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","more":[1,{}]}"#,
            "request ping",
        ),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},1]"#,
            "batch of 2",
        ),
        // Ids: strings and integers, never null on requests.
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            "-32600 to ?",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            "-32600 to ?",
        ),
        (
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            "-32600 to ?",
        ),
        (
            r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            "-32600 to ?",
        ),
        // Members: missing, of the wrong type, duplicated.
        (r#"{"id":1,"method":"ping"}"#, "-32600 to 1"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "-32600 to 1"),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, "-32600 to 1"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "-32600 to 1"),
        (r#"{"jsonrpc":"2.0"}"#, "-32600 to ?"),
        (r"{}", "-32600 to ?"),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "-32600 to 1"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#,
            "-32602 to 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#,
            "-32602 to 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":7}"#,
            "-32602 to 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            "-32600 to 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}"#,
            "-32600 to 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1,"x":2}}"#,
            "-32602 to 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#,
            "-32600 to 1",
        ),
        // An invalid notification or response has no answer.
        (r#"{"jsonrpc":"2.0","method":7}"#, "dropped"),
        (r#"{"method":"x"}"#, "dropped"),
        (r#"{"jsonrpc":"2.0","method":"x","params":[1]}"#, "dropped"),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            "dropped",
        ),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "dropped"),
        (r#"{"id":1,"result":{}}"#, "dropped"),
        // Not messages.
        ("[]", "-32600 to ?"),
        ("7", "-32600 to ?"),
        ("null", "-32600 to ?"),
        (r#""ping""#, "-32600 to ?"),
        ("", "-32700 to ?"),
        ("{", "-32700 to ?"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pi"#, "-32700 to ?"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#,
            "-32700 to ?",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":}}"#,
            "-32700 to ?",
        ),
        ("\u{feff}{}", "-32700 to ?"),
    ];
    for (message, expected) in table {
        assert_eq!(verdict(message.as_bytes()), *expected, "{message}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_a_parse_error() {
    assert_eq!(
        verdict(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"),
        "-32700 to ?"
    );
}

#[test]
fn nesting_a_million_deep_is_read_without_recursion() {
    let depth = 1_000_000;
    let nest = |open: &str, close: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}1{}}}}}"#,
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    assert_eq!(verdict(nest("[", "]").as_bytes()), "request x");
    assert_eq!(verdict(nest(r#"{"a":"#, "}").as_bytes()), "request x");
    assert_eq!(verdict("[".repeat(depth).as_bytes()), "-32700 to ?");
}

#[test]
fn a_batch_has_a_bound() {
    let batch = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    assert_eq!(verdict(batch(1024).as_bytes()), "batch of 1024");
    let too_many = batch(1025);
    let problem = parse(too_many.as_bytes())
        .expect_err("one too many")
        .message;
    assert!(problem.contains("at most 1024 messages"), "{problem}");
    assert_eq!(verdict(batch(1025).as_bytes()), "-32600 to ?");
    assert_eq!(
        verdict(format!("{},", batch(1025)).as_bytes()),
        "-32700 to ?"
    );
}

#[test]
fn params_with_very_many_members_are_refused_quickly() {
    let members: Vec<_> = (0..300_000)
        .map(|number| format!("\"m{number}\":1"))
        .collect();
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{{}}}}}"#,
        members.join(",")
    );
    assert_eq!(verdict(message.as_bytes()), "-32602 to 1");
}

#[test]
fn params_keep_every_member_and_its_order() {
    let message = br#"{"jsonrpc":"2.0","id":1,"method":"x","params":
        {"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":{"h": [7]},"\u0069":8}}"#;
    let Ok(Frame::One(Message::Request(request))) = parse(message) else {
        panic!()
    };
    let names: String = request
        .params
        .iter()
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(names, "abcdefgi");
    assert_eq!(request.params.get("g").unwrap().get(), r#"{"h": [7]}"#);
    let all: Value = request.params.parse().unwrap();
    assert_eq!(all["i"], 8);
    let raw: Value = serde_json::from_str(request.params.to_raw().get()).unwrap();
    assert_eq!(raw, all);
}

#[test]
fn what_is_written_is_read_back() {
    let mut out = Vec::new();
    write_request(
        &mut out,
        &IdRef::Int(1),
        "tools/call",
        &json!({ "name": "x" }),
    )
    .unwrap();
    assert_eq!(verdict(&out), "request tools/call");
    out.clear();
    write_notification(&mut out, "x", &()).unwrap();
    assert_eq!(out, br#"{"jsonrpc":"2.0","method":"x"}"#);
    out.clear();
    write_error(
        &mut out,
        Err(UnreadableId::Null),
        &json!({ "code": 1, "message": "" }),
    )
    .unwrap();
    assert_eq!(verdict(&out), "error");
    out.clear();
    let raw = RawValue::from_string("{\"a\":1}".into()).unwrap();
    write_raw_response(&mut out, &IdRef::Text("z".into()), Ok((&raw).into()));
    assert_eq!(out, br#"{"jsonrpc":"2.0","id":"z","result":{"a":1}}"#);
}

#[test]
fn a_result_that_cannot_be_written_leaves_nothing_behind() {
    let mut out = b"before".to_vec();
    let failed = write_result(&mut out, &IdRef::Int(1), |out| {
        out.push(b'{');
        Err("no")
    });
    assert_eq!(failed, Err("no"));
    assert_eq!(out, b"before");
}

#[test]
fn request_meta_is_found_among_other_keys() {
    let raw = RawValue::from_string(
        json!({
            "vendor/x": [1],
            "progressToken": "p",
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/unknown": 1,
        })
        .to_string(),
    )
    .unwrap();
    let meta = RequestMeta::from_raw(&raw).unwrap();
    assert_eq!(meta.version().as_deref(), Some("2026-07-28"));
    assert_eq!(meta.token(), Some(IdRef::Text("p".into())));
    assert_eq!(meta.client_capabilities.unwrap().get(), "{}");
    assert!(meta.log_level.is_none());
    let list = RawValue::from_string("[]".into()).unwrap();
    assert!(RequestMeta::from_raw(&list).is_none());
}

proptest! {
    #[test]
    fn any_bytes_get_a_verdict(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        verdict(&bytes);
    }

    #[test]
    fn any_mix_of_members_gets_a_verdict(
        members in proptest::collection::vec((
            prop_oneof![
                Just("jsonrpc"), Just("id"), Just("method"), Just("params"), Just("result"),
                Just("error"), Just("x"),
            ],
            prop_oneof![
                Just("\"2.0\""), Just("1"), Just("null"), Just("\"a\""), Just("{}"),
                Just("[]"), Just("{\"a\":[1,{}]}"), Just("1e9"), Just("\"\\u0000\""),
            ],
        ), 0..8),
        cut in 0usize..20,
    ) {
        let body: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let message = format!("{{{}}}", body.join(","));
        verdict(message.as_bytes());
        verdict(&message.as_bytes()[..message.len().saturating_sub(cut)]);
    }

    #[test]
    fn a_request_survives_the_trip(id in any::<i128>(), method in ".*", text in ".*") {
        let digits = id.to_string();
        let raw = RawValue::from_string(digits.clone()).unwrap();
        let id = IdRef::from_raw(&raw).unwrap();
        let mut out = Vec::new();
        write_request(&mut out, &id, &method, &json!({ "text": text })).unwrap();
        let Ok(Frame::One(Message::Request(request))) = parse(&out) else { panic!() };
        prop_assert_eq!(request.id.clone().into_owned().to_string(), digits);
        prop_assert_eq!(&*request.method, &method);
        prop_assert_eq!(request.params.text("text").unwrap().into_owned(), text);
    }
}
