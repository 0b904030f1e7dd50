//! How often a server may ask, and the progress that the client reports about its answers.

use serde_json::{Value, json};
use turnbuckle_client::{
    AskRates, CallError, Client, Started,
    protocol::{CreateMessageResult, ElicitResult, Revision},
    transport::Rate,
};

use crate::script::{Server, complete, meet, plain};

fn limited() -> Client {
    let rates = AskRates::default()
        .with_sampling(Rate::new(2, 1))
        .with_elicitation(Rate::new(1, 1));
    plain()
        .on_form(|_| async { Ok(ElicitResult::decline()) })
        .on_sample(|_| async { Ok(CreateMessageResult::new("m", "hi")) })
        .ask_rates(rates)
}

fn sample() -> Value {
    let content = json!({"type": "text", "text": "hi"});
    json!({"messages": [{"role": "user", "content": content}], "maxTokens": 9})
}

fn form() -> Value {
    let schema = json!({"type": "object", "properties": {"seat": {"type": "string"}}});
    json!({"message": "Which seat?", "requestedSchema": schema})
}

// rule: Q5, E12
#[tokio::test(start_paused = true)]
async fn a_server_that_asks_too_often_is_refused() {
    let (_connection, mut server) = meet(&limited(), Revision::V2025_11_25).await;
    for (method, params, accepted) in [
        ("sampling/createMessage", sample(), 2),
        ("elicitation/create", form(), 1),
    ] {
        for number in 0..=accepted {
            let id = format!("{method} {number}");
            server
                .say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
                .await;
            let answer = server.expect(json!({"jsonrpc": "2.0", "id": id})).await;
            assert_eq!(
                answer.get("error").is_some(),
                number == accepted,
                "{answer}"
            );
            if number == accepted {
                assert_eq!(answer["error"]["code"], 429);
                let message = answer["error"]["message"].as_str().unwrap();
                assert!(message.contains("rate limit"), "{message}");
            }
        }
    }
}

// rule: Q5
#[tokio::test(start_paused = true)]
async fn a_modern_call_that_asks_too_often_fails() {
    let (connection, mut server) = meet(&limited(), Revision::LATEST).await;
    let asked = |count: usize| {
        let asks: serde_json::Map<_, _> = (0..count)
            .map(|number| {
                let ask = json!({"method": "sampling/createMessage", "params": sample()});
                (format!("q{number}"), ask)
            })
            .collect();
        json!({"resultType": "input_required", "inputRequests": asks})
    };
    let done = complete(json!({"content": []}), Revision::LATEST);
    let (result, ()) = tokio::join!(async { connection.call("t", ()).await }, async {
        server.expect(json!({"method": "tools/call"})).await;
        server.answer(asked(2)).await;
        server.expect(json!({"method": "tools/call"})).await;
        server.answer(done).await;
    });
    result.unwrap();
    let (result, ()) = tokio::join!(async { connection.call("t", ()).await }, async {
        server.expect(json!({"method": "tools/call"})).await;
        server.answer(asked(1)).await;
    });
    let error = result.unwrap_err();
    assert!(
        matches!(error, CallError::InputRequired { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("too often"), "{error}");
}

// rule: PC8
#[tokio::test(start_paused = true)]
async fn a_server_that_wants_to_know_hears_how_far_the_answer_is() {
    let client = plain().on_sample(|asked| async move {
        for tokens in [1.0, 2.0, 2.0, 5.0] {
            asked.progress.report(tokens, Some(5.0), Some("writing"));
        }
        Ok(CreateMessageResult::new(
            "m",
            asked.progress.is_wanted().to_string(),
        ))
    });
    for &revision in Revision::LEGACY {
        let (_connection, mut server) = meet(&client, revision).await;
        let mut params = sample();
        let ask = |params: &Value| json!({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": params});
        server.say(ask(&params)).await;
        let answer = server.expect(json!({"id": "q"})).await;
        assert_eq!(answer["result"]["content"]["text"], "false", "{answer}");
        params["_meta"] = json!({"progressToken": "p"});
        server.say(ask(&params)).await;
        for progress in [1, 2, 5] {
            let expected = json!({"progressToken": "p", "progress": progress, "total": 5});
            server
                .expect(json!({"method": "notifications/progress", "params": expected}))
                .await;
        }
        let answer = server.expect(json!({"id": "q"})).await;
        assert_eq!(answer["result"]["content"]["text"], "true", "{revision}");
    }
}

// rule: PC7
#[tokio::test(start_paused = true)]
async fn reports_about_an_answer_have_a_rate_and_the_last_is_sent() {
    let client = plain()
        .on_sample(|asked| async move {
            for tokens in 1..=1000 {
                asked.progress.report(f64::from(tokens), None, None);
            }
            Ok(CreateMessageResult::new("m", "hi"))
        })
        .ask_rates(AskRates::default().with_progress(Rate::new(3, 1)));
    let (_connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let mut params = sample();
    params["_meta"] = json!({"progressToken": "p"});
    server
        .say(json!({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": params}))
        .await;
    let mut reports = Vec::new();
    loop {
        let heard = server.hear().await.unwrap();
        if heard["id"] == "q" {
            break;
        }
        assert_eq!(heard["method"], "notifications/progress");
        reports.push(heard["params"]["progress"].as_f64().unwrap());
    }
    assert_eq!(reports, [1.0, 2.0, 3.0, 1000.0]);
}

// rule: PC5
#[tokio::test(start_paused = true)]
async fn progress_of_a_call_that_was_started_as_a_task_arrives() {
    let (mut server, end) = Server::new();
    let capabilities = json!({"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}});
    let client = plain();
    let opening = server.open_with(Revision::V2025_11_25, capabilities);
    let (connection, _) = tokio::join!(client.connect(end).into_future(), opening);
    let connection = connection.unwrap();
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let call = async {
        let started = connection.call("build", ()).task().progress(move |report| {
            let _ = sender.send(report.progress);
        });
        let Started::Task(mut task) = started.await.unwrap() else {
            panic!("it is a task");
        };
        task.result().await.unwrap()
    };
    let session = async {
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
        server.say(report(2)).await;
        server.say(report(3)).await;
        server
            .answer(json!({"content": [{"type": "text", "text": "built"}]}))
            .await;
    };
    let (output, ()) = tokio::join!(call, session);
    assert_eq!(output.text(), "built");
    let mut heard = Vec::new();
    while let Ok(progress) = seen.try_recv() {
        heard.push(progress);
    }
    assert_eq!(heard, [1.0, 2.0, 3.0]);
}
