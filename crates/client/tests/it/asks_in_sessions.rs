//! Questions of legacy servers: they come as requests, in the middle of a call or at any time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use turnbuckle_client::{
    CallError, Client, Refusal, Roots,
    protocol::{CreateMessageResult, ElicitResult, ElicitValue, Revision, Root},
};

use crate::script::{Server, meet, plain};

/// Answers everything: forms with `{"seat": "12A"}`, URLs with accept, sampling with an echo.
pub(crate) fn answering() -> Client {
    plain()
        .on_form(|form| async move {
            assert_eq!(form.server.name(), "script");
            let content = [("seat".to_owned(), ElicitValue::from("12A"))];
            Ok(ElicitResult::accept(content))
        })
        .on_url(|url| async move {
            assert_eq!(url.url, "https://example.com/pay");
            Ok(ElicitResult::accept_visit())
        })
        .on_sample(|ask| async move {
            let said = ask.messages[0].content[0].clone();
            Ok(CreateMessageResult::new("parrot", said))
        })
        .roots(vec![Root::new("file:///home").with_name("home")])
}

pub(crate) fn form() -> Value {
    let schema = json!({"type": "object", "properties": {"seat": {"type": "string"}}});
    json!({"message": "Which seat?", "requestedSchema": schema})
}

pub(crate) fn sample() -> Value {
    let content = json!({"type": "text", "text": "hi"});
    json!({"messages": [{"role": "user", "content": content}], "maxTokens": 9})
}

/// Sends a request in a session, and returns the client's answer.
async fn ask(server: &mut Server, method: &str, params: Value) -> Value {
    server
        .say(json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}))
        .await;
    let mut answer = server.expect(json!({"jsonrpc": "2.0", "id": "q"})).await;
    answer
        .as_object_mut()
        .unwrap()
        .retain(|name, _| name == "result" || name == "error");
    answer
}

// rule: V6
#[tokio::test(start_paused = true)]
async fn sessions_ask_by_requests_of_their_own() {
    for &revision in Revision::LEGACY {
        let (_connection, mut server) = meet(&answering(), revision).await;
        assert_eq!(
            ask(&mut server, "ping", json!({})).await,
            json!({"result": {}})
        );
        assert_eq!(
            ask(&mut server, "roots/list", json!({})).await,
            json!({"result": {"roots": [{"uri": "file:///home", "name": "home"}]}})
        );
        assert_eq!(
            ask(&mut server, "sampling/createMessage", sample()).await,
            json!({"result": {
                "role": "assistant",
                "content": {"type": "text", "text": "hi"},
                "model": "parrot",
            }})
        );
        if revision >= Revision::V2025_06_18 {
            assert_eq!(
                ask(&mut server, "elicitation/create", form()).await,
                json!({"result": {"action": "accept", "content": {"seat": "12A"}}})
            );
        }
        if revision == Revision::V2025_11_25 {
            let url = json!({
                "mode": "url", "message": "Pay", "url": "https://example.com/pay", "elicitationId": "e",
            });
            assert_eq!(
                ask(&mut server, "elicitation/create", url).await,
                json!({"result": {"action": "accept"}})
            );
        }
    }
}

// rule: E2, Q2
#[tokio::test(start_paused = true)]
async fn what_was_not_offered_is_refused_with_the_right_code() {
    let revision = Revision::V2025_11_25;
    let url =
        json!({"mode": "url", "message": "m", "url": "https://a.example", "elicitationId": "e"});
    let code = |answer: Value| answer["error"]["code"].as_i64();

    let (_nothing, mut server) = meet(&plain(), revision).await;
    for (method, params) in [
        ("roots/list", json!({})),
        ("sampling/createMessage", sample()),
        ("elicitation/create", form()),
        ("acme/unheard-of", json!({})),
    ] {
        assert_eq!(
            code(ask(&mut server, method, params).await),
            Some(-32601),
            "{method}"
        );
    }

    // elicitation: an undeclared mode is answered with −32602. sampling: undeclared tools too.
    let forms = plain()
        .on_form(|_| async { Ok(ElicitResult::cancel()) })
        .on_sample(|_| async { Err(Refusal::failed("no model")) });
    let (_forms, mut server) = meet(&forms, revision).await;
    assert_eq!(
        code(ask(&mut server, "elicitation/create", url).await),
        Some(-32602)
    );
    let mut with_tools = sample();
    with_tools["tools"] = json!([]);
    assert_eq!(
        code(ask(&mut server, "sampling/createMessage", with_tools).await),
        Some(-32602)
    );
    assert_eq!(
        code(ask(&mut server, "elicitation/create", json!({})).await),
        Some(-32602)
    );
    assert_eq!(
        ask(&mut server, "sampling/createMessage", sample()).await,
        json!({"error": {"code": -32603, "message": "the client failed to answer"}})
    );
}

// rule: E7
// elicitation, 2025-11-25: clients MUST ignore the end of a visit that they do not know.
#[tokio::test(start_paused = true)]
async fn the_end_of_an_unknown_visit_is_ignored() {
    let (connection, mut server) = meet(&answering(), Revision::V2025_11_25).await;
    for params in [
        json!({"elicitationId": "unheard-of"}),
        json!({}),
        json!({"elicitationId": 7}),
    ] {
        let method = "notifications/elicitation/complete";
        server
            .say(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }
    tokio::join!(async { connection.ping().await.unwrap() }, async {
        server.expect(json!({"method": "ping"})).await;
        server.answer(json!({})).await;
    });
    assert!(!connection.is_closed());
}

// rule: Q4
// sampling: a declined request is answered with −1; a declined form with the action `decline`.
#[tokio::test(start_paused = true)]
async fn saying_no_has_its_own_words() {
    let client = plain()
        .on_form(|_| async { Err(Refusal::Declined) })
        .on_sample(|_| async { Err(Refusal::Declined) });
    let (_connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let answer = ask(&mut server, "sampling/createMessage", sample()).await;
    assert_eq!(answer["error"]["code"], -1);
    assert_eq!(
        ask(&mut server, "elicitation/create", form()).await,
        json!({"result": {"action": "decline"}})
    );
}

// rule: Q4, Q7
// sampling: tool results that are missing, or mixed with other content, SHOULD get −32602.
#[tokio::test(start_paused = true)]
async fn a_tool_use_without_its_result_is_not_shown_to_the_model() {
    let client = plain().on_sample_with_tools(|_| async { Ok(CreateMessageResult::new("m", "x")) });
    let (_connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let called = json!({"role": "assistant", "content":
        {"type": "tool_use", "id": "1", "name": "weather", "input": {}}});
    let text = json!({"type": "text", "text": "well?"});
    let result = json!({"type": "tool_result", "toolUseId": "1", "content": [text]});
    for (content, is_right) in [
        (json!([result]), true),
        (json!([text]), false),
        (json!([result, text]), false),
    ] {
        let mut params = sample();
        params["messages"] = json!([called, {"role": "user", "content": content}]);
        let answer = ask(&mut server, "sampling/createMessage", params).await;
        if is_right {
            assert_eq!(answer["result"]["model"], "m", "{answer}");
        } else {
            assert_eq!(answer["error"]["code"], -32602, "{content}: {answer}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_is_still_an_answer() {
    let client = plain().on_sample(|_| async { panic!("the model is on fire") });
    let (connection, mut server) = meet(&client, Revision::V2025_06_18).await;
    let answer = ask(&mut server, "sampling/createMessage", sample()).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(!connection.is_closed());
}

#[tokio::test(start_paused = true)]
async fn asks_run_beside_each_other_and_beside_the_calls() {
    let client = plain().on_sample(|ask| async move {
        tokio::time::sleep(Duration::from_secs(ask.max_tokens)).await;
        Ok(CreateMessageResult::new("m", "x"))
    });
    let (connection, mut server) = meet(&client, Revision::V2025_06_18).await;
    for (id, seconds) in [("slow", 30), ("fast", 10)] {
        let mut params = sample();
        params["maxTokens"] = seconds.into();
        let method = "sampling/createMessage";
        server
            .say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
    }
    tokio::join!(async { connection.ping().await.unwrap() }, async {
        server.expect(json!({"method": "ping"})).await;
        server.answer(json!({})).await;
    });
    server.expect(json!({"id": "fast"})).await;
    server.expect(json!({"id": "slow"})).await;
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_question_ends_its_handler_and_gets_no_answer() {
    struct Ended(Arc<AtomicUsize>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    let ended = Arc::new(AtomicUsize::new(0));
    let counter = ended.clone();
    let client = plain().on_sample(move |_| {
        let ended = Ended(counter.clone());
        async move {
            std::future::pending::<()>().await;
            drop(ended);
            Err(Refusal::Declined)
        }
    });
    let (connection, mut server) = meet(&client, Revision::V2025_06_18).await;
    let method = "sampling/createMessage";
    server
        .say(json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": sample()}))
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let params = json!({"requestId": 5, "reason": "never mind"});
    let method = "notifications/cancelled";
    server
        .say(json!({"jsonrpc": "2.0", "method": method, "params": params}))
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    drop(connection);
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn handlers_end_with_their_connection() {
    let running = Arc::new(());
    let held = running.clone();
    let client = plain().on_sample(move |_| {
        let held = held.clone();
        async move {
            std::future::pending::<()>().await;
            drop(held);
            Err(Refusal::Declined)
        }
    });
    let (connection, mut server) = meet(&client, Revision::V2025_06_18).await;
    let before = Arc::strong_count(&running);
    let method = "sampling/createMessage";
    server
        .say(json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": sample()}))
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(Arc::strong_count(&running), before + 1);
    connection.close().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(Arc::strong_count(&running), before);
}

#[tokio::test(start_paused = true)]
async fn a_server_cannot_open_questions_without_end() {
    let client = plain().on_sample(|_| std::future::pending());
    let (_connection, mut server) = meet(&client, Revision::V2025_06_18).await;
    for id in 0..65 {
        let method = "sampling/createMessage";
        server
            .say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": sample()}))
            .await;
    }
    server
        .expect(json!({"id": 64, "error": {"code": -32600}}))
        .await;
}

// If a user takes three minutes for a form, the call does not exceed its deadline of one minute.
#[tokio::test(start_paused = true)]
async fn the_time_a_person_takes_does_not_count_against_the_call() {
    let client = plain().on_form(|_| async {
        tokio::time::sleep(Duration::from_mins(3)).await;
        Ok(ElicitResult::decline())
    });
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let started = tokio::time::Instant::now();
    let (error, ()) = tokio::join!(
        async {
            connection
                .call("book", ())
                .deadline(Duration::from_mins(1))
                .await
                .unwrap_err()
        },
        async {
            server.expect(json!({"method": "tools/call"})).await;
            tokio::time::sleep(Duration::from_secs(50)).await;
            ask(&mut server, "elicitation/create", form()).await;
            server
                .expect(json!({"method": "notifications/cancelled"}))
                .await;
        }
    );
    assert!(matches!(error, CallError::Deadline { .. }), "{error:?}");
    assert_eq!(started.elapsed().as_secs(), 50 + 180 + 10);
}

// rule: O1
// roots: a client that declared `listChanged` announces changes, in revisions that have the
// notification.
#[tokio::test(start_paused = true)]
async fn changed_roots_are_announced_to_sessions() {
    for &revision in Revision::ALL {
        let roots = Roots::from(vec![Root::new("file:///a")]);
        let (connection, mut server) = meet(&plain().roots(roots.clone()), revision).await;
        roots.replace(vec![Root::new("file:///b")]);
        tokio::time::sleep(Duration::from_millis(1)).await;
        if revision.is_modern() {
            drop(connection);
            assert_eq!(server.hear().await, None);
            continue;
        }
        server
            .expect(json!({"method": "notifications/roots/list_changed"}))
            .await;
        assert_eq!(
            ask(&mut server, "roots/list", json!({})).await,
            json!({"result": {"roots": [{"uri": "file:///b"}]}})
        );
    }
}

// rule: J8
// stdio: a modern client MUST NOT write responses.
#[tokio::test(start_paused = true)]
async fn a_modern_server_that_sends_requests_gets_no_response() {
    let (connection, mut server) = meet(&answering(), Revision::LATEST).await;
    server
        .say(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
        .await;
    server
        .say(json!({"jsonrpc": "2.0", "id": 2, "method": "roots/list"}))
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(connection);
    assert_eq!(server.hear().await, None);
}

// elicitation, 2025-11-25: a call that is refused until a URL is visited is sent again after the visit.
#[tokio::test(start_paused = true)]
async fn a_server_that_ends_during_a_visit_ends_the_call() {
    let client = plain().on_url(|_| std::future::pending());
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let calling = async { connection.call("t", ()).await };
    let refusing = async {
        let asked = server.hear().await.expect("a call");
        let visit = json!({"mode": "url", "elicitationId": "1", "url": "https://a.example/", "message": "Sign in."});
        let error =
            json!({"code": -32042, "message": "sign in first", "data": {"elicitations": [visit]}});
        server
            .say(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
            .await;
        // The user is asked.
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(server);
    };
    let (called, ()) = tokio::join!(calling, refusing);
    let error = called.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error}");
}
