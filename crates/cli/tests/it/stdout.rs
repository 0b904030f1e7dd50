//! Stdout is only for the protocol.

use serde_json::json;

use crate::demo::Demo;

/// stdio: a server MUST NOT write anything to stdout that is not a message. These tests parse every line, so
/// any other output would make them fail.
#[test]
fn stray_prints_go_to_stderr() {
    let mut demo = Demo::initialized();
    let response = demo.call("print", &json!({ "text": "a stray line" }));
    assert_eq!(response["result"]["isError"], serde_json::Value::Null);
    let ended = demo.finish();
    assert!(ended.messages.is_empty(), "{:?}", ended.messages);
    assert!(ended.stderr.contains("a stray line"), "{}", ended.stderr);
}

/// The same for output that does not use Rust's `print!`: a child process inherits the streams.
#[cfg(unix)]
#[test]
fn children_cannot_reach_the_protocol_either() {
    let mut demo = Demo::initialized();
    demo.call(
        "print",
        &json!({ "text": "from a child", "by_child": true }),
    );
    let ended = demo.finish();
    assert!(ended.messages.is_empty(), "{:?}", ended.messages);
    assert!(ended.stderr.contains("from a child"), "{}", ended.stderr);
}
