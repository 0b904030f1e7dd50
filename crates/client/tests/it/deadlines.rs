//! How long calls wait and how they are cancelled; no call waits forever.

use std::time::Duration;

use serde_json::json;
use turnbuckle_client::{CallError, Overdue, protocol::Revision};

use crate::script::{complete, meet, plain};

// rule: S4
#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_on_the_wire() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let task = tokio::spawn({
            let connection = connection.clone();
            async move { connection.call("slow", ()).await }
        });
        let id = server.expect(json!({"method": "tools/call"})).await["id"].clone();
        task.abort();
        let cancelled = server
            .expect(json!({"method": "notifications/cancelled"}))
            .await;
        assert_eq!(cancelled["params"]["requestId"], id);
        assert_eq!(cancelled.get("id"), None);
        // The late answer is ignored, and the connection still works.
        server.answer(json!({"content": []})).await;
        tokio::join!(async { connection.ping().await.unwrap() }, async {
            server.hear().await;
            server.answer(json!({})).await;
        });
    }
}

// rule: PC5
// progress: tokens MUST be unique across active requests.
#[tokio::test(start_paused = true)]
async fn each_call_that_listens_has_a_token_of_its_own() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let mut tokens = Vec::new();
        for _ in 0..20 {
            let connection = connection.clone();
            tokio::spawn(async move { connection.call("slow", ()).progress(|_| {}).await });
            let call = server.expect(json!({"method": "tools/call"})).await;
            let token = call["params"]["_meta"]["progressToken"].clone();
            assert!(token.is_string() || token.is_i64(), "{call}");
            assert!(!tokens.contains(&token), "{token} was given out twice");
            tokens.push(token);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_never_polled_sends_nothing() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    drop(connection.call("t", ()));
    drop(IntoFuture::into_future(connection.call("t", ())));
    drop(connection);
    assert_eq!(server.hear().await, None);
}

#[tokio::test(start_paused = true)]
async fn an_answered_call_is_not_cancelled() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let mut call = IntoFuture::into_future(connection.call("t", ()));
    // The call is sent, and then not polled again.
    tokio::select! { biased; _ = &mut call => unreachable!(), () = tokio::task::yield_now() => {} }
    server.expect(json!({"method": "tools/call"})).await;
    server.answer(json!({"content": []})).await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    drop(call);
    drop(connection);
    assert_eq!(server.hear().await, None);
}

// rule: V7, PC9
#[tokio::test(start_paused = true)]
async fn a_deadline_ends_a_call_and_says_so_to_the_server() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let started = tokio::time::Instant::now();
        let (result, ()) = tokio::join!(
            async {
                connection
                    .call("slow", ())
                    .deadline(Duration::from_secs(7))
                    .await
            },
            async {
                let id = server.expect(json!({"method": "tools/call"})).await["id"].clone();
                let expected =
                    json!({"method": "notifications/cancelled", "params": {"requestId": id}});
                server.expect(expected).await;
            }
        );
        assert_eq!(started.elapsed().as_secs(), 7);
        let error = result.unwrap_err();
        let limit = Duration::from_secs(7);
        assert!(
            matches!(error, CallError::Deadline { overdue: Overdue::Silent(at), .. } if at == limit),
            "{error:?}"
        );
    }
}

// rule: PC9
#[tokio::test(start_paused = true)]
async fn the_clients_deadline_holds_where_the_call_sets_none() {
    let client = plain().deadline(Duration::from_secs(3));
    let (connection, _server) = meet(&client, Revision::LATEST).await;
    let started = tokio::time::Instant::now();
    connection.call("slow", ()).await.unwrap_err();
    assert_eq!(started.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn progress_renews_the_deadline_and_reaches_the_listener() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let mut heard = Vec::new();
        let (result, ()) = tokio::join!(
            async {
                connection
                    .call("slow", ())
                    .deadline(Duration::from_secs(5))
                    .progress(|report| heard.push(report.progress))
                    .await
            },
            async {
                let call = server.expect(json!({"method": "tools/call"})).await;
                let token = &call["params"]["_meta"]["progressToken"];
                assert!(token.is_number());
                // The fourth report does not grow: it is dropped, and does not renew the deadline.
                for progress in [1, 2, 3, 3] {
                    tokio::time::sleep(Duration::from_secs(4)).await;
                    let params = json!({"progressToken": token, "progress": progress});
                    let method = "notifications/progress";
                    server
                        .say(json!({"jsonrpc": "2.0", "method": method, "params": params}))
                        .await;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
                server
                    .answer(complete(json!({"content": []}), revision))
                    .await;
            }
        );
        result.unwrap();
        assert_eq!(heard, [1.0, 2.0, 3.0]);
    }
}

// rule: V7, PC9
#[tokio::test(start_paused = true)]
async fn progress_does_not_renew_a_deadline_without_end() {
    let client = plain().longest_call(Duration::from_secs(20));
    let (connection, mut server) = meet(&client, Revision::LATEST).await;
    let started = tokio::time::Instant::now();
    let (result, ()) = tokio::join!(
        async {
            connection
                .call("slow", ())
                .deadline(Duration::from_secs(5))
                .progress(|_| ())
                .await
        },
        async {
            let call = server.expect(json!({"method": "tools/call"})).await;
            for progress in 0..10 {
                let token = &call["params"]["_meta"]["progressToken"];
                let params = json!({"progressToken": token, "progress": progress});
                let method = "notifications/progress";
                server
                    .say(json!({"jsonrpc": "2.0", "method": method, "params": params}))
                    .await;
                tokio::time::sleep(Duration::from_secs(3)).await;
            }
        }
    );
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            CallError::Deadline {
                overdue: Overdue::Total(_),
                ..
            }
        ),
        "{error:?}"
    );
    assert!(started.elapsed() >= Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_ends_every_call() {
    let (connection, mut server) = meet(&plain(), Revision::LATEST).await;
    let call = || async { connection.call("t", ()).await.unwrap_err() };
    let (one, two, ()) = tokio::join!(call(), call(), async {
        server.hear().await;
        server.hear().await;
        drop(server);
    });
    assert!(matches!(one, CallError::Closed { .. }), "{one:?}");
    assert!(matches!(two, CallError::Closed { .. }), "{two:?}");
    let after = connection.call("t", ()).await.unwrap_err();
    assert!(matches!(after, CallError::Closed { .. }), "{after:?}");
    assert!(connection.is_closed());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_does_not_outlast_the_deadline() {
    let (connection, _server) = meet(&plain(), Revision::LATEST).await;
    let big = json!({"text": "x".repeat(3 << 20)});
    let calls = (0..3).map(|_| connection.call("t", &big).deadline(Duration::from_secs(9)));
    for call in calls {
        let error = call.await.unwrap_err();
        assert!(matches!(error, CallError::Deadline { .. }), "{error:?}");
    }
}
