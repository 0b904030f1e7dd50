//! Whether results match the output schemas of their tools.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_client::{
    CallError, Client, Connection, OutputCheck, ToolOutput, protocol::Revision,
};

use crate::script::{Server, complete, meet, plain};

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
async fn promises_are_learnt_again_when_the_tools_changed_and_never_where_they_cannot_be() {
    let wrong = || returned(&json!({"sum": "three"}));
    let (connection, mut server) = listed(&plain()).await;
    server
        .say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        .await;
    let session = async {
        server.expect(json!({"method": "tools/call"})).await;
        server.answer(wrong()).await;
        server.expect(json!({"method": "tools/list"})).await;
        let error = json!({"code": -32603, "message": "not now"});
        server
            .say(json!({"jsonrpc": "2.0", "id": "$id", "error": error}))
            .await;
        // It is not tried again with each call.
        server.expect(json!({"method": "tools/call"})).await;
        server.answer(wrong()).await;
    };
    let calls = async {
        connection.call("add", ()).await.unwrap();
        connection.call("add", ()).await.unwrap();
    };
    tokio::join!(calls, session);
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

// rule: T4
#[tokio::test(start_paused = true)]
async fn tools_that_were_never_listed_are_listed_once_there_is_something_to_check() {
    for revision in [Revision::V2025_06_18, Revision::LATEST] {
        let (connection, mut server) = meet(&plain(), revision).await;
        let session = async {
            server.expect(json!({"method": "tools/call"})).await;
            server
                .answer(complete(returned(&json!({"sum": "three"})), revision))
                .await;
            server.expect(json!({"method": "tools/list"})).await;
            let schema = json!({"type": "object", "properties": {"sum": {"type": "integer"}}});
            let tool =
                json!({"name": "add", "inputSchema": {"type": "object"}, "outputSchema": schema});
            let mut list = complete(json!({"tools": [tool]}), revision);
            if revision.is_modern() {
                list["ttlMs"] = 0.into();
                list["cacheScope"] = "private".into();
            }
            server.answer(list).await;
            // The next call does not list them again.
            server.expect(json!({"method": "tools/call"})).await;
            server
                .answer(complete(returned(&json!({"sum": 3})), revision))
                .await;
        };
        let calls = async {
            let error = connection.call("add", ()).await.unwrap_err();
            assert!(
                matches!(error, CallError::OutputMismatch { .. }),
                "{error:?}"
            );
            connection.call("add", ()).await.unwrap();
        };
        tokio::join!(calls, session);
    }
}

// rule: T4
#[tokio::test(start_paused = true)]
async fn a_result_does_not_wait_long_for_the_list_of_tools() {
    for (deadline, expected) in [(Some(100), 100), (None, 5_000)] {
        let (connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
        let began = tokio::time::Instant::now();
        let serve = async {
            server.expect(json!({"method": "tools/call"})).await;
            server.answer(returned(&json!({"sum": 3}))).await;
            server.expect(json!({"method": "tools/list"})).await;
            // The list never comes.
            server
                .expect(json!({"method": "notifications/cancelled"}))
                .await;
        };
        let call = async {
            let call = connection.call("add", ());
            match deadline {
                Some(deadline) => call.deadline(Duration::from_millis(deadline)).await,
                None => call.await,
            }
        };
        let (called, ()) = tokio::join!(call, serve);
        called.expect("the result was there");
        assert_eq!(began.elapsed().as_millis(), expected);
        let warnings = connection.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].problem.contains("not checked"), "{warnings:?}");
    }
}

// rule: T4
#[tokio::test(start_paused = true)]
async fn a_broken_promise_may_be_a_warning() {
    let (connection, mut server) = listed(&plain().output_check(OutputCheck::Warn)).await;
    let wrong = returned(&json!({"sum": "three"}));
    let output = call(&connection, &mut server, "add", wrong).await.unwrap();
    let warning = output.output_mismatch().expect("it is wrong");
    assert!(warning.contains("`/sum`"), "{warning}");
    let right = returned(&json!({"sum": 3}));
    let output = call(&connection, &mut server, "add", right).await.unwrap();
    assert_eq!(output.output_mismatch(), None);
}

// rule: T4
#[tokio::test(start_paused = true)]
async fn a_strict_client_finds_that_structured_content_is_missing_also_if_nothing_was_listed() {
    let client = plain().output_check(OutputCheck::Strict);
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let schema = json!({"type": "object", "properties": {"sum": {"type": "integer"}}});
    let tools = json!([
        {"name": "add", "inputSchema": {"type": "object"}, "outputSchema": schema},
        {"name": "free", "inputSchema": {"type": "object"}},
    ]);
    let bare = json!({"content": [{"type": "text", "text": "3"}]});
    let (result, ()) = tokio::join!(async { connection.call("add", ()).await }, async {
        server.expect(json!({"method": "tools/call"})).await;
        server.answer(bare.clone()).await;
        server.expect(json!({"method": "tools/list"})).await;
        server.answer(json!({"tools": tools})).await;
    });
    let error = result.unwrap_err();
    assert!(
        matches!(error, CallError::OutputMismatch { .. }),
        "{error:?}"
    );
    // They are listed once.
    call(&connection, &mut server, "free", bare).await.unwrap();
}
