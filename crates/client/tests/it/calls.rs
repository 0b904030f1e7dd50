//! Calls: the requests that are sent, their answers, and the messages in between.

use std::future::IntoFuture;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use turnbuckle_client::{
    CallError, Canceller,
    protocol::{
        PaginatedRequestParams, PromptMessage, Reference, RequestParams, Revision,
        TextResourceContents,
        method::{Ping, ToolsList},
    },
};

use crate::script::{Server, complete, everything, meet, plain};

#[derive(Debug, Deserialize, PartialEq)]
struct Sum {
    sum: i64,
}

/// Checks the members that modern requests must have about their sender, and legacy requests must not.
fn assert_stamp(request: &Value, revision: Revision) {
    let meta = &request["params"]["_meta"];
    if revision.is_modern() {
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            json!(revision)
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
        );
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "app");
    } else {
        assert_eq!(meta, &Value::Null);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called_and_its_result_is_typed() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let (sum, ()) = tokio::join!(
            async {
                connection
                    .call("add", json!({"a": 1, "b": 2}))
                    .await
                    .unwrap()
                    .parse::<Sum>()
            },
            async {
                let expected = json!({"name": "add", "arguments": {"a": 1, "b": 2}});
                let asked = json!({"method": "tools/call", "params": expected});
                assert_stamp(&server.expect(asked).await, revision);
                let text = json!({"type": "text", "text": r#"{"sum":3}"#});
                server
                    .answer(complete(json!({"content": [text]}), revision))
                    .await;
            }
        );
        assert_eq!(sum.unwrap(), Sum { sum: 3 }, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_arguments_sends_none() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_06_18).await;
    let (output, ()) = tokio::join!(async { connection.call("now", ()).await.unwrap() }, async {
        let heard = server.expect(json!({"method": "tools/call"})).await;
        assert_eq!(heard["params"], json!({"name": "now"}));
        server.answer(json!({"content": []})).await;
    });
    assert_eq!(output.text(), "");
}

#[tokio::test(start_paused = true)]
async fn a_failed_tool_is_a_result_whose_value_is_an_error() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let (output, ()) = tokio::join!(async { connection.call("add", ()).await.unwrap() }, async {
        server.hear().await;
        let text = json!({"type": "text", "text": "a is missing"});
        server
            .answer(json!({"resultType": "complete", "content": [text], "isError": true}))
            .await;
    });
    assert!(output.is_error());
    let error = output.parse::<Sum>().unwrap_err();
    assert_eq!(error.to_string(), "tool `add` failed: a is missing");
}

#[tokio::test(start_paused = true)]
async fn resources_are_read_prompts_got_and_arguments_completed() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let client = async {
            let read = connection.read("file:///a").await.unwrap();
            assert_eq!(
                read.contents,
                [TextResourceContents::new("file:///a", "A").into()]
            );
            let prompt = connection
                .get("greet", json!({"who": "Ada"}))
                .await
                .unwrap();
            assert_eq!(prompt.messages, [PromptMessage::user("Hello Ada")]);
            let reference = Reference::prompt("greet");
            let completion = connection.complete(reference, "who", "A").await.unwrap();
            assert_eq!(completion.values, ["Ada"]);
            connection.ping().await.unwrap();
        };
        let script = async {
            let asked = json!({"method": "resources/read", "params": {"uri": "file:///a"}});
            assert_stamp(&server.expect(asked).await, revision);
            let contents = json!([{"uri": "file:///a", "text": "A"}]);
            server
                .answer(complete(json!({"contents": contents}), revision))
                .await;

            let params = json!({"name": "greet", "arguments": {"who": "Ada"}});
            let asked = json!({"method": "prompts/get", "params": params});
            assert_stamp(&server.expect(asked).await, revision);
            let content = json!({"type": "text", "text": "Hello Ada"});
            let messages = json!([{"role": "user", "content": content}]);
            server
                .answer(complete(json!({"messages": messages}), revision))
                .await;

            let reference = json!({"type": "ref/prompt", "name": "greet"});
            let params = json!({"ref": reference, "argument": {"name": "who", "value": "A"}});
            let asked = json!({"method": "completion/complete", "params": params});
            assert_stamp(&server.expect(asked).await, revision);
            server
                .answer(complete(
                    json!({"completion": {"values": ["Ada"]}}),
                    revision,
                ))
                .await;

            let method = if revision.is_modern() {
                "server/discover"
            } else {
                "ping"
            };
            assert_stamp(&server.expect(json!({"method": method})).await, revision);
            server.answer(complete(json!({}), revision)).await;
        };
        tokio::join!(client, script);
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_that_cannot_be_sent_are_refused_before_anything_is() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    for arguments in [json!([1]), json!([["a", 1], ["a", 2]])] {
        let error = connection.call("t", arguments).await.unwrap_err();
        assert!(matches!(error, CallError::Unwritable { .. }), "{error:?}");
    }
    let error = connection.get("greet", json!({"n": 1})).await.unwrap_err();
    assert!(matches!(error, CallError::Unwritable { .. }), "{error:?}");
    drop(connection);
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_server_keeps_code_message_and_data() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_06_18).await;
    let (result, ()) = tokio::join!(async { connection.call("t", ()).await }, async {
        server
            .play(
                r#"
                >> {"method": "tools/call"}
                << {"jsonrpc": "2.0", "id": "$id",
                    "error": {"code": -32602, "message": "no tool `t`", "data": [1]}}
                "#,
            )
            .await;
    });
    let error = result.unwrap_err();
    let rejection = error.rejection().unwrap();
    assert_eq!(
        (rejection.code, &rejection.data),
        (-32602, &Some(json!([1])))
    );
    assert_eq!(
        error.to_string(),
        "server `script` rejected `tools/call`: no tool `t` (code -32602)"
    );
}

// rule: RS3
// resources: clients SHOULD also accept −32002 for a missing resource.
#[tokio::test(start_paused = true)]
async fn a_missing_resource_is_the_same_in_every_revision() {
    for (revision, code) in [
        (Revision::V2024_11_05, -32002),
        (Revision::LATEST, -32602),
        (Revision::LATEST, -32002),
    ] {
        let (connection, mut server) = meet(&plain(), revision).await;
        let (result, ()) = tokio::join!(async { connection.read("file:///no").await }, async {
            server.hear().await;
            let error = json!({"code": code, "message": "?", "data": {"uri": "file:///no"}});
            server
                .say(json!({"jsonrpc": "2.0", "id": "$id", "error": error}))
                .await;
        });
        let error = result.unwrap_err();
        assert!(error.rejection().unwrap().is_resource_not_found());
        assert_eq!(error.rejection().unwrap().code, -32602);
    }
}

// rule: V5
// lifecycle: both sides MUST use only what was negotiated.
#[tokio::test(start_paused = true)]
async fn what_a_server_does_not_offer_is_not_asked() {
    let (mut server, end) = Server::new();
    let client = plain();
    let (connection, _) = tokio::join!(
        IntoFuture::into_future(client.connect(end)),
        server.open_with(Revision::V2025_06_18, json!({"tools": {}}))
    );
    let connection = connection.unwrap();
    let error = connection.read("file:///a").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "server `script` does not offer `resources/read`: it does not declare capability `resources`"
    );
    let error = connection
        .complete(Reference::prompt("p"), "a", "")
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::NotOffered { .. }), "{error:?}");
    let error = connection.prompts().await.unwrap_err();
    assert!(matches!(error, CallError::NotOffered { .. }), "{error:?}");
    drop(connection);
    assert_eq!(server.hear().await, None);
}

// rule: V5
#[tokio::test(start_paused = true)]
async fn a_method_of_another_revision_is_not_sent() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let error = connection
        .request::<Ping>(RequestParams::default())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("2026-07-28 does not have it"),
        "{error}"
    );
    drop(connection);
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn any_request_can_be_sent_typed_or_raw() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let client = async {
        let page = connection
            .request::<ToolsList>(PaginatedRequestParams::new())
            .await
            .unwrap()
            .0;
        assert_eq!(page.tools.len(), 0);
        let params = r#"{"n":1.50,"_meta":{"traceparent":"00-1"}}"#.to_owned();
        let params = RawValue::from_string(params).unwrap();
        let result = connection
            .request_raw("acme/anything", Some(params))
            .await
            .unwrap();
        assert_eq!(result.get(), r#"{"deep":[1.0]}"#);
    };
    let script = async {
        assert_stamp(
            &server.expect(json!({"method": "tools/list"})).await,
            Revision::LATEST,
        );
        server
            .answer(json!({"resultType": "complete", "tools": []}))
            .await;
        let heard = server.expect(json!({"method": "acme/anything"})).await;
        assert_stamp(&heard, Revision::LATEST);
        assert_eq!(heard["params"]["_meta"]["traceparent"], "00-1");
        assert_eq!(heard["params"]["n"].to_string(), "1.5");
        let id = &heard["id"];
        server
            .babble(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"deep":[1.0]}}}}"#
            ))
            .await;
    };
    tokio::join!(client, script);
}

#[tokio::test(start_paused = true)]
async fn answers_find_their_calls_in_any_order() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let call = |name: &'static str| {
        let connection = &connection;
        async move { connection.call(name, ()).await.unwrap().text() }
    };
    let (first, second, ()) = tokio::join!(call("first"), call("second"), async {
        let one = server.expect(json!({"params": {"name": "first"}})).await;
        let two = server.expect(json!({"params": {"name": "second"}})).await;
        assert_ne!(one["id"], two["id"]);
        for (id, text) in [("$id", "second"), ("$id-1", "first")] {
            let content = json!([{"type": "text", "text": text}]);
            server
                .say(json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}}))
                .await;
        }
    });
    assert_eq!((&*first, &*second), ("first", "second"));
}

#[tokio::test(start_paused = true)]
async fn meta_goes_along() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_03_26).await;
    tokio::join!(
        async {
            connection
                .call("t", ())
                .meta("traceparent", "00-1")
                .await
                .unwrap()
        },
        async {
            let heard = server.hear().await.unwrap();
            assert_eq!(heard["params"]["_meta"], json!({"traceparent": "00-1"}));
            server.answer(json!({"content": []})).await;
        }
    );
}

// rule: J7
// cancellation: the client sends `notifications/cancelled`; in both eras on this transport.
// timeouts: when the time is up the sender SHOULD cancel and stop waiting.
// basic: an unknown result type makes the result invalid.
#[tokio::test(start_paused = true)]
async fn a_result_of_an_unknown_type_is_not_believed() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    for method in ["tools/call", "resources/read", "tools/list"] {
        let (error, ()) = tokio::join!(
            async {
                match method {
                    "tools/call" => connection.call("t", ()).await.map(drop).unwrap_err(),
                    "resources/read" => connection.read("a:b").await.map(drop).unwrap_err(),
                    _ => connection.tools().await.map(drop).unwrap_err(),
                }
            },
            async {
                server.expect(json!({"method": method})).await;
                let empty = json!({"content": [], "contents": [], "tools": [], "resultType": "??"});
                server.answer(empty).await;
            }
        );
        assert!(
            matches!(error, CallError::Malformed { .. }),
            "{method}: {error:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_long_is_an_error_of_its_own_call() {
    let limits = turnbuckle_client::transport::Limits::default().with_max_message_bytes(1000);
    let (connection, mut server) = meet(&plain().limits(limits), Revision::LATEST).await;
    let (error, ()) = tokio::join!(
        async { connection.call("big", ()).await.unwrap_err() },
        async {
            let id = server.hear().await.unwrap()["id"].clone();
            let text = "x".repeat(5000);
            server
                .babble(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":"{text}"}}}}"#
                ))
                .await;
        }
    );
    assert!(
        matches!(error, CallError::Oversized { limit: 1000, .. }),
        "{error:?}"
    );
    tokio::join!(async { connection.ping().await.unwrap() }, async {
        server.hear().await;
        server.answer(json!({"resultType": "complete"})).await;
    });
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_too_many_values_is_an_error_of_its_own_call() {
    let limits = turnbuckle_client::transport::Limits::default().with_max_json_nodes(1000);
    let (connection, mut server) = meet(&plain().limits(limits), Revision::LATEST).await;
    let (error, ()) = tokio::join!(
        async { connection.call("dense", ()).await.unwrap_err() },
        async {
            let id = server.hear().await.unwrap()["id"].clone();
            let dense = vec![r#"{"":0}"#; 1000].join(",");
            server
                .babble(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":[{dense}]}}}}"#
                ))
                .await;
        }
    );
    assert!(
        matches!(error, CallError::TooManyNodes { limit, .. } if limit >= 1000),
        "{error:?}"
    );
    let said = error.to_string();
    assert!(said.contains("`Limits::max_json_nodes`"), "{said}");
    tokio::join!(async { connection.ping().await.unwrap() }, async {
        server.hear().await;
        server.answer(json!({"resultType": "complete"})).await;
    });
}

// rule: J6
#[tokio::test(start_paused = true)]
async fn calls_made_at_once_go_out_one_by_one() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let connection = connection.clone();
            calls.spawn(async move { connection.call("t", ()).await.unwrap() });
        }
        for _ in 0..20 {
            let heard = server.hear().await.unwrap();
            assert!(heard.is_object(), "{revision}: {heard}");
            server.answer(json!({"content": []})).await;
        }
        calls.join_all().await;
    }
}

// rule: J5
#[tokio::test(start_paused = true)]
async fn a_batch_of_answers_is_taken_apart() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_03_26).await;
    let call = || async { connection.call("t", ()).await.unwrap() };
    tokio::join!(call(), call(), async {
        server.hear().await;
        server.hear().await;
        let answer = |id| json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}});
        server.say(json!([answer("$id"), answer("$id-1")])).await;
    });
}

#[tokio::test(start_paused = true)]
async fn the_log_level_is_asked_for_in_the_way_of_the_revision() {
    use turnbuckle_client::protocol::LoggingLevel::Warning;

    let (legacy, mut server) = meet(&plain(), Revision::V2025_06_18).await;
    tokio::join!(
        async { legacy.set_log_level(Warning).await.unwrap() },
        async {
            server
                .expect(json!({"method": "logging/setLevel", "params": {"level": "warning"}}))
                .await;
            server.answer(json!({})).await;
        }
    );
    let (modern, mut server) = meet(&plain(), Revision::LATEST).await;
    modern.set_log_level(Warning).await.unwrap();
    tokio::join!(async { modern.call("t", ()).await.unwrap() }, async {
        let heard = server.expect(json!({"method": "tools/call"})).await;
        assert_eq!(
            heard["params"]["_meta"]["io.modelcontextprotocol/logLevel"],
            "warning"
        );
        server.answer(json!({"content": []})).await;
    });
    assert!(everything()["logging"].is_object());
}

#[tokio::test(start_paused = true)]
async fn an_application_may_say_what_only_it_knows() {
    use turnbuckle_client::protocol::{NotificationParams, method::RootsListChanged};

    let (legacy, mut server) = meet(&plain(), Revision::V2025_06_18).await;
    let params = NotificationParams::default();
    legacy
        .notify::<RootsListChanged>(params.clone())
        .await
        .unwrap();
    server
        .expect(json!({"method": "notifications/roots/list_changed"}))
        .await;
    let (modern, _server) = meet(&plain(), Revision::LATEST).await;
    let error = modern.notify::<RootsListChanged>(params).await.unwrap_err();
    assert!(matches!(error, CallError::NotOffered { .. }), "{error:?}");
}

// rule: PC5
// tasks: the token of a call stays valid until its task has ended.
#[tokio::test(start_paused = true)]
async fn progress_of_a_call_that_became_a_task_arrives() {
    let (mut server, end) = Server::new();
    let capabilities = json!({"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}});
    let client = plain();
    let opening = server.open_with(Revision::V2025_11_25, capabilities);
    let (connection, _) = tokio::join!(client.connect(end).into_future(), opening);
    let connection = connection.unwrap();
    let mut seen = Vec::new();
    let call = connection
        .call("build", ())
        .progress(|report| seen.push(report.progress));
    let session = async {
        server.expect(json!({"method": "tools/call"})).await;
        // The tool runs only as a task.
        let error = json!({"code": -32601, "message": "only as a task"});
        server
            .say(json!({"jsonrpc": "2.0", "id": "$id", "error": error}))
            .await;
        let asked = server
            .expect(json!({"method": "tools/call", "params": {"task": {}}}))
            .await;
        let token = asked["params"]["_meta"]["progressToken"].clone();
        let report = |progress: u32| {
            let params = json!({"progressToken": token, "progress": progress});
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        };
        server.say(report(1)).await;
        let task = json!({
            "taskId": "t1", "status": "working", "ttl": null, "pollInterval": 10,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        });
        server.answer(json!({"task": task})).await;
        server.expect(json!({"method": "tasks/result"})).await;
        for progress in [2, 3, 3] {
            server.say(report(progress)).await;
        }
        server
            .answer(json!({"content": [{"type": "text", "text": "built"}]}))
            .await;
    };
    let (output, ()) = tokio::join!(call.into_future(), session);
    assert_eq!(output.unwrap().text(), "built");
    assert_eq!(seen, [1.0, 2.0, 3.0]);
}

// rule: PC6
#[tokio::test(start_paused = true)]
async fn a_cancellation_says_why() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
    let stop = Canceller::new();
    let call = connection.call("slow", ()).cancel_with(&stop);
    let session = async {
        server.expect(json!({"method": "tools/call"})).await;
        stop.cancel("the user pressed stop");
        let told = server
            .expect(json!({"method": "notifications/cancelled"}))
            .await;
        assert_eq!(told["params"]["reason"], "the user pressed stop");
    };
    let (called, ()) = tokio::join!(call.into_future(), session);
    let Err(CallError::Cancelled { reason, .. }) = called else {
        panic!("{called:?}")
    };
    assert_eq!(&*reason, "the user pressed stop");
    // A deadline is a reason as well.
    let call = connection
        .call("slow", ())
        .deadline(std::time::Duration::from_secs(1));
    let session = async {
        server.expect(json!({"method": "tools/call"})).await;
        let told = server
            .expect(json!({"method": "notifications/cancelled"}))
            .await;
        let reason = told["params"]["reason"].as_str().unwrap();
        assert!(reason.contains("deadline"), "{reason}");
    };
    let (called, ()) = tokio::join!(call.into_future(), session);
    assert!(
        matches!(called, Err(CallError::Deadline { .. })),
        "{called:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_plain_value_is_the_only_argument() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
    let schema =
        json!({"type": "object", "properties": {"name": {}, "shout": {}}, "required": ["name"]});
    let both = json!({"type": "object", "properties": {"a": {}, "b": {}}});
    let tools = json!({"tools": [
        {"name": "greet", "inputSchema": schema},
        {"name": "add", "inputSchema": both},
    ]});
    let (output, ()) = tokio::join!(async { connection.call("greet", "Ada").await }, async {
        server.expect(json!({"method": "tools/list"})).await;
        server.answer(tools.clone()).await;
        let called = json!({"name": "greet", "arguments": {"name": "Ada"}});
        server
            .expect(json!({"method": "tools/call", "params": called}))
            .await;
        server
            .answer(json!({"content": [{"type": "text", "text": "Hello, Ada!"}]}))
            .await;
    });
    assert_eq!(output.unwrap().text(), "Hello, Ada!");
    let (refused, ()) = tokio::join!(async { connection.call("add", 7).await }, async {
        server.expect(json!({"method": "tools/list"})).await;
        server.answer(tools).await;
    });
    let error = refused.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("(a, b): give them by name"), "{source}");
}
