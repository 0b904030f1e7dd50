//! Whether what tools return is what they promised.

use serde_json::{Value, json};
use turnbuckle_client::{CallError, Client, Connection, ToolOutput, protocol::Revision};

use crate::script::{Server, meet, plain};

async fn list(connection: &Connection, server: &mut Server) {
    let schema = json!({
        "type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"],
    });
    let tools = json!([
        {"name": "add", "inputSchema": {"type": "object"}, "outputSchema": schema},
        {"name": "odd", "inputSchema": {"type": "object"}, "outputSchema": {"$ref": "https://elsewhere.example/"}},
        {"name": "free", "inputSchema": {"type": "object"}},
    ]);
    tokio::join!(async { connection.tools().await.unwrap() }, async {
        server.expect(json!({"method": "tools/list"})).await;
        server.answer(json!({"tools": tools})).await;
    });
}

async fn call(
    connection: &Connection,
    server: &mut Server,
    tool: &str,
    result: Value,
) -> Result<ToolOutput, CallError> {
    let (result, ()) = tokio::join!(async { connection.call(tool, ()).await }, async {
        server.expect(json!({"method": "tools/call"})).await;
        server.answer(result).await;
    });
    result
}

fn returned(content: &Value) -> Value {
    json!({"content": [], "structuredContent": content})
}

async fn listed(client: &Client) -> (Connection, Server) {
    let (connection, mut server) = meet(client, Revision::V2025_11_25).await;
    list(&connection, &mut server).await;
    (connection, server)
}

// rule: T4
// tools: clients SHOULD validate structured results against the output schema.
#[tokio::test(start_paused = true)]
async fn what_breaks_the_promise_is_an_error_that_names_the_place() {
    let (connection, mut server) = listed(&plain()).await;
    let right = returned(&json!({"sum": 3}));
    call(&connection, &mut server, "add", right).await.unwrap();
    let wrong = returned(&json!({"sum": "three"}));
    let error = call(&connection, &mut server, "add", wrong)
        .await
        .unwrap_err();
    let CallError::OutputMismatch {
        pointer, problem, ..
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(&**pointer, "/sum");
    assert!(problem.contains("integer"), "{problem}");
    let missing = json!({"content": [{"type": "text", "text": "3"}]});
    let error = call(&connection, &mut server, "add", missing)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("structured content is missing"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_needs_no_structure_and_a_free_tool_has_no_promise() {
    let (connection, mut server) = listed(&plain()).await;
    let failed = json!({"content": [], "isError": true});
    assert!(
        call(&connection, &mut server, "add", failed)
            .await
            .unwrap()
            .is_error()
    );
    call(&connection, &mut server, "free", returned(&json!([1])))
        .await
        .unwrap();
    call(
        &connection,
        &mut server,
        "odd",
        returned(&json!({"any": 1})),
    )
    .await
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_checked_before_the_tools_were_listed_or_after_they_changed() {
    let wrong = || returned(&json!({"sum": "three"}));
    let (connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
    call(&connection, &mut server, "add", wrong())
        .await
        .unwrap();
    list(&connection, &mut server).await;
    call(&connection, &mut server, "add", wrong())
        .await
        .unwrap_err();
    server
        .say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        .await;
    call(&connection, &mut server, "add", wrong())
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_client_may_trust_its_servers() {
    let (connection, mut server) = listed(&plain().trust_output()).await;
    call(
        &connection,
        &mut server,
        "add",
        returned(&json!({"sum": "three"})),
    )
    .await
    .unwrap();
}
