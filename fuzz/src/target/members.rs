//! Objects parsed one level deep have the same members that serde_json finds, with the same
//! values, in the same order.

use serde_json::Value;
use turnbuckle_protocol::envelope::{Frame, Message, parse};

use super::Target;

pub const TARGET: Target = Target {
    name: "members",
    run,
    seeds: &[
        br#"{"a":1,"b":{"c":[]},"d":"\"","e":-0.0e-0}"#,
        br#"{ "name" : "x" , "arguments" : { } , "uri":"a://b" }"#,
        br#"{"_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
    ],
    words: &["\"a\":", "{}", "[]", "\\u0061", "\"_meta\":{", "\"progressToken\":", "true", "null"],
    is_planted: false,
};

fn run(input: &[u8]) {
    let mut text = br#"{"jsonrpc":"2.0","id":1,"method":"m","params":"#.to_vec();
    text.extend_from_slice(input);
    text.push(b'}');
    let Ok(Frame::One(Message::Request(request))) = parse(&text) else {
        return;
    };
    // An input such as `{},"x":{}` adds members to the message itself.
    let Some(raw) = request.params.raw() else {
        return;
    };
    let Ok(expected) = serde_json::from_str::<Value>(raw.get()) else {
        // Numbers out of range and deep nesting: serde_json fails where our parser only passes text on.
        return;
    };
    let expected = expected.as_object().expect("params are an object");
    let read: Vec<_> = request.params.iter().collect();
    assert_eq!(read.len(), expected.len(), "as many members");
    for ((name, value), (expected_name, expected)) in read.into_iter().zip(expected) {
        assert_eq!(name, expected_name);
        let value: Value = value.parse().expect("a member is JSON");
        assert_eq!(&value, expected);
        assert!(request.params.get(name).is_some());
    }
    let again: Value = serde_json::from_str(request.params.to_raw().get()).expect("it is JSON");
    assert_eq!(again.as_object(), Some(expected));
}
