//! Where a server is served, and how serving ends.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use turnbuckle_server::{Caller, LiveServer, ServeError, Server, SetupError, Tool};
use turnbuckle_transport::{Duplex, duplex};

use crate::wire::modern_meta;

fn server() -> Server {
    let who = async |caller: Caller| caller.id().unwrap_or("local").to_owned();
    Server::new("s", "1").tool(Tool::new("who", who))
}

/// Asks for the caller, ends the input, and returns what was received.
async fn ask(mut end: Duplex) -> String {
    let params = json!({ "name": "who", "_meta": modern_meta() });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    end.writer
        .write_all(format!("{request}\n").as_bytes())
        .await
        .expect("the pipe is open");
    end.writer.shutdown().await.expect("the pipe is open");
    let mut answers = String::new();
    end.reader
        .read_to_string(&mut answers)
        .await
        .expect("the pipe is open");
    let answer: serde_json::Value = serde_json::from_str(&answers).expect("one answer");
    answer["result"]["content"][0]["text"]
        .as_str()
        .expect("a text")
        .to_owned()
}

// rule: N8
#[tokio::test]
async fn any_pair_of_streams_will_do() {
    let live: LiveServer = server().build().expect("a server");
    let (near, far) = duplex();
    let (served, said) = tokio::join!(live.serve(far), ask(near));
    served.expect("in peace");
    assert_eq!(said, "local");
    let (near, far) = duplex();
    let (served, said) = tokio::join!(live.serve((far.reader, far.writer)), ask(near));
    served.expect("in peace");
    assert_eq!(said, "local");
    let (near, far) = duplex();
    let (served, said) = tokio::join!(server().serve(far), ask(near));
    served.expect("in peace");
    assert_eq!(said, "local");
    assert_eq!(ask(live.connect()).await, "local");
    assert_eq!(ask(live.connect_as(Caller::new("ann"))).await, "ann");
}

#[tokio::test]
async fn a_server_with_a_mistake_is_not_served() {
    let (_near, far) = duplex();
    let wrong = server().tool(Tool::new("who", async || ""));
    let error = wrong.serve(far).await.expect_err("two of a name");
    let ServeError::Setup(SetupError::Duplicate { kind: "tool", key }) = error else {
        panic!("{error}");
    };
    assert_eq!(key, "who");
}

// rule: N8
#[tokio::test]
async fn whole_messages_need_no_byte_stream() {
    let live: LiveServer = server().build().expect("a server");
    let (mut inlet, mut outlet) = live.messages(Caller::new("ada"));
    let params = json!({ "name": "who", "_meta": modern_meta() });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    // A frame may contain line ends. A text that is not a message is answered with an error.
    let frame = serde_json::to_string_pretty(&request).expect("JSON");
    inlet.receive(frame).await;
    inlet.receive("{").await;
    inlet.receive("  ").await;
    inlet.close();
    let mut answers = Vec::new();
    while let Some(message) = outlet.next().await {
        assert!(!message.contains('\n'));
        let answer: serde_json::Value = serde_json::from_str(&message).expect("JSON");
        answers.push(answer);
    }
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert_eq!(answers[0]["result"]["content"][0]["text"], "ada");
    assert_eq!(answers[1]["error"]["code"], -32700);
}

#[tokio::test]
async fn a_message_beyond_the_limit_is_answered_with_an_error() {
    let limits = turnbuckle_transport::Limits::default().with_max_message_bytes(1000);
    let live = server().limits(limits).build().expect("a server");
    let (mut inlet, mut outlet) = live.messages(Caller::local());
    let long = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping", "params": "x".repeat(2000) });
    inlet.receive(long.to_string()).await;
    let answer: serde_json::Value =
        serde_json::from_str(&outlet.next().await.expect("an answer")).expect("JSON");
    assert!(answer.get("error").is_some(), "{answer}");
}
