//! Notifications of servers that belong to no call.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use turnbuckle_client::{
    ServerNotification,
    protocol::{Revision, method::ResourcesUpdated},
};

use crate::script::{meet, plain};

#[tokio::test(start_paused = true)]
async fn notifications_come_as_a_stream() {
    for &revision in Revision::ALL {
        let (connection, mut server) = meet(&plain(), revision).await;
        let mut news = connection.notifications();
        server
            .play(
                r#"
                << {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
                << {"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}
                << {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}
                << {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b", "title": "T"}}
                << {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "error", "data": {"x": 1}}}
                << {"jsonrpc": "2.0", "method": "acme/said", "params": {"n": 1}}
                "#,
            )
            .await;
        assert!(matches!(
            news.next().await,
            Some(ServerNotification::ToolsChanged)
        ));
        assert!(matches!(
            news.next().await,
            Some(ServerNotification::PromptsChanged)
        ));
        assert!(matches!(
            news.next().await,
            Some(ServerNotification::ResourcesChanged)
        ));
        let updated = news.next().await.unwrap();
        assert!(
            matches!(&updated, ServerNotification::ResourceUpdated { uri, .. } if &**uri == "a:b")
        );
        // Members beside the URI are kept.
        let said = updated.notification::<ResourcesUpdated>().unwrap();
        assert_eq!(said.other.get("title"), Some(&json!("T")));
        let Some(ServerNotification::Log(message)) = news.next().await else {
            panic!("a log message")
        };
        assert_eq!(message.data, json!({"x": 1}));
        let Some(ServerNotification::Other { method, params }) = news.next().await else {
            panic!("another")
        };
        assert_eq!((&*method, params.get()), ("acme/said", r#"{"n":1}"#));
        drop(server);
        assert!(news.next().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_listener_of_the_client_hears_everything_from_the_start() {
    let heard = Arc::new(Mutex::new(0));
    let counter = heard.clone();
    let client = plain().on_notification(move |_| *counter.lock().unwrap() += 1);
    let (connection, mut server) = meet(&client, Revision::V2025_06_18).await;
    server
        .say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        .await;
    let (pinged, ()) = tokio::join!(async { connection.ping().await }, async {
        server.hear().await;
        server.answer(json!({})).await;
    });
    pinged.unwrap();
    assert_eq!(*heard.lock().unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_panics_ends_the_connection_and_every_call_on_it() {
    let client = plain().on_notification(|_| panic!("listener"));
    let (connection, mut server) = meet(&client, Revision::V2025_06_18).await;
    let (result, ()) = tokio::join!(async { connection.call("t", ()).await }, async {
        server.hear().await;
        server
            .say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
            .await;
    });
    assert!(result.unwrap_err().to_string().contains("stopped serving"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_floods_has_to_wait_and_is_still_understood() {
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        json!({"jsonrpc": "2.0", "id": 99999, "result": {}}),
        json!("no message ".repeat(10)),
    ] {
        let (connection, mut server) = meet(&plain(), Revision::V2025_11_25).await;
        let begun = tokio::time::Instant::now();
        let mut said = 0;
        // The clock is paused while there is work to do: to a client that read everything at once,
        // messages would be sent until the limit.
        while begun.elapsed() < Duration::from_secs(2) && said < 50_000 {
            server.say(message.clone()).await;
            said += 1;
        }
        assert!(said < 15_000, "{said} times {message}");
        tokio::join!(async { connection.ping().await.unwrap() }, async {
            server.expect(json!({"method": "ping"})).await;
            server.answer(json!({})).await;
        });
    }
}
