//! Calls that fail, after which the server continues.

use serde_json::json;

use crate::demo::{Demo, modern};

#[test]
fn a_panic_ends_its_call_and_nothing_else() {
    let mut demo = Demo::initialized();
    let response = demo.call("crash", &json!({}));
    assert_eq!(response["error"]["code"], -32_603);
    let message = response["error"]["message"]
        .as_str()
        .expect("an error has a message");
    assert!(
        !message.contains("panicked"),
        "the peer is told too much: {message}"
    );
    let echoed = demo.call("echo", &json!({ "text": "still here" }));
    assert_eq!(echoed["result"]["content"][0]["text"], "still here");
    let ended = demo.finish();
    assert!(ended.status.success(), "{}", ended.status);
    // The number in the message identifies the error in the log.
    let number = message.rsplit(' ').next().expect("it ends with the number");
    let story = ended
        .stderr
        .lines()
        .find(|line| line.contains("the handler panicked"));
    assert!(
        story.is_some_and(|line| line.contains(number)),
        "{}",
        ended.stderr
    );
}

#[test]
fn lines_that_are_no_messages_are_answered_and_passed_over() {
    let mut demo = Demo::initialized();
    for (line, code) in [
        ("nonsense", -32_700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32_600),
        ("[]", -32_600),
    ] {
        demo.send_line(line);
        assert_eq!(demo.receive()["error"]["code"], code, "{line}");
    }
    demo.send_line("");
    let echoed = demo.call("echo", &json!({ "text": "still here" }));
    assert_eq!(echoed["result"]["content"][0]["text"], "still here");
}

#[test]
fn wrong_arguments_are_explained() {
    let mut demo = Demo::initialized();
    let response = demo.call("weather", &json!({ "plaec": "Oslo" }));
    assert_eq!(response["result"]["isError"], true);
    let text = response["result"]["content"][0]["text"]
        .as_str()
        .expect("it is text");
    assert!(text.contains("place") && text.contains("plaec"), "{text}");
}

// rule: T9
// tools: a server that embeds resources SHOULD implement the capability `resources`.
#[test]
fn what_is_attached_and_linked_can_be_read() {
    let mut demo = Demo::start();
    for (tool, uri) in [("attach", "/resource/uri"), ("link", "/uri")] {
        let params = json!({ "name": tool, "arguments": {}, "_meta": modern() });
        let given = demo.request("tools/call", &params);
        let uri = given["result"]["content"][0].pointer(uri).cloned();
        let params = json!({ "uri": uri.expect("a resource"), "_meta": modern() });
        let read = demo.request("resources/read", &params);
        assert!(read["result"]["contents"][0]["text"].is_string(), "{read}");
    }
}
