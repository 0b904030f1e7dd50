//! Calls whose questions are answered by hand: later, and, if possible, in another process.

use std::{future::IntoFuture, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;
use turnbuckle_client::{
    Answers, CallError, Client, Pending, Round, ToolOutput,
    protocol::{ElicitResult, InputResponses, Revision},
};

use crate::{
    asks_in_sessions::form,
    script::{Server, complete, meet, plain},
};

fn client() -> Client {
    plain().answering(Answers::new().forms_by_hand().roots_by_hand())
}

fn asks() -> Value {
    let mut params = form();
    params["mode"] = "form".into();
    json!({
        "seat": {"method": "elicitation/create", "params": params},
        "dirs": {"method": "roots/list"},
    })
}

fn seat(key: &str) -> InputResponses {
    let filled = ElicitResult::accept([("seat", "12A")]);
    [(key.to_owned(), filled.into())].into_iter().collect()
}

async fn ask(server: &mut Server, state: &str) {
    server
        .answer(
            json!({"resultType": "input_required", "inputRequests": asks(), "requestState": state}),
        )
        .await;
}

fn asked(round: Result<Round<ToolOutput>, CallError>) -> Pending<ToolOutput> {
    match round.unwrap() {
        Round::Asked(pending) => pending,
        Round::Done(output) => panic!("{output:?}"),
    }
}

fn done(round: Result<Round<ToolOutput>, CallError>) -> String {
    match round.unwrap() {
        Round::Done(output) => output.text(),
        Round::Asked(pending) => panic!("{pending:?}"),
    }
}

fn text(text: &str, revision: Revision) -> Value {
    complete(
        json!({"content": [{"type": "text", "text": text}]}),
        revision,
    )
}

// mrtr: the retry is the same request with the answers and the exact state, from any process.
#[tokio::test(start_paused = true)]
async fn a_modern_call_is_written_down_and_gone_on_with_elsewhere() {
    let revision = Revision::LATEST;
    let (first, mut server) = meet(&client(), revision).await;
    let call = first.call("book", json!({"row": 1.50}));
    let (round, mut request) = tokio::join!(first.by_hand(call).into_future(), async {
        let request = server.expect(json!({"method": "tools/call"})).await;
        ask(&mut server, "opaque \u{1F511}").await;
        request
    });
    let pending = asked(round);
    assert_eq!(pending.asks().keys().collect::<Vec<_>>(), ["seat", "dirs"]);
    assert!(pending.is_portable());
    let written = serde_json::to_string(&pending).unwrap();
    drop((first, server, pending));

    // Another process has its own connection, and only the stored text.
    let (second, mut server) = meet(&client(), revision).await;
    let pending: Pending<ToolOutput> = serde_json::from_str(&written).unwrap();
    let mut answers = seat("seat");
    answers.extend(seat("nobody asked"));
    let (round, ()) = tokio::join!(second.resume(pending, answers).into_future(), async {
        let mut retry = server.expect(json!({"method": "tools/call"})).await;
        let params = retry["params"].as_object_mut().unwrap();
        assert_eq!(params.remove("requestState").unwrap(), "opaque \u{1F511}");
        let given = params.remove("inputResponses").unwrap();
        assert_eq!(
            given,
            json!({"seat": {"action": "accept", "content": {"seat": "12A"}}})
        );
        request["params"].as_object_mut().unwrap().remove("_meta");
        params.remove("_meta");
        assert_eq!(retry["params"], request["params"]);
        // A question without an answer is asked again.
        let dirs = json!({"dirs": asks()["dirs"]});
        server
            .answer(json!({"resultType": "input_required", "inputRequests": dirs}))
            .await;
    });
    let pending = asked(round);
    assert_eq!((pending.rounds(), pending.asks().len()), (2, 1));
    let (round, ()) = tokio::join!(second.resume(pending, seat("dirs")).into_future(), async {
        let retry = server.expect(json!({"method": "tools/call"})).await;
        assert_eq!(retry["params"].get("requestState"), None);
        server.answer(text("booked", revision)).await;
    });
    assert_eq!(done(round), "booked");
}

#[tokio::test(start_paused = true)]
async fn prompts_and_resources_can_be_answered_by_hand_too() {
    let (connection, mut server) = meet(&client(), Revision::LATEST).await;
    let get = connection.by_hand(connection.get("plan", json!({"to": "x"})));
    let (round, ()) = tokio::join!(get.into_future(), async {
        server.hear().await;
        ask(&mut server, "s").await;
    });
    let Round::Asked(pending) = round.unwrap() else {
        panic!("it asks")
    };
    let (round, ()) = tokio::join!(
        connection.resume(pending, seat("seat")).into_future(),
        async {
            server
            .expect(json!({"method": "prompts/get", "params": {"name": "plan", "arguments": {"to": "x"}}}))
            .await;
            server
                .answer(json!({"resultType": "complete", "messages": []}))
                .await;
        }
    );
    assert!(matches!(round.unwrap(), Round::Done(_)));
    let read = connection.by_hand(connection.read("a:b"));
    let (round, ()) = tokio::join!(read.into_future(), async {
        server
            .expect(json!({"method": "resources/read", "params": {"uri": "a:b"}}))
            .await;
        server
            .answer(json!({"resultType": "complete", "contents": []}))
            .await;
    });
    assert!(matches!(round.unwrap(), Round::Done(_)));
}

// elicitation: clients SHOULD validate what they send.
#[tokio::test(start_paused = true)]
async fn a_form_that_is_filled_in_wrong_is_not_sent() {
    let (connection, mut server) = meet(&client(), Revision::LATEST).await;
    let (round, ()) = tokio::join!(
        connection.by_hand(connection.call("t", ())).into_future(),
        async {
            server.hear().await;
            ask(&mut server, "s").await;
        }
    );
    let wrong = ElicitResult::accept([("seat", 12)]);
    let answers = [("seat".to_owned(), wrong.into())].into_iter().collect();
    let error = connection.resume(asked(round), answers).await.unwrap_err();
    assert!(matches!(error, CallError::Unwritable { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_without_end_is_stopped() {
    let (connection, mut server) = meet(&client().max_rounds(2), Revision::LATEST).await;
    let mut round = {
        let call = connection.by_hand(connection.call("t", ()));
        let (round, ()) = tokio::join!(call.into_future(), async {
            server.hear().await;
            ask(&mut server, "1").await;
        });
        asked(round)
    };
    let resumed = connection.resume(round, seat("seat"));
    round = {
        let (round, ()) = tokio::join!(resumed.into_future(), async {
            server.hear().await;
            ask(&mut server, "2").await;
        });
        asked(round)
    };
    let error = connection.resume(round, seat("seat")).await.unwrap_err();
    assert!(
        matches!(error, CallError::TooManyRounds { rounds: 2, .. }),
        "{error}"
    );
}

/// Asks in the middle of a call of a session.
async fn ask_in_session(server: &mut Server, id: &str, method: &str) {
    let mut ask = json!({"jsonrpc": "2.0", "id": id, "method": method});
    if method == "elicitation/create" {
        ask["params"] = form();
    }
    server.say(ask).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_session_waits_for_answers_as_long_as_its_connection() {
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let (connection, mut server) = meet(&client(), revision).await;
        let mut seen = Vec::new();
        let call = connection
            .call("book", ())
            .progress(|report| seen.push(report.progress));
        let (round, id) = tokio::join!(connection.by_hand(call).into_future(), async {
            let call = server.expect(json!({"method": "tools/call"})).await;
            let params = json!({"progressToken": call["id"], "progress": 1});
            server
                .say(
                    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
                )
                .await;
            ask_in_session(&mut server, "a", "elicitation/create").await;
            ask_in_session(&mut server, "b", "roots/list").await;
            call["id"].clone()
        });
        let pending = asked(round);
        assert_eq!(seen, [1.0]);
        assert!(!pending.is_portable());
        assert_eq!(pending.asks().len(), 2);
        // The deadline of the call is paused while the user answers.
        tokio::time::advance(std::time::Duration::from_mins(30)).await;
        let form = pending.asks().keys().next().unwrap().clone();
        let pending =
            serde_json::from_str::<Pending<ToolOutput>>(&serde_json::to_string(&pending).unwrap())
                .unwrap();
        let (round, ()) = tokio::join!(
            connection.resume(pending, seat(&form)).into_future(),
            async {
                server
                .expect(json!({"id": "a", "result": {"action": "accept", "content": {"seat": "12A"}}}))
                .await;
            }
        );
        // The other question is still open.
        let pending = asked(round);
        assert_eq!((pending.asks().len(), pending.rounds()), (1, 2));
        let roots = json!({"roots": []});
        let key = pending.asks().keys().next().unwrap().clone();
        let answers = [(key, roots.clone().into())].into_iter().collect();
        let (round, ()) = tokio::join!(connection.resume(pending, answers).into_future(), async {
            server.expect(json!({"id": "b", "result": roots})).await;
            server
                .say(json!({"jsonrpc": "2.0", "id": id, "result": text("booked", revision)}))
                .await;
        });
        assert_eq!(done(round), "booked");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_session_cannot_be_gone_on_with_elsewhere() {
    let revision = Revision::V2025_06_18;
    let (connection, mut server) = meet(&client(), revision).await;
    let (round, ()) = tokio::join!(
        connection.by_hand(connection.call("t", ())).into_future(),
        async {
            server.hear().await;
            ask_in_session(&mut server, "a", "elicitation/create").await;
        }
    );
    let pending = asked(round);
    for elsewhere in [revision, Revision::LATEST] {
        let (other, _server) = meet(&client(), elsewhere).await;
        let error = other
            .resume(pending.clone(), seat("ask-1"))
            .await
            .unwrap_err();
        assert!(matches!(error, CallError::NotResumable { .. }), "{error}");
    }
    // Given up, it is over for the server, and cannot be resumed here either.
    connection.give_up(&pending);
    let mut heard = [server.hear().await.unwrap(), server.hear().await.unwrap()];
    heard.sort_by_key(|message| message.get("method").is_some());
    assert_eq!(heard[0]["result"]["action"], "cancel");
    assert_eq!(heard[1]["method"], "notifications/cancelled");
    let error = connection.resume(pending, seat("ask-1")).await.unwrap_err();
    assert!(matches!(error, CallError::NotResumable { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_application_hears_that_an_answer_has_no_use_any_more() {
    for is_withdrawn in [true, false] {
        let (connection, mut server) = meet(&client(), Revision::V2025_11_25).await;
        let call = connection.by_hand(connection.call("t", ()));
        let (round, id) = tokio::join!(call.into_future(), async {
            let id = server.hear().await.unwrap()["id"].clone();
            ask_in_session(&mut server, "a", "elicitation/create").await;
            id
        });
        let pending = asked(round);
        let early = timeout(Duration::from_mins(1), connection.withdrawn(&pending)).await;
        assert!(early.is_err(), "the question is open");
        let answer =
            json!({"jsonrpc": "2.0", "id": id, "result": text("done", Revision::V2025_11_25)});
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": "a"}});
        let first = if is_withdrawn {
            cancelled
        } else {
            answer.clone()
        };
        server.say(first).await;
        timeout(Duration::from_mins(1), connection.withdrawn(&pending))
            .await
            .expect("nothing is asked any more");
        let resumed = connection.resume(pending, InputResponses::default());
        let (round, ()) = tokio::join!(resumed.into_future(), async {
            if is_withdrawn {
                server.say(answer).await;
            }
        });
        assert_eq!(done(round), "done");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_ends_after_an_hour() {
    let (connection, mut server) = meet(&client(), Revision::V2025_06_18).await;
    let (round, ()) = tokio::join!(
        connection.by_hand(connection.call("t", ())).into_future(),
        async {
            server.hear().await;
            ask_in_session(&mut server, "a", "elicitation/create").await;
        }
    );
    let pending = asked(round);
    server
        .expect(json!({"method": "notifications/cancelled"}))
        .await;
    let error = connection.resume(pending, seat("ask-1")).await.unwrap_err();
    assert!(matches!(error, CallError::Deadline { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_by_hand_gives_it_up() {
    for revision in [Revision::V2025_06_18, Revision::LATEST] {
        let (connection, mut server) = meet(&client(), revision).await;
        let call = connection.by_hand(connection.call("t", ())).into_future();
        tokio::select! {
            biased;
            _ = call => panic!("nobody answers"),
            _ = server.expect(json!({"method": "tools/call"})) => {}
        }
        server
            .expect(json!({"method": "notifications/cancelled"}))
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_offered_by_hand_is_not_answered_without_one() {
    let (modern, mut server) = meet(&client(), Revision::LATEST).await;
    let (called, ()) = tokio::join!(modern.call("t", ()).into_future(), async {
        let call = server.hear().await.unwrap();
        let offered = &call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(offered["elicitation"], json!({"form": {}}));
        assert_eq!(offered["roots"], json!({}));
        ask(&mut server, "s").await;
    });
    let error = called.unwrap_err().to_string();
    assert!(error.contains("Connection::by_hand"), "{error}");
    let (session, mut server) = meet(&client(), Revision::V2025_06_18).await;
    let (called, ()) = tokio::join!(session.call("t", ()).into_future(), async {
        let call = server.hear().await.unwrap();
        ask_in_session(&mut server, "a", "elicitation/create").await;
        server
            .expect(json!({"id": "a", "result": {"action": "cancel"}}))
            .await;
        server
            .say(json!({"jsonrpc": "2.0", "id": call["id"], "result": {"content": []}}))
            .await;
    });
    called.unwrap();
}

// rule: E8
#[tokio::test(start_paused = true)]
async fn visits_that_a_server_wants_first_are_asked_by_hand_and_the_call_is_sent_again() {
    let client = plain().answering(Answers::new().urls_by_hand());
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let refuse = async {
        server.expect(json!({"method": "tools/call"})).await;
        let visit = json!({"mode": "url", "message": "Sign in", "url": "https://a.example/", "elicitationId": "v1"});
        let data = json!({"elicitations": [visit]});
        let error = json!({"code": -32042, "message": "sign in first", "data": data});
        server
            .say(json!({"jsonrpc": "2.0", "id": "$id", "error": error}))
            .await;
    };
    let call = connection.by_hand(connection.call("files", ()));
    let (round, ()) = tokio::join!(call.into_future(), refuse);
    let pending = asked(round);
    assert!(pending.is_portable());
    let url = serde_json::to_value(pending.asks()).unwrap()["v1"]["params"]["url"].clone();
    assert_eq!(url, "https://a.example/");
    let declined = [("v1".to_owned(), ElicitResult::decline().into())].into();
    let error = connection
        .resume(pending.clone(), declined)
        .await
        .unwrap_err();
    assert!(
        matches!(error, CallError::InputRequired { .. }),
        "{error:?}"
    );
    let made = [("v1".to_owned(), ElicitResult::accept_visit().into())].into();
    let again = async {
        server
            .expect(json!({"method": "tools/call", "params": {"name": "files"}}))
            .await;
        server.answer(text("a.txt", Revision::V2025_11_25)).await;
    };
    let (round, ()) = tokio::join!(connection.resume(pending, made).into_future(), again);
    assert_eq!(done(round), "a.txt");
}

// rule: Z5
#[tokio::test(start_paused = true)]
async fn what_a_task_asks_is_answered_by_hand_too() {
    let (connection, mut server) = meet_with_tasks().await;
    let task = |status: &str, more: Value| {
        let mut task = json!({
            "resultType": "complete", "taskId": "t1", "status": status, "ttlMs": null, "pollIntervalMs": 10,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        });
        task.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        task
    };
    let begin = async {
        server.expect(json!({"method": "tools/call"})).await;
        let mut created = task("working", json!({}));
        created["resultType"] = "task".into();
        server.answer(created).await;
        server.expect(json!({"method": "tasks/get"})).await;
        server
            .answer(task("input_required", json!({"inputRequests": asks()})))
            .await;
    };
    let call = connection.by_hand(connection.call("book", ()));
    let (round, ()) = tokio::join!(call.into_future(), begin);
    let pending = asked(round);
    assert!(pending.is_portable());
    let kept: Pending<ToolOutput> =
        serde_json::from_str(&serde_json::to_string(&pending).unwrap()).unwrap();
    let go_on = async {
        let update = server.expect(json!({"method": "tasks/update"})).await;
        assert_eq!(
            update["params"]["inputResponses"]["seat"]["action"],
            "accept"
        );
        server.answer(json!({"resultType": "complete"})).await;
        server.expect(json!({"method": "tasks/get"})).await;
        let result = json!({"content": [{"type": "text", "text": "12A"}]});
        server
            .answer(task("completed", json!({"result": result})))
            .await;
    };
    let (round, ()) = tokio::join!(connection.resume(kept, seat("seat")).into_future(), go_on);
    assert_eq!(done(round), "12A");
}

/// A connection to a modern server that creates tasks for calls.
async fn meet_with_tasks() -> (turnbuckle_client::Connection, Server) {
    let (mut server, end) = Server::new();
    let capabilities = json!({"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    let client = client();
    let opening = server.open_with(Revision::LATEST, capabilities);
    let (connection, _) = tokio::join!(client.connect(end).into_future(), opening);
    (connection.unwrap(), server)
}
