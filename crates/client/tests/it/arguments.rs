//! Arguments of calls, in each form in which a caller may write them.

use std::{collections::HashMap, error::Error as _};

use serde::Serialize;
use serde_json::{Value, json};
use turnbuckle_client::{CallError, ClientCall, Connection, ToolOutput, protocol::Revision};

use crate::script::{Server, meet, plain};

#[derive(Serialize)]
struct Sum<'a> {
    a: i64,
    b: &'a str,
}

/// The arguments of a call, as the server receives them.
async fn heard(call: ClientCall<'_, ToolOutput>, server: &mut Server) -> Value {
    let (output, arguments) = tokio::join!(IntoFuture::into_future(call), async {
        let heard = server.expect(json!({"method": "tools/call"})).await;
        server.answer(json!({"content": []})).await;
        heard["params"]["arguments"].clone()
    });
    output.unwrap();
    arguments
}

#[tokio::test(start_paused = true)]
async fn arguments_are_pairs_maps_structs_or_json() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
    let both = json!({"a": 1, "b": "x"});
    let calls: [fn(&Connection) -> ClientCall<'_, ToolOutput>; 6] = [
        |connection| connection.call("add", (("a", 1), ("b", "x"))),
        |connection| connection.call("add", [("a", json!(1)), ("b", json!("x"))]),
        |connection| connection.call("add", vec![("a", json!(1)), ("b", json!("x"))]),
        |connection| connection.call("add", HashMap::from([("a", json!(1)), ("b", json!("x"))])),
        |connection| connection.call("add", Sum { a: 1, b: "x" }),
        |connection| connection.call("add", json!({"a": 1, "b": "x"})),
    ];
    for (number, call) in calls.into_iter().enumerate() {
        let arguments = heard(call(&connection), &mut server).await;
        assert_eq!(arguments, both, "form {number}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_without_pairs_is_an_error_and_nothing_is_sent() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
    for call in [
        connection.call("add", vec![1, 2]),
        connection.call("add", ["a", "b"]),
        connection.call("add", ("name", "Ada")),
    ] {
        let error = call.await.unwrap_err();
        assert!(matches!(error, CallError::Unwritable { .. }), "{error:?}");
        let reason = error.source().unwrap().to_string();
        assert!(reason.contains("entry 0 is not a pair"), "{reason}");
    }
    // The next message that the server receives is the next call.
    let arguments = heard(connection.call("add", [("a", 1)]), &mut server).await;
    assert_eq!(arguments, json!({"a": 1}));
}
