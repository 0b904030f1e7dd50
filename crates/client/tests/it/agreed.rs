//! A client answers only the kinds of requests that it has declared, in the negotiated revision; and
//! handlers get the name that the application gave to the server.

use std::{future::IntoFuture, sync::Arc, time::Duration};

use serde_json::{Value, json};
use turnbuckle_client::{
    Answers, CallError, Client, Roots, Round,
    protocol::{
        CreateMessageResult, ElicitResult, IncludeContext, LoggingLevel, Meta,
        PaginatedRequestParams, Revision, Root, method::ToolsList,
    },
};

use crate::{
    asks_in_sessions::{form, sample},
    script::{Server, complete, meet, plain},
};

fn url() -> Value {
    json!({"mode": "url", "message": "Pay", "url": "https://example.com/pay", "elicitationId": "1"})
}

fn with_tools() -> Value {
    let mut params = sample();
    params["tools"] = json!([{"name": "dice", "inputSchema": {"type": "object"}}]);
    params
}

/// Sends a request in a session, and returns the code of the client's error, if any.
async fn refused(server: &mut Server, method: &str, params: Value) -> Option<i64> {
    server
        .say(json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}))
        .await;
    let answer = server.expect(json!({"id": "q"})).await;
    answer["error"]["code"].as_i64()
}

// rule: V5
// rule: E2
// rule: Q2
#[tokio::test(start_paused = true)]
async fn a_call_by_hand_is_asked_only_what_was_offered() {
    let client = plain().answering(Answers::new().forms_by_hand());
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let session = async {
        server.expect(json!({"method": "tools/call"})).await;
        assert_eq!(
            refused(&mut server, "elicitation/create", url()).await,
            Some(-32602)
        );
        for (method, params) in [
            ("sampling/createMessage", sample()),
            ("sampling/createMessage", with_tools()),
            ("roots/list", json!({})),
        ] {
            assert_eq!(
                refused(&mut server, method, params).await,
                Some(-32601),
                "{method}"
            );
        }
        let asked =
            json!({"jsonrpc": "2.0", "id": "f", "method": "elicitation/create", "params": form()});
        server.say(asked).await;
    };
    let call = connection.by_hand(connection.call("book", ()));
    let (round, ()) = tokio::join!(call.into_future(), session);
    let Round::Asked(pending) = round.unwrap() else {
        panic!("the form is asked")
    };
    assert_eq!(pending.asks().len(), 1, "{pending:?}");
}

// rule: V5
#[tokio::test(start_paused = true)]
async fn a_modern_call_by_hand_ends_when_something_else_is_asked_than_was_offered() {
    let client = plain().answering(Answers::new().forms_by_hand());
    let (connection, mut server) = meet(&client, Revision::LATEST).await;
    for asked in [
        json!({"method": "elicitation/create", "params": url()}),
        json!({"method": "roots/list"}),
        json!({"method": "sampling/createMessage", "params": with_tools()}),
    ] {
        let answer = async {
            server.expect(json!({"method": "tools/call"})).await;
            let result = json!({"resultType": "input_required", "inputRequests": {"x": asked}});
            server.answer(result).await;
        };
        let call = connection.by_hand(connection.call("book", ()));
        let (round, ()) = tokio::join!(call.into_future(), answer);
        let Err(CallError::InputRequired { reason, .. }) = round else {
            panic!("{round:?}")
        };
        assert!(reason.contains("does not offer"), "{reason}");
    }
}

// rule: V5
#[tokio::test(start_paused = true)]
async fn a_request_that_the_revision_does_not_have_is_refused() {
    let client = crate::asks_in_sessions::answering();
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let (_connection, mut server) = meet(&client, revision).await;
        assert_eq!(
            refused(&mut server, "elicitation/create", form()).await,
            Some(-32601),
            "{revision}"
        );
        assert_eq!(
            refused(&mut server, "tasks/list", json!({})).await,
            Some(-32601)
        );
    }
    // Forms came with 2025-06-18, URLs with 2025-11-25.
    let (_connection, mut server) = meet(&client, Revision::V2025_06_18).await;
    assert_eq!(
        refused(&mut server, "elicitation/create", form()).await,
        None
    );
    assert_eq!(
        refused(&mut server, "elicitation/create", url()).await,
        Some(-32602)
    );
}

// rule: Q2
#[tokio::test(start_paused = true)]
async fn context_for_the_model_is_declared_and_reaches_the_handler() {
    let client = plain()
        .on_sample(|ask| async move {
            assert_eq!(ask.include_context, Some(IncludeContext::ThisServer));
            let said = ask.messages[0].content[0].clone();
            Ok(CreateMessageResult::new("parrot", said))
        })
        .sampling_context();
    let (mut server, end) = Server::new();
    let opening = server.open_with(Revision::V2025_11_25, json!({}));
    let (connection, said) = tokio::join!(client.connect(end).into_future(), opening);
    assert_eq!(said["capabilities"]["sampling"], json!({"context": {}}));
    let mut params = sample();
    params["includeContext"] = "thisServer".into();
    assert_eq!(
        refused(&mut server, "sampling/createMessage", params).await,
        None
    );
    drop(connection);
}

// rule: E9
#[tokio::test(start_paused = true)]
async fn handlers_are_told_the_name_that_the_host_gave() {
    let (told, mut names) = tokio::sync::mpsc::unbounded_channel::<String>();
    let told = Arc::new(told);
    let logs = told.clone();
    let client: Client = plain()
        .on_form(move |form| {
            told.send(form.server.name().to_owned()).unwrap();
            assert_eq!(form.server.own_name(), Some("script"));
            async { Ok(ElicitResult::decline()) }
        })
        .on_log(move |server, _| logs.send(server.to_owned()).unwrap());
    let (mut server, end) = Server::new();
    let connecting = client.connect(end).named("notes").into_future();
    let (connection, ()) = tokio::join!(connecting, server.open(Revision::V2025_11_25));
    assert_eq!(
        refused(&mut server, "elicitation/create", form()).await,
        None
    );
    let log = json!({"level": "info", "data": "Your Bank"});
    server
        .say(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": log}))
        .await;
    assert_eq!(names.recv().await.unwrap(), "notes");
    assert_eq!(names.recv().await.unwrap(), "notes");
    drop(connection);
}

// rule: O1
#[tokio::test(start_paused = true)]
async fn each_server_may_be_given_roots_of_its_own() {
    let client = plain().on_roots(|server| async move {
        Ok(match server.name() {
            "git" => vec![Root::new("file:///work"), Root::new("file:///work/../etc")],
            _ => vec![],
        })
    });
    for (name, wanted) in [
        ("git", json!([{"uri": "file:///work"}])),
        ("notes", json!([])),
    ] {
        let (mut server, end) = Server::new();
        let connecting = client.connect(end).named(name).into_future();
        let opening = server.open_with(Revision::V2025_11_25, json!({}));
        let (connection, said) = tokio::join!(connecting, opening);
        assert_eq!(said["capabilities"]["roots"], json!({"listChanged": true}));
        server
            .say(json!({"jsonrpc": "2.0", "id": "q", "method": "roots/list"}))
            .await;
        let answer = server.expect(json!({"id": "q"})).await;
        assert_eq!(answer["result"]["roots"], wanted);
        let connection = connection.unwrap();
        connection.roots_changed();
        server
            .expect(json!({"method": "notifications/roots/list_changed"}))
            .await;
    }
}

// rule: O2
#[tokio::test]
async fn a_folder_that_is_gone_is_announced_and_not_listed_any_more() {
    let folder = std::env::temp_dir().join(format!("turnbuckle root {}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let missing = Roots::folders([folder.join("missing")]).unwrap_err();
    assert!(missing.to_string().contains("missing"), "{missing}");
    let client = plain().roots(Roots::folders([&folder]).unwrap());
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let mut listed = async || {
        let asked = json!({"jsonrpc": "2.0", "id": "q", "method": "roots/list"});
        server.say(asked).await;
        let answer = loop {
            let heard = server.hear().await.unwrap();
            if heard["id"] == "q" {
                break heard;
            }
        };
        answer["result"]["roots"].as_array().unwrap().len()
    };
    assert_eq!(listed().await, 1);
    std::fs::remove_dir(&folder).unwrap();
    assert_eq!(listed().await, 0);
    let told = server.expect(json!({"method": "notifications/roots/list_changed"}));
    tokio::time::timeout(std::time::Duration::from_mins(1), told)
        .await
        .unwrap();
    drop(connection);
}

// rule: O2
#[tokio::test]
async fn folders_that_a_handler_gives_to_a_server_are_watched() {
    let folder = std::env::temp_dir().join(format!("turnbuckle given {}", std::process::id()));
    let other = std::env::temp_dir().join(format!("turnbuckle other {}", std::process::id()));
    for path in [&folder, &other] {
        std::fs::create_dir_all(path).unwrap();
    }
    let roots = Roots::folders([&folder]).unwrap();
    let given = roots.clone();
    let client = plain().on_roots(move |_| {
        let given = given.clone();
        async move { Ok(given) }
    });
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let mut uris = async || {
        server
            .say(json!({"jsonrpc": "2.0", "id": "q", "method": "roots/list"}))
            .await;
        let answer = server.expect(json!({"id": "q"})).await;
        let roots = answer["result"]["roots"].as_array().unwrap().clone();
        let uris = roots
            .iter()
            .map(|root| root["uri"].as_str().unwrap().to_owned());
        uris.collect::<Vec<_>>().join(" ")
    };
    assert!(uris().await.contains("turnbuckle%20given"));
    let missing = roots.replace_folders([folder.join("missing")]);
    assert!(missing.is_err());
    assert!(uris().await.contains("turnbuckle%20given"));
    let within = Duration::from_mins(1);
    for change in ["replaced", "gone"] {
        match change {
            "replaced" => roots.replace_folders([&other]).unwrap(),
            _ => std::fs::remove_dir(&other).unwrap(),
        }
        let told = server.expect(json!({"method": "notifications/roots/list_changed"}));
        tokio::time::timeout(within, told).await.expect(change);
    }
    server
        .say(json!({"jsonrpc": "2.0", "id": "q", "method": "roots/list"}))
        .await;
    let answer = server.expect(json!({"id": "q"})).await;
    assert_eq!(answer["result"]["roots"], json!([]));
    std::fs::remove_dir(&folder).unwrap();
    drop(connection);
}

// rule: V5
#[tokio::test(start_paused = true)]
async fn what_is_not_offered_is_refused_as_that_whatever_its_params_are() {
    let (_connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
    for method in ["roots/list", "sampling/createMessage", "elicitation/create"] {
        for params in [json!({"_meta": 7}), json!({"messages": "none", "mode": []})] {
            assert_eq!(
                refused(&mut server, method, params).await,
                Some(-32601),
                "{method}"
            );
        }
    }
    let client = plain().answering(Answers::new().forms_by_hand());
    let (_connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    assert_eq!(
        refused(&mut server, "elicitation/create", json!({"message": 7})).await,
        Some(-32602)
    );
}

// rule: J10
#[tokio::test(start_paused = true)]
async fn an_invalid_key_of_meta_is_an_error_before_anything_is_sent() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        for key in [
            "my key",
            "a/b/c",
            "",
            "com.example/größe",
            "-a",
            "two\nlines",
        ] {
            let call = connection.call("t", ()).meta(key, 1);
            let error = call.log_level(LoggingLevel::Debug).await.unwrap_err();
            let CallError::Unwritable { source, .. } = &error else {
                panic!("{revision} {key}: {error:?}")
            };
            let reason = source.to_string();
            assert!(reason.contains("not a valid key of `_meta`"), "{reason}");
            assert!(!reason.contains('\n'), "{reason}");
        }
        let params = PaginatedRequestParams::new().with_meta(Meta::new().with("my key", 1));
        let error = connection.request::<ToolsList>(params).await.unwrap_err();
        assert!(matches!(error, CallError::Unwritable { .. }), "{error:?}");
        // The next message that the server receives is the call with a valid key.
        let (_, ()) = tokio::join!(
            connection
                .call("t", ())
                .meta("com.example/order", 1)
                .into_future(),
            async {
                let heard = server.expect(json!({"method": "tools/call"})).await;
                assert_eq!(heard["params"]["_meta"]["com.example/order"], 1);
                server
                    .answer(complete(json!({"content": []}), revision))
                    .await;
            }
        );
    }
}

// rule: J10
#[tokio::test(start_paused = true)]
async fn an_answer_with_an_invalid_key_of_meta_is_not_sent() {
    let client = plain().on_form(|_| async {
        let meta = Meta::new().with("my key", 1);
        Ok(ElicitResult::decline().with_meta(meta))
    });
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    assert_eq!(
        refused(&mut server, "elicitation/create", form()).await,
        Some(-32603)
    );
    drop((connection, server));
    let (connection, mut server) = meet(&client, Revision::LATEST).await;
    let (called, ()) = tokio::join!(connection.call("book", ()).into_future(), async {
        server.expect(json!({"method": "tools/call"})).await;
        let asked = json!({"x": {"method": "elicitation/create", "params": form()}});
        let result = json!({"resultType": "input_required", "inputRequests": asked});
        server.answer(result).await;
    });
    let Err(CallError::InputRequired { reason, .. }) = called else {
        panic!("{called:?}")
    };
    assert!(reason.contains("`my key`"), "{reason}");
}
