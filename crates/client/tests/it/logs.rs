//! Log messages of servers, in sessions and for single requests.

use std::{
    future::IntoFuture,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use turnbuckle_client::{
    Client, Connection, Logged,
    protocol::{
        LoggingLevel::{Debug, Error, Info, Warning},
        Revision,
    },
};

use crate::script::{Server, complete, meet, plain};

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

fn said(data: &str) -> Value {
    let params = json!({"level": "error", "logger": "db", "data": data});
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
}

async fn meet_declaring(
    client: &Client,
    revision: Revision,
    capabilities: Value,
) -> (Connection, Server) {
    let (mut server, end) = Server::new();
    let (connection, _) = tokio::join!(
        client.connect(end).into_future(),
        server.open_with(revision, capabilities)
    );
    (connection.unwrap(), server)
}

// logging: the level is set for the session until 2025-11-25, and for each request since then.
#[tokio::test(start_paused = true)]
async fn a_client_asks_every_server_in_the_way_of_its_revision() {
    for &revision in Revision::ALL {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = heard.clone();
        let client = plain().log_level(Warning).on_log(move |server, log| {
            kept.lock().unwrap().push(format!("{server}: {}", log.data));
        });
        let (connection, mut server) = meet(&client, revision).await;
        let mut logs = connection.logs();
        if !revision.is_modern() {
            server
                .expect(json!({"method": "logging/setLevel", "params": {"level": "warning"}}))
                .await;
            server.answer(json!({})).await;
        }
        let (called, ()) = tokio::join!(connection.call("t", ()).into_future(), async {
            let heard = server.expect(json!({"method": "tools/call"})).await;
            let level = &heard["params"]["_meta"][LOG_LEVEL];
            assert_eq!(
                *level,
                if revision.is_modern() {
                    json!("warning")
                } else {
                    Value::Null
                }
            );
            server.say(said("full")).await;
            server
                .answer(complete(json!({"content": []}), revision))
                .await;
        });
        called.unwrap();
        let Some(Logged::Message(message)) = logs.next().await else {
            panic!("a message")
        };
        assert_eq!(
            (message.data.as_str(), message.logger.as_deref()),
            (Some("full"), Some("db"))
        );
        assert_eq!(*heard.lock().unwrap(), ["script: \"full\""]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_keeps_no_log_is_not_asked() {
    let client = plain().log_level(Debug);
    let (connection, mut server) =
        meet_declaring(&client, Revision::V2025_06_18, json!({"tools": {}})).await;
    let (called, ()) = tokio::join!(
        connection.call("t", ()).log_level(Debug).into_future(),
        async {
            server.expect(json!({"method": "tools/call"})).await;
            server.answer(json!({"content": []})).await;
        }
    );
    called.unwrap();
    assert!(connection.set_log_level(Debug).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_call_can_ask_for_more_than_the_connection() {
    let (modern, mut server) = meet(&plain().log_level(Error), Revision::LATEST).await;
    let mut levels = Vec::new();
    for level in [Some(Debug), None] {
        let mut call = modern.call("t", ());
        if let Some(level) = level {
            call = call.log_level(level);
        }
        let (called, heard) = tokio::join!(call.into_future(), async {
            let heard = server.hear().await.unwrap();
            server
                .answer(complete(json!({"content": []}), Revision::LATEST))
                .await;
            heard
        });
        called.unwrap();
        levels.push(heard["params"]["_meta"][LOG_LEVEL].clone());
    }
    assert_eq!(levels, ["debug", "error"]);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_asked_for_what_a_call_wants_once() {
    let (session, mut server) = meet(&plain(), Revision::V2025_11_25).await;
    for (level, is_asked) in [(Info, true), (Info, false), (Error, false), (Debug, true)] {
        let (called, ()) = tokio::join!(
            session.call("t", ()).log_level(level).into_future(),
            async {
                if is_asked {
                    server
                        .expect(json!({"method": "logging/setLevel", "params": {"level": level}}))
                        .await;
                    server.answer(json!({})).await;
                }
                let heard = server.expect(json!({"method": "tools/call"})).await;
                assert_eq!(heard["params"].get("_meta"), None);
                server.answer(json!({"content": []})).await;
            }
        );
        called.unwrap();
    }
}
