//! Questions of modern servers: they come in the result of a call, which is then sent again with the
//! answers.

use std::{future::IntoFuture, time::Duration};

use serde_json::{Value, json};
use turnbuckle_client::{
    CallError,
    protocol::{ElicitResult, Revision},
};

use crate::{
    asks_in_sessions::{answering, form, sample},
    script::{meet, plain},
};

fn asks() -> Value {
    json!({
        "seat": {"method": "elicitation/create", "params": {"mode": "form",
            "message": form()["message"], "requestedSchema": form()["requestedSchema"]}},
        "pay": {"method": "elicitation/create", "params": {"mode": "url",
            "message": "Pay", "url": "https://example.com/pay"}},
        "say": {"method": "sampling/createMessage", "params": sample()},
        "dirs": {"method": "roots/list"},
    })
}

// rule: I3
// mrtr: a retry is the same request with a new id, the answers under the same keys, and the exact
// state.
#[tokio::test(start_paused = true)]
async fn modern_servers_ask_by_the_result_of_the_call() {
    for method in ["tools/call", "prompts/get", "resources/read"] {
        let (connection, mut server) = meet(&answering(), Revision::LATEST).await;
        let call = async {
            match method {
                "tools/call" => connection.call("book", json!({"row": 1})).await.map(drop),
                "prompts/get" => connection.get("book", json!({"row": "1"})).await.map(drop),
                _ => connection.read("seat://1").await.map(drop),
            }
        };
        let (result, ()) = tokio::join!(call, async {
            let mut first = server.expect(json!({"method": method})).await;
            server
                .answer(json!({
                    "resultType": "input_required",
                    "inputRequests": asks(),
                    "requestState": "opaque \u{1F511} \\\"state",
                }))
                .await;
            let mut second = server.expect(json!({"method": method})).await;
            assert_ne!(second["id"], first["id"]);
            let params = second["params"].as_object_mut().unwrap();
            assert_eq!(
                params.remove("requestState").unwrap(),
                "opaque \u{1F511} \\\"state"
            );
            assert_eq!(
                params.remove("inputResponses").unwrap(),
                json!({
                    "seat": {"action": "accept", "content": {"seat": "12A"}},
                    "pay": {"action": "accept"},
                    "say": {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "parrot"},
                    "dirs": {"roots": [{"uri": "file:///home", "name": "home"}]},
                })
            );
            assert_eq!(second["params"], first["params"].take());
            // mrtr: if the question has no state, the retry must have no state.
            let seat = json!({"seat": asks()["seat"]});
            server
                .answer(json!({"resultType": "input_required", "inputRequests": seat}))
                .await;
            let third = server.expect(json!({"method": method})).await;
            assert_eq!(third["params"].get("requestState"), None);
            assert_eq!(
                third["params"]["inputResponses"].as_object().unwrap().len(),
                1
            );
            let done =
                json!({"resultType": "complete", "content": [], "messages": [], "contents": []});
            server.answer(done).await;
        });
        result.unwrap();
    }
}

// rule: I3
#[tokio::test(start_paused = true)]
async fn a_state_alone_is_sent_back_after_a_pause() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let (result, ()) = tokio::join!(async { connection.call("t", ()).await }, async {
        server.hear().await;
        server
            .answer(json!({"resultType": "input_required", "requestState": "later"}))
            .await;
        let second = server
            .expect(json!({"params": {"requestState": "later"}}))
            .await;
        assert_eq!(second["params"].get("inputResponses"), None);
        server
            .answer(json!({"resultType": "complete", "content": []}))
            .await;
    });
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_is_an_error_with_the_question() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let (error, ()) = tokio::join!(
        async { connection.call("t", ()).await.unwrap_err() },
        async {
            server.hear().await;
            let asked = json!({"resultType": "input_required", "inputRequests": asks(), "requestState": "s"});
            server.answer(asked).await;
        }
    );
    assert_eq!(
        error.to_string(),
        "server `script` wants input for `tools/call`: `seat`: this client does not offer \
         `elicitation/create`"
    );
    let CallError::InputRequired { asked, .. } = error else {
        panic!("it asks")
    };
    assert_eq!(asked.request_state.as_deref(), Some("s"));
    // mrtr: a client that does not answer does not retry.
    drop(connection);
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_too_many_questions_gets_no_answer() {
    let asked = |count: usize| -> Value {
        let ask = |number| (format!("dirs-{number}"), json!({"method": "roots/list"}));
        let requests: serde_json::Map<_, _> = (0..count).map(ask).collect();
        json!({"resultType": "input_required", "inputRequests": requests})
    };
    let (connection, mut server) = meet(&answering(), Revision::LATEST).await;
    let (error, ()) = tokio::join!(
        async { connection.call("t", ()).await.unwrap_err() },
        async {
            server.hear().await;
            server.answer(asked(64)).await;
            let all = server.expect(json!({"method": "tools/call"})).await;
            assert_eq!(
                all["params"]["inputResponses"].as_object().unwrap().len(),
                64
            );
            server.answer(asked(65)).await;
        }
    );
    assert!(
        error.to_string().contains("65 input requests at once"),
        "{error}"
    );
    drop(connection);
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_in_a_circle_is_stopped() {
    let (connection, mut server) = meet(&answering(), Revision::LATEST).await;
    let (error, ()) = tokio::join!(
        async { connection.call("t", ()).await.unwrap_err() },
        async {
            for _ in 0..32 {
                server.expect(json!({"method": "tools/call"})).await;
                let dirs = json!({"dirs": {"method": "roots/list"}});
                server
                    .answer(json!({"resultType": "input_required", "inputRequests": dirs}))
                    .await;
            }
        }
    );
    assert!(
        matches!(error, CallError::TooManyRounds { rounds: 32, .. }),
        "{error:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_where_none_may_be_asked_is_not_believed() {
    let (connection, mut server) = meet(&answering(), Revision::LATEST).await;
    let (error, ()) = tokio::join!(async { connection.tools().await.unwrap_err() }, async {
        server.hear().await;
        let asked = json!({"resultType": "input_required", "inputRequests": asks(), "tools": []});
        server.answer(asked).await;
    });
    assert!(matches!(error, CallError::Malformed { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn the_round_trips_of_a_person_do_not_count_in_the_modern_era_either() {
    let client = plain().on_form(|_| async {
        tokio::time::sleep(Duration::from_mins(10)).await;
        Ok(ElicitResult::decline())
    });
    let (connection, mut server) = meet(&client, Revision::LATEST).await;
    let (result, ()) = tokio::join!(connection.call("t", ()).into_future(), async {
        server.hear().await;
        let seat = json!({"seat": asks()["seat"]});
        server
            .answer(json!({"resultType": "input_required", "inputRequests": seat}))
            .await;
        server.hear().await;
        server
            .answer(json!({"resultType": "complete", "content": []}))
            .await;
    });
    result.unwrap();
}
