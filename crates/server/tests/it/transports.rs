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

/// Asks who calls, ends the input, and gives what came.
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
