//! HTTP+SSE, the transport of 2024-11-05.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};
use turnbuckle_client::{CallError, ConnectError, ServerNotification, protocol::Revision};

use crate::{
    http_site::{Heard, Site, chain, initialized, plain, text},
    http_statuses::ERRORS,
};

/// The next message on the session's stream; `None` ends the stream.
type Say = Option<Value>;

/// A server with one session, whose stream names `endpoint`.
async fn old(endpoint: &'static str) -> Site {
    refusing(endpoint, 405).await
}

/// The same, but everything that is neither the stream nor a message is answered with this status.
async fn refusing(endpoint: &'static str, status: u16) -> Site {
    let (say, said) = mpsc::channel::<Say>(16);
    let said = Arc::new(Mutex::new(said));
    Site::start(move |heard, answer| {
        let (say, said) = (say.clone(), said.clone());
        Box::pin(async move {
            if heard.verb == "GET" && heard.path == "/mcp" {
                answer.events().await;
                answer
                    .chunk(&format!("event: endpoint\ndata: {endpoint}\n\n"))
                    .await;
                let mut said = said.lock().await;
                while let Some(Some(message)) = said.recv().await {
                    answer
                        .chunk(&format!("event: message\ndata: {message}\n\n"))
                        .await;
                }
                return answer.hang_up();
            }
            if heard.verb != "POST" || heard.path == "/mcp" {
                return answer.full(status, &[], "no").await;
            }
            answer.full(202, &[], "Accepted").await;
            if let Some(message) = reply(&heard) {
                say.send(message).await.unwrap();
            }
        })
    })
    .await
}

fn reply(heard: &Heard) -> Option<Say> {
    let result = match heard.method() {
        "initialize" => initialized(Revision::V2024_11_05),
        "tools/call" => text("hello"),
        "logging/setLevel" => {
            return Some(Some(
                json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}),
            ));
        }
        "resources/read" => return Some(None),
        _ => return None,
    };
    Some(Some(heard.result(result)))
}

#[tokio::test]
async fn one_that_is_pinned_to_the_oldest_revision_finds_its_stream_too() {
    let site = old("/messages?session=1").await;
    let client = plain().only(Revision::V2024_11_05);
    let server = client.connect(site.url()).await.unwrap();
    assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
    let first = ["POST initialize", "GET", "POST initialize"];
    assert_eq!(site.lines()[..3], first);
}

// rule: H2
#[tokio::test]
async fn a_server_without_post_is_found_by_its_stream() {
    let site = old("/messages?session=1").await;
    for round in 0..2 {
        let server = plain().connect(site.url()).await.unwrap();
        assert_eq!(server.server().revision(), Revision::V2024_11_05);
        assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
        let call = site.last("tools/call");
        assert_eq!(call.path, "/messages?session=1");
        assert_eq!(call.header("mcp-session-id"), None);
        // The transport is remembered.
        assert_eq!(site.count("POST server/discover"), 1, "round {round}");
        // The session ends with its stream, which the test ends here.
        server.read("a:b").await.unwrap_err();
    }
    let first = [
        "POST server/discover",
        "POST initialize",
        "GET",
        "POST initialize",
    ];
    assert_eq!(site.lines()[..4], first);
}

// rule: H12
#[tokio::test]
async fn whatever_status_a_post_has_a_stream_of_events_is_looked_for() {
    for status in ERRORS {
        let site = refusing("/messages", status).await;
        let server = plain().connect(site.url()).await;
        let server = server.unwrap_or_else(|error| panic!("{status}: {}", chain(&error)));
        assert_eq!(
            server.call("t", ()).await.unwrap().text(),
            "hello",
            "{status}"
        );
    }
}

#[tokio::test]
async fn modern_revisions_are_not_spoken_over_a_stream_of_events() {
    let site = old("/messages").await;
    plain().connect(site.url()).await.unwrap();
    let client = plain().only(Revision::LATEST);
    let error = client.connect(site.url()).await.unwrap_err();
    assert!(
        matches!(error, ConnectError::Unsupported { .. }),
        "{error:?}"
    );
    assert_eq!(site.last("server/discover").path, "/mcp");
}

#[tokio::test]
async fn the_end_of_the_stream_ends_what_waits() {
    let site = old("messages").await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = server.read("a:b").await.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error:?}");
    assert!(error.to_string().contains("stream"), "{error}");
    server.closed().await;
    assert!(server.is_closed());
    let error = server.call("t", ()).await.unwrap_err();
    assert!(error.to_string().contains("stream"), "{error}");
}

#[tokio::test]
async fn news_come_by_the_same_stream() {
    let site = old("/messages").await;
    let server = plain().connect(site.url()).await.unwrap();
    let mut news = server.notifications();
    let level = turnbuckle_client::protocol::LoggingLevel::Info;
    let (_, first) = tokio::join!(
        tokio::time::timeout(
            std::time::Duration::from_millis(200),
            server.set_log_level(level)
        ),
        news.next(),
    );
    assert!(matches!(first, Some(ServerNotification::PromptsChanged)));
}

#[tokio::test]
async fn an_endpoint_of_another_origin_gets_nothing() {
    let other = Site::start(|_, answer| Box::pin(async move { answer.status(202).await })).await;
    let endpoint: &'static str = format!("http://{}/messages", other.address).leak();
    let site = old(endpoint).await;
    let error = plain().connect(site.url()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Refused { .. }), "{error:?}");
    assert!(other.heard().is_empty());
}
