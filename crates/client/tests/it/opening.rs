//! How connections open.

use std::{future::IntoFuture, time::Duration};

use serde_json::json;
use turnbuckle_client::{
    ConnectError, DetectedRevision, Era, Refusal,
    protocol::{ElicitResult, Revision, Root},
};

use crate::script::{Server, everything, meet, plain};

#[tokio::test(start_paused = true)]
async fn every_revision_is_found_out() {
    for &revision in Revision::ALL {
        let (connection, _server) = meet(&plain(), revision).await;
        assert_eq!(connection.server().revision(), revision);
        assert_eq!(connection.server().name(), "script");
        assert_eq!(connection.server().version(), Some("1"));
        assert_eq!(
            connection.detected_revision(),
            DetectedRevision { revision }
        );
    }
}

// A client without handlers declares no capabilities, except for tasks in revisions that require this.
#[tokio::test(start_paused = true)]
async fn a_client_without_handlers_offers_nothing() {
    for &revision in Revision::ALL {
        let (mut server, end) = Server::new();
        let client = plain();
        let (connection, said) = tokio::join!(
            client.connect(end).into_future(),
            server.open_with(revision, everything())
        );
        connection.unwrap();
        let (capabilities, expected) = match revision {
            Revision::V2026_07_28 => (
                &said["io.modelcontextprotocol/clientCapabilities"],
                json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}),
            ),
            _ => (&said["capabilities"], json!({})),
        };
        assert_eq!(capabilities, &expected, "{revision}");
    }
}

fn capable() -> turnbuckle_client::Client {
    plain()
        .on_form(|_| async { Ok(ElicitResult::decline()) })
        .on_url(|_| async { Ok(ElicitResult::decline()) })
        .on_sample_with_tools(|_| async { Err(Refusal::Declined) })
        .roots(vec![Root::new("file:///a")])
}

// rule: E1, Q1, O1
#[tokio::test(start_paused = true)]
async fn what_is_offered_is_what_the_revision_can_say_of_it() {
    let plain_sampling = json!({"roots": {"listChanged": true}, "sampling": {}});
    let expected = [
        plain_sampling.clone(),
        plain_sampling,
        json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}}),
        json!({
            "roots": {"listChanged": true},
            "sampling": {"tools": {}},
            "elicitation": {"form": {}, "url": {}},
            "tasks": {
                "list": {},
                "cancel": {},
                "requests": {
                    "sampling": {"createMessage": {}},
                    "elicitation": {"create": {}},
                },
            },
        }),
        json!({
            "roots": {},
            "sampling": {"tools": {}},
            "elicitation": {"form": {}, "url": {}},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        }),
    ];
    for (revision, expected) in Revision::ALL.iter().copied().zip(expected) {
        let (mut server, end) = Server::new();
        let client = capable().only(revision);
        let connecting = tokio::spawn(client.connect(end).into_future());
        let params = server.hear().await.unwrap()["params"].clone();
        let offered = if revision.is_modern() {
            &params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        } else {
            &params["capabilities"]
        };
        assert_eq!(offered, &expected, "{revision}");
        connecting.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_without_tasks_says_nothing_of_them() {
    for &revision in Revision::ALL {
        let (mut server, end) = Server::new();
        let client = capable().without_tasks().only(revision);
        let connecting = tokio::spawn(client.connect(end).into_future());
        let said = server.hear().await.unwrap().to_string();
        assert!(said.contains("sampling"), "{revision}: {said}");
        assert!(!said.contains("tasks"), "{revision}: {said}");
        connecting.abort();
    }
}

// rule: V1, V4
// lifecycle: the client's `initialize` contains its name and its newest version; after the answer the
// client MUST send `initialized`.
#[tokio::test(start_paused = true)]
async fn the_handshake_names_the_client_and_its_newest_version() {
    let (mut server, end) = Server::new();
    let client = plain();
    let (connection, ()) = tokio::join!(
        client.connect(end).into_future(),
        server.play(
            r#"
            >> {"method": "server/discover", "params": {"_meta": {
                 "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                 "io.modelcontextprotocol/clientInfo": {"name": "app", "version": "1.0"},
                 "io.modelcontextprotocol/clientCapabilities": {}}}}
            << {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32601, "message": "?"}}
            >> {"method": "initialize", "params": {"protocolVersion": "2025-11-25",
                 "clientInfo": {"name": "app", "version": "1.0"}, "capabilities": {}}}
            << {"jsonrpc": "2.0", "id": "$id", "result": {"protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": {"name": "s", "version": "2"}, "instructions": "be kind"}}
            >> {"method": "notifications/initialized"}
            "#
        )
    );
    let connection = connection.unwrap();
    assert_eq!(connection.server().instructions(), Some("be kind"));
}

#[tokio::test(start_paused = true)]
async fn a_pinned_era_is_not_probed_for_the_other() {
    let (mut server, end) = Server::new();
    let client = plain().only_era(Era::Legacy);
    let (connection, ()) = tokio::join!(
        client.connect(end).into_future(),
        server.play(
            r#"
            >> {"method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
            << {"jsonrpc": "2.0", "id": "$id", "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "2"}}}
            >> {"method": "notifications/initialized"}
            "#
        )
    );
    assert_eq!(
        connection.unwrap().server().revision(),
        Revision::V2025_11_25
    );
}

#[tokio::test(start_paused = true)]
async fn a_remembered_verdict_saves_the_probe() {
    let (mut server, end) = Server::new();
    let client = plain();
    let detected: DetectedRevision = serde_json::from_str(r#"{"revision": "2025-06-18"}"#).unwrap();
    let (connection, ()) = tokio::join!(
        client.connect(end).known_revision(detected).into_future(),
        server.play(
            r#"
            >> {"method": "initialize"}
            << {"jsonrpc": "2.0", "id": "$id", "result": {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "2"}}}
            >> {"method": "notifications/initialized"}
            "#
        )
    );
    assert_eq!(connection.unwrap().detected_revision(), detected);
}

#[tokio::test(start_paused = true)]
async fn a_remembered_verdict_that_is_wrong_is_found_out() {
    let (mut server, end) = Server::new();
    let client = plain();
    let detected = DetectedRevision {
        revision: Revision::V2025_06_18,
    };
    let (connection, ()) = tokio::join!(
        client.connect(end).known_revision(detected).into_future(),
        server.play(
            r#"
            >> {"method": "initialize"}
            << {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32601, "message": "?", "data": {"supported": ["2026-07-28"]}}}
            >> {"method": "server/discover"}
            << {"jsonrpc": "2.0", "id": "$id", "result": {"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete"}}
            "#
        )
    );
    assert_eq!(
        connection.unwrap().server().revision(),
        Revision::V2026_07_28
    );
}

// rule: V3
// lifecycle: a client that does not support the version of the answer SHOULD disconnect.
#[tokio::test(start_paused = true)]
async fn an_unknown_version_ends_the_connection() {
    let (mut server, end) = Server::new();
    let client = plain();
    let (connection, ()) = tokio::join!(client.connect(end).into_future(), async {
        server
            .play(
                r#"
                >> {"method": "server/discover"}
                << {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32601, "message": "?"}}
                >> {"method": "initialize"}
                << {"jsonrpc": "2.0", "id": "$id", "result": {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "s", "version": "2"}}}
                "#,
            )
            .await;
        assert_eq!(server.hear().await, None);
    });
    let error = connection.unwrap_err();
    assert!(
        matches!(error, ConnectError::Unsupported { .. }),
        "{error:?}"
    );
}

// versioning: on −32022 the client chooses a common version and MUST NOT fall back to `initialize`.
#[tokio::test(start_paused = true)]
async fn a_modern_server_of_another_version_is_not_asked_to_shake_hands() {
    let (mut server, end) = Server::new();
    let client = plain();
    let (connection, ()) = tokio::join!(client.connect(end).into_future(), async {
        server
            .play(
                r#"
                >> {"method": "server/discover"}
                << {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32022, "message": "?", "data": {"supported": ["2099-01-01"], "requested": "2026-07-28"}}}
                "#,
            )
            .await;
        assert_eq!(server.hear().await, None);
    });
    let error = connection.unwrap_err();
    assert!(
        matches!(error, ConnectError::Unsupported { .. }),
        "{error:?}"
    );
    let said = std::error::Error::source(&error).unwrap().to_string();
    assert!(said.contains("2099-01-01"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn noise_before_the_answer_is_ignored() {
    let (mut server, end) = Server::new();
    let client = plain();
    let (connection, ()) = tokio::join!(client.connect(end).into_future(), async {
        server.babble("Starting server on stdio...").await;
        server.babble("[1, 2").await;
        server.babble("").await;
        server.babble("42").await;
        server
            .say(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hi"}}))
            .await;
        server.open(Revision::LATEST).await;
    });
    assert_eq!(connection.unwrap().server().revision(), Revision::LATEST);
}

#[tokio::test(start_paused = true)]
async fn an_error_without_an_id_is_an_answer_to_the_probe() {
    let (mut server, end) = Server::new();
    let client = plain().probe_timeout(Duration::from_hours(1));
    let (connection, ()) = tokio::join!(
        client.connect(end).into_future(),
        server.play(
            r#"
            >> {"method": "server/discover"}
            << {"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "?"}}
            >> {"method": "initialize"}
            << {"jsonrpc": "2.0", "id": "$id", "result": {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "s", "version": "2"}}}
            >> {"method": "notifications/initialized"}
            "#
        )
    );
    assert_eq!(
        connection.unwrap().server().revision(),
        Revision::V2024_11_05
    );
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_to_the_probe_does_not_disturb_the_handshake() {
    let (mut server, end) = Server::new();
    let client = plain();
    let (connection, ()) = tokio::join!(
        client.connect(end).into_future(),
        server.play(
            r#"
            >> {"method": "server/discover"}
            >> {"method": "initialize"}
            << {"jsonrpc": "2.0", "id": "$id-1", "error": {"code": -32601, "message": "?"}}
            << {"jsonrpc": "2.0", "id": "$id", "result": {"protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": {"name": "s", "version": "2"}}}
            >> {"method": "notifications/initialized"}
            "#
        )
    );
    assert_eq!(
        connection.unwrap().server().revision(),
        Revision::V2025_03_26
    );
}

#[tokio::test(start_paused = true)]
async fn streams_that_close_without_a_word_are_an_error_that_says_so() {
    let (server, end) = Server::new();
    drop(server);
    let error = plain().connect(end).await.unwrap_err();
    assert!(matches!(error, ConnectError::Ended { .. }), "{error:?}");
}

// cancellation: `initialize` MUST NOT be cancelled by clients.
// rule: PC2
#[tokio::test(start_paused = true)]
async fn silence_is_an_error_that_says_what_was_tried() {
    let (mut server, end) = Server::new();
    let client = plain();
    let (connection, heard) = tokio::join!(client.connect(end).into_future(), async {
        let mut heard = Vec::new();
        while let Some(message) = server.hear().await {
            heard.push(message["method"].as_str().unwrap().to_owned());
        }
        heard
    });
    let error = connection.unwrap_err();
    assert!(matches!(error, ConnectError::TimedOut { .. }), "{error:?}");
    let tried = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        tried.contains("`server/discover`") && tried.contains("`initialize`"),
        "{tried}"
    );
    // Neither request is cancelled on the wire.
    assert_eq!(heard, ["server/discover", "initialize"]);
}
