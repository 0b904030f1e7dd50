//! A single invalid entry does not make a whole answer unreadable: the rest is returned, with a
//! warning.

use std::future::IntoFuture;

use serde_json::{Value, json};
use turnbuckle_client::{
    CallError, Connection, ServerNotification,
    protocol::{LoggingLevel, Reference, Revision},
};

use crate::script::{Server, complete, meet, plain};

/// Plays one request with its answer, and returns the result of the client.
async fn asked<T>(
    server: &mut Server,
    method: &str,
    answer: Value,
    call: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    let serve = async {
        server.expect(json!({ "method": method })).await;
        server.answer(answer).await;
    };
    let (result, ()) = tokio::join!(call, serve);
    result
}

fn warned(connection: &Connection) -> Vec<String> {
    let warnings = connection.warnings().into_iter();
    warnings.map(|warning| warning.pointer).collect()
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn odd_entries_are_left_out_and_warned_of_at_every_revision() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let answer = |result| complete(result, revision);
        let good = json!({ "name": "good", "inputSchema": { "type": "object" } });
        let tools = json!({ "tools": [
            good, { "name": "bare" }, { "title": "nameless" }, { "name": "odd", "inputSchema": 7 },
            {
                "name": "sometimes", "inputSchema": { "type": "object" },
                "execution": { "taskSupport": "sometimes" },
            },
        ] });
        let listed = asked(&mut server, "tools/list", answer(tools), async {
            connection.tools().await
        });
        let names: Vec<_> = listed
            .await
            .unwrap()
            .into_iter()
            .map(|tool| tool.name)
            .collect();
        assert_eq!(names, ["good", "bare", "sometimes"], "{revision}");
        assert_eq!(
            warned(&connection),
            ["/tools/1", "/tools/2", "/tools/2", "/tools/3"]
        );

        let resources = json!({ "resources": [
            { "uri": "a:b", "name": "b", "size": 3.0 },
            { "uri": "a:c", "name": "c", "size": 3.5 },
            { "uri": "a:d", "name": "d", "annotations": { "audience": ["human"] } },
        ] });
        let listed = asked(&mut server, "resources/list", answer(resources), async {
            connection.resources().await
        });
        let listed = listed.await.unwrap();
        let sizes: Vec<_> = listed.iter().map(|resource| resource.size).collect();
        assert_eq!(sizes, [Some(3), None, None], "{revision}");
        assert_eq!(warned(&connection), ["/resources/1/size"]);

        let contents = json!({ "contents": [{ "uri": "a:b" }, { "uri": "a:b", "text": "t" }] });
        let read = asked(&mut server, "resources/read", answer(contents), async {
            connection.read("a:b").await
        });
        assert_eq!(read.await.unwrap().contents.len(), 1, "{revision}");
        assert_eq!(warned(&connection), ["/contents/0"]);

        let text = json!({ "type": "text", "text": "t" });
        let messages = json!({ "messages": [
            { "role": "system", "content": text }, { "role": "user", "content": {} },
        ] });
        let prompt = asked(&mut server, "prompts/get", answer(messages), async {
            connection.get("p", ()).await
        });
        let prompt = prompt.await.unwrap();
        assert_eq!(prompt.messages.len(), 1, "{revision}");
        assert_eq!(prompt.messages[0].role.as_str(), "system");
        assert_eq!(warned(&connection), ["/messages/1"]);

        let result = json!({ "content": [text, { "type": "text" }], "isError": true });
        let called = asked(&mut server, "tools/call", answer(result), async {
            connection.call("good", ()).await
        });
        let called = called.await.unwrap();
        assert_eq!(
            (called.content.len(), called.is_error),
            (1, Some(true)),
            "{revision}"
        );
        assert_eq!(warned(&connection), ["/content/1"]);
        assert!(connection.warnings().is_empty(), "each is given once");
    }
}

/// An answer that would mean something else without its invalid part is still an error.
#[tokio::test(start_paused = true)]
async fn an_answer_whose_meaning_is_unclear_is_an_error() {
    let (connection, mut server) = meet(&plain(), Revision::V2026_07_28).await;
    for answer in [
        json!({ "resultType": "unheard_of", "content": [] }),
        json!({ "resultType": "complete", "content": [], "isError": "no" }),
        json!({ "resultType": "input_required", "inputRequests": { "a": { "method": "x" } } }),
        json!([]),
    ] {
        let called = asked(&mut server, "tools/call", answer.clone(), async {
            connection.call("t", ()).await
        });
        let error = called.await.unwrap_err();
        assert!(
            matches!(error, CallError::Malformed { .. }),
            "{answer}: {error}"
        );
        assert!(connection.warnings().is_empty());
    }
}

/// Unknown members that the schemas allow are kept, because a gateway must pass them on.
// rule: J16
#[tokio::test(start_paused = true)]
async fn members_without_a_name_survive() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let result = json!({
            "content": [{ "type": "text", "text": "t", "lang": "en" }], "cost": { "tokens": 3 },
        });
        let called = asked(
            &mut server,
            "tools/call",
            complete(result.clone(), revision),
            async { connection.call("t", ()).await },
        );
        let called = called.await.unwrap();
        assert_eq!(json!(called.into_result()), result, "{revision}");
        let contents = json!({ "contents": [{
            "uri": "a:b", "name": "b", "title": "B", "annotations": { "priority": 1 }, "text": "t",
        }] });
        let read = asked(
            &mut server,
            "resources/read",
            complete(contents.clone(), revision),
            async { connection.read("a:b").await },
        );
        let read = json!(read.await.unwrap());
        assert_eq!(read["contents"], contents["contents"], "{revision}");
    }
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn an_odd_handshake_opens_a_connection_all_the_same() {
    for &revision in Revision::LEGACY {
        let (mut server, end) = Server::new();
        let client = plain().only(revision);
        let opening = async {
            server.expect(json!({ "method": "initialize" })).await;
            let result = json!({
                "protocolVersion": revision.as_str(),
                "capabilities": { "tools": { "listChanged": "yes" }, "prompts": 7 },
                "serverInfo": { "name": "odd", "version": "1", "icons": [7] },
            });
            server.answer(result).await;
            server
                .expect(json!({ "method": "notifications/initialized" }))
                .await;
        };
        let (connection, ()) = tokio::join!(client.connect(end).into_future(), opening);
        let connection = connection.unwrap();
        let server = connection.server();
        assert_eq!(server.name(), "odd", "{revision}");
        assert!(server.capabilities().is_some_and(|it| it.tools.is_some()));
        assert!(!warned(&connection).is_empty(), "{revision}");
    }
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn answers_that_are_nearly_right_are_read_or_end_their_call_at_once() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let result = complete(
            json!({ "content": [{ "type": "text", "text": "t" }] }),
            revision,
        );
        let read = [
            json!({ "jsonrpc": "2.0", "result": result, "error": null }),
            json!({ "jsonrpc": "2.0", "id": "text", "result": result }),
            json!({ "jsonrpc": "2.0", "method": null, "result": result }),
            json!({
                "jsonrpc": "2.0", "method": null, "params": null, "result": result, "error": null,
            }),
        ];
        for mut answer in read {
            let serve = async {
                let id = server.expect(json!({ "method": "tools/call" })).await["id"].clone();
                answer["id"] = match answer.get("id") {
                    Some(_) => id.to_string().into(),
                    None => id,
                };
                server.say(answer.clone()).await;
            };
            let (called, ()) = tokio::join!(async { connection.call("t", ()).await }, serve);
            assert_eq!(called.expect("it can be read").text(), "t", "{revision}");
        }
        for broken in [
            r#"{"id":ID,"result":{"content":[]}}"#,
            r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":NaN}}"#,
            r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":ID}"#,
            r#"{"jsonrpc":"2.0","id":ID,"method":null,"params":null}"#,
            r#"{"jsonrpc":"2.0","id":ID,"method":null,"result":null,"error":null}"#,
            r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"te"#,
            r#"{"jsonrpc":"2.0","result":{"content":[],"structuredContent":NaN},"id":ID}"#,
        ] {
            let began = tokio::time::Instant::now();
            let serve = async {
                let id = server.expect(json!({ "method": "tools/call" })).await["id"].clone();
                server.babble(&broken.replace("ID", &id.to_string())).await;
            };
            let (called, ()) = tokio::join!(async { connection.call("t", ()).await }, serve);
            let error = called.expect_err("it cannot be read");
            assert!(matches!(error, CallError::Malformed { .. }), "{error:?}");
            assert_eq!(began.elapsed().as_millis(), 0, "{revision}: {broken}");
        }
        // If the result is null, the error counts, although both members are present.
        let serve = async {
            let id = server.expect(json!({ "method": "tools/call" })).await["id"].clone();
            let error = json!({ "code": -32000, "message": "no" });
            let said = json!({ "jsonrpc": "2.0", "id": id, "result": null, "error": error });
            server.say(said).await;
        };
        let (called, ()) = tokio::join!(async { connection.call("t", ()).await }, serve);
        let error = called.expect_err("an error");
        assert!(error.rejection().is_some(), "{error:?}");
    }
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn answers_behind_a_byte_order_mark_or_with_a_fraction_in_their_id_are_read() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let result = complete(json!({ "content": [] }), revision);
        for (before, after) in [("\u{feff}", ""), ("", ".0")] {
            let serve = async {
                let id = server.expect(json!({ "method": "tools/call" })).await["id"].clone();
                let answer =
                    format!(r#"{before}{{"jsonrpc":"2.0","id":{id}{after},"result":{result}}}"#);
                server.babble(&answer).await;
            };
            let (called, ()) = tokio::join!(async { connection.call("t", ()).await }, serve);
            called.unwrap_or_else(|error| panic!("{before:?} {after}: {error}"));
        }
    }
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn a_capability_that_is_no_object_is_still_declared() {
    for &revision in Revision::ALL {
        for (capabilities, expected) in [
            (json!({ "tools": [], "prompts": true, "logging": [] }), 2),
            (json!({ "tools": true, "prompts": [], "resources": 7 }), 2),
            (json!([]), 0),
            (json!(null), 0),
            (json!("none"), 0),
            (
                json!({ "tools": {}, "prompts": {}, "tasks": { "list": [], "cancel": true } }),
                2,
            ),
        ] {
            let (mut server, end) = Server::new();
            let client = plain().only(revision);
            let opening = async {
                if revision.is_modern() {
                    server.expect(json!({ "method": "server/discover" })).await;
                    let result = json!({
                        "resultType": "complete", "supportedVersions": [revision.as_str()],
                        "capabilities": capabilities,
                    });
                    server.answer(result).await;
                } else {
                    server.expect(json!({ "method": "initialize" })).await;
                    let result = json!({
                        "protocolVersion": revision.as_str(), "capabilities": capabilities,
                        "serverInfo": { "name": "odd", "version": "1" },
                    });
                    server.answer(result).await;
                    server
                        .expect(json!({ "method": "notifications/initialized" }))
                        .await;
                }
            };
            let (connection, ()) = tokio::join!(client.connect(end).into_future(), opening);
            let connection = connection.unwrap_or_else(|error| panic!("{capabilities}: {error}"));
            let server = connection.server();
            let declared = server.capabilities().expect("capabilities");
            let count =
                usize::from(declared.tools.is_some()) + usize::from(declared.prompts.is_some());
            assert_eq!(count, expected, "{revision}: {capabilities}");
            if let Some(tasks) = &declared.tasks {
                assert!(tasks.list.is_some() && tasks.cancel.is_some());
            }
            assert!(
                !warned(&connection).is_empty(),
                "{revision}: {capabilities}"
            );
        }
    }
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn members_of_other_revisions_say_nothing_in_a_session() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
    for odd in [
        json!({ "resultType": "done" }),
        json!({ "resultType": "input_required" }),
        json!({ "task": "x" }),
        json!({ "task": { "name": "x" } }),
        json!({ "requestState": 7 }),
    ] {
        let mut result = json!({ "content": [{ "type": "text", "text": "t" }] });
        for (name, value) in odd.as_object().expect("an object") {
            result[name] = value.clone();
        }
        let called = asked(&mut server, "tools/call", result, async {
            connection.call("t", ()).await
        });
        assert_eq!(called.await.expect("it can be read").text(), "t", "{odd}");
    }
}

// rule: RS6
#[tokio::test(start_paused = true)]
async fn an_empty_cursor_at_the_end_does_not_lose_the_list() {
    let (connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
    let page = |name: &str| {
        let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
        json!({ "tools": [tool], "nextCursor": "" })
    };
    let serve = async {
        server.expect(json!({ "method": "tools/list" })).await;
        server.answer(page("a")).await;
        let params = json!({ "cursor": "" });
        server
            .expect(json!({ "method": "tools/list", "params": params }))
            .await;
        server.answer(page("b")).await;
    };
    let (listed, ()) = tokio::join!(async { connection.tools().await }, serve);
    assert_eq!(listed.expect("a list").len(), 2);
    assert_eq!(warned(&connection), ["/nextCursor"]);
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn the_message_of_an_error_is_shown_whatever_its_code_is() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        for (code, expected) in [
            (json!("E_X"), (-32603, "boom: E_X")),
            (json!("-32602"), (-32602, "boom")),
            (json!(null), (-32603, "boom")),
        ] {
            let (called, ()) = tokio::join!(connection.call("t", ()).into_future(), async {
                let heard = server.hear().await.unwrap();
                let error = json!({"code": code, "message": "boom", "data": {"a": 1}});
                let answer = json!({"jsonrpc": "2.0", "id": heard["id"], "error": error});
                server.say(answer).await;
            });
            let error = called.unwrap_err();
            let rejection = error.rejection().unwrap_or_else(|| panic!("{error:?}"));
            assert_eq!(
                (rejection.code, &*rejection.message),
                expected,
                "{revision}"
            );
            assert_eq!(rejection.data, Some(json!({"a": 1})));
        }
    }
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn the_message_of_an_error_is_shown_whatever_else_is_odd() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    for (error, message) in [
        (
            r#"{"code":-32000,"message":"boom \ud83d"}"#.to_owned(),
            "boom \u{fffd}",
        ),
        (
            format!(r#"{{"code":-32000,"message":"boom","data":{deep}}}"#),
            "boom",
        ),
    ] {
        let (called, ()) = tokio::join!(connection.call("t", ()).into_future(), async {
            let id = server.hear().await.unwrap()["id"].clone();
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
            server.babble(&answer).await;
        });
        let failed = called.unwrap_err();
        let rejection = failed.rejection().unwrap_or_else(|| panic!("{failed:?}"));
        assert_eq!((rejection.code, &*rejection.message), (-32000, message));
    }
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn content_that_is_no_list_does_not_lose_the_result() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        for (content, text) in [
            (json!({ "type": "text", "text": "t" }), "t"),
            (json!("t"), "t"),
            (json!(7), ""),
        ] {
            let result = json!({ "content": content, "_meta": { "com.example/a": 1 } });
            let called = asked(
                &mut server,
                "tools/call",
                complete(result, revision),
                async { connection.call("t", ()).await },
            );
            let called = called
                .await
                .unwrap_or_else(|error| panic!("{content}: {error}"));
            assert_eq!(called.text(), text, "{revision}: {content}");
            assert!(called.into_result().meta.is_some());
            assert_eq!(warned(&connection), ["/content"]);
        }
        let values = complete(
            json!({ "completion": { "values": null, "total": 3 } }),
            revision,
        );
        let reference = Reference::prompt("p");
        let completed = asked(&mut server, "completion/complete", values, async {
            connection.complete(reference, "a", "b").await
        });
        assert!(completed.await.expect("it can be read").values.is_empty());
    }
}

// rule: J15
#[tokio::test(start_paused = true)]
async fn odd_log_messages_are_heard() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let (connection, mut server) = meet(&plain(), revision).await;
        let mut news = connection.notifications();
        let deep = format!("{}7{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        for (params, begin) in [
            (
                r#"{"level":"info","data":"cut \ud83d"}"#.to_owned(),
                "cut \u{fffd}",
            ),
            (
                r#"{"level":"info","data":"d","logger":"\ud83d"}"#.to_owned(),
                "d",
            ),
            (r#"{"level":"loud","data":"d"}"#.to_owned(), "d"),
            (
                format!(r#"{{"level":"info","data":{deep}}}"#),
                r#"{"a":{"a":"#,
            ),
            (r#"{"level":"info"}"#.to_owned(), ""),
        ] {
            let message = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{params}}}"#
            );
            server.babble(&message).await;
            let heard = news.next().await.expect("a notification");
            let ServerNotification::Log(log) = heard else {
                panic!("{params}: {heard:?}");
            };
            assert_eq!(log.level, LoggingLevel::Info);
            let data = log.data.as_str().unwrap_or_default();
            assert!(data.starts_with(begin), "{params}: {data}");
        }
    }
}
