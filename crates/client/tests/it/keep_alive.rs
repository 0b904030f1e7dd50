//! Pings that the client sends by itself, and what happens when there is no answer.

use std::{future::IntoFuture, time::Duration};

use serde_json::json;
use turnbuckle_client::{CallError, KeepAlive, protocol::Revision};

use crate::script::{meet, plain};

fn pings() -> KeepAlive {
    KeepAlive::every(Duration::from_secs(30))
        .timeout(Duration::from_secs(5))
        .failures(2)
}

// rule: PG1
#[tokio::test(start_paused = true)]
async fn a_pipe_is_pinged_only_if_it_is_asked_for() {
    let (connection, mut server) = meet(&plain().keep_alive(pings()), Revision::V2025_11_25).await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    assert!(!connection.is_closed());
    drop(connection);
    assert_eq!(server.hear().await, None, "nothing was said");
}

// rule: PG1
#[tokio::test(start_paused = true)]
async fn pings_are_sent_in_the_way_of_the_revision() {
    for (revision, method) in [
        (Revision::V2024_11_05, "ping"),
        (Revision::V2025_11_25, "ping"),
        (Revision::LATEST, "server/discover"),
    ] {
        let client = plain().keep_alive(pings().on_pipes());
        let (connection, mut server) = meet(&client, revision).await;
        for _ in 0..3 {
            server.expect(json!({"method": method})).await;
            server.answer(json!({})).await;
        }
        assert!(!connection.is_closed(), "{revision}");
    }
}

// rule: PG2
#[tokio::test(start_paused = true)]
async fn a_pipe_whose_server_does_not_answer_pings_has_failed() {
    let client = plain().keep_alive(pings().on_pipes());
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let silence = async {
        server.expect(json!({"method": "tools/call"})).await;
        for _ in 0..2 {
            server.expect(json!({"method": "ping"})).await;
            server
                .expect(json!({"method": "notifications/cancelled"}))
                .await;
        }
        server
    };
    let call = async {
        connection
            .call("slow", ())
            .deadline(Duration::from_hours(1))
            .await
    };
    let (called, _server) = tokio::join!(call, silence);
    let error = called.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error:?}");
    assert!(
        error.to_string().contains("did not answer 2 pings"),
        "{error}"
    );
    assert!(connection.is_closed());
}

// rule: PG2
#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_while_it_waits_for_an_answer_is_noticed() {
    let client = plain()
        .keep_alive(pings().on_pipes())
        .on_form(|_| std::future::pending());
    let (connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let hanging = async {
        server.expect(json!({"method": "tools/call"})).await;
        let schema = json!({"type": "object", "properties": {}});
        let params = json!({"message": "Sure?", "requestedSchema": schema});
        let form =
            json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params});
        server.say(form).await;
        for _ in 0..2 {
            server.expect(json!({"method": "ping"})).await;
            server
                .expect(json!({"method": "notifications/cancelled"}))
                .await;
        }
        server
    };
    let call = connection.call("slow", ()).into_future();
    let within = Duration::from_mins(10);
    let joined = tokio::time::timeout(within, async { tokio::join!(call, hanging) }).await;
    let (called, _server) = joined.expect("it is noticed while the user is asked");
    let error = called.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error:?}");
}
