//! The parser of messages: any bytes give a verdict, and a parsed message can be written and parsed
//! again.

use turnbuckle_protocol::envelope::{
    Frame, Message, Outline, parse, parse_within, write_raw_notification, write_raw_request,
    write_raw_response,
};

use super::Target;

pub const TARGET: Target = Target {
    name: "envelope",
    run,
    seeds: &[
        br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"n":[1,2.5e3,null,true,"\u00e9\n"]},"_meta":{"progressToken":7}}}"#,
        br#"[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"result":{}}]"#,
        br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":{}}}"#,
    ],
    words: &[
        "\"jsonrpc\":\"2.0\"",
        "\"id\":",
        "\"method\":",
        "\"params\":",
        "\"result\":",
        "\"error\":",
        "\"_meta\":",
        "null",
        "\\u0000",
        "\\ud83d\\ude00",
        "\\udc00",
    ],
    is_planted: false,
};

fn run(input: &[u8]) {
    let _ = Outline::of(input).id();
    let parsed = parse(input);
    if let Ok((_, nodes)) = parse_within(input, usize::MAX) {
        assert!(
            parsed.is_ok(),
            "a limit that is never reached changes the verdict"
        );
        if nodes > 0 {
            assert!(
                parse_within(input, nodes).is_ok(),
                "{nodes} nodes are within {nodes}"
            );
        }
    }
    match parsed {
        Ok(Frame::One(message)) => check(&message),
        Ok(Frame::Batch(members)) => members.iter().flatten().for_each(check),
        Err(malformed) => {
            let _ = malformed.kind.code();
        }
    }
}

fn check(message: &Message<'_>) {
    let mut out = Vec::new();
    match message {
        Message::Request(request) => {
            write_raw_request(&mut out, &request.id, &request.method, request.params.raw());
        }
        Message::Notification(notification) => {
            write_raw_notification(&mut out, &notification.method, notification.params.raw());
        }
        Message::Response(response) => {
            let Some(id) = &response.id else { return };
            write_raw_response(&mut out, id, response.outcome);
        }
    }
    let again = parse(&out).expect("what was read is written so that it can be read again");
    let Frame::One(again) = again else {
        panic!("one message became a batch");
    };
    assert_eq!(outline(message), outline(&again));
}

/// The parts that must be the same after writing and parsing.
fn outline(message: &Message<'_>) -> (String, String, String) {
    match message {
        Message::Request(request) => (
            format!("{:?}", request.id),
            request.method.to_string(),
            request.params.to_raw().get().to_owned(),
        ),
        Message::Notification(notification) => (
            String::new(),
            notification.method.to_string(),
            notification.params.to_raw().get().to_owned(),
        ),
        Message::Response(response) => (
            format!("{:?}", response.id),
            String::new(),
            format!(
                "{:?}",
                response
                    .outcome
                    .map(|raw| raw.get())
                    .map_err(|raw| raw.get())
            ),
        ),
    }
}
