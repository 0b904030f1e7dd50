//! Sessions that the server does not know any more, and streams that it has closed.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::sync::{Notify, oneshot};
use turnbuckle_client::{CallError, Refusal, ServerNotification, protocol::Revision};

use crate::http_site::{Answer, Heard, Site, initialized, plain};

/// A server with sessions, which answers for its first session that it does not know it.
async fn restarted(status: u16, body: &'static str) -> Site {
    let sessions = AtomicUsize::new(0);
    Site::start(move |heard, answer| {
        let number = match heard.method() {
            "initialize" => sessions.fetch_add(1, Ordering::Relaxed) + 1,
            _ => 0,
        };
        Box::pin(async move {
            let is_old = heard.header("mcp-session-id") == Some("s1");
            match heard.line().as_str() {
                "POST server/discover" => answer.status(404).await,
                "POST initialize" => {
                    let body = heard.result(initialized(Revision::V2025_06_18)).to_string();
                    let id = format!("s{number}");
                    let kind = ("content-type", "application/json");
                    answer
                        .full(200, &[kind, ("mcp-session-id", &id)], &body)
                        .await;
                }
                "POST notifications/initialized" => answer.status(202).await,
                "GET" => answer.status(405).await,
                "DELETE" => answer.status(200).await,
                _ if is_old => {
                    let id = heard.body["id"].to_string();
                    answer.full(status, &[], &body.replace("THIS", &id)).await;
                }
                _ => {
                    let result = json!({"contents": []});
                    answer.json(200, &heard.result(result)).await;
                }
            }
        })
    })
    .await
}

#[tokio::test]
async fn a_server_that_says_otherwise_that_a_session_is_over_gets_another() {
    for (status, body) in [
        (404, ""),
        (410, "Gone"),
        (
            400,
            r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#,
        ),
        (
            400,
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Bad Request: Server not initialized"},"id":"server-error"}"#,
        ),
        (400, "Invalid session ID"),
    ] {
        let site = restarted(status, body).await;
        let server = plain().connect(site.url()).await.unwrap();
        server
            .read("a:b")
            .await
            .unwrap_or_else(|error| panic!("{status} {body}: {error}"));
        assert_eq!(site.count("POST initialize"), 2, "{status} {body}");
        assert_eq!(
            site.last("resources/read").header("mcp-session-id"),
            Some("s2")
        );
    }
}

#[tokio::test]
async fn a_refusal_of_the_request_itself_says_nothing_about_the_session() {
    for body in [
        r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"no such session"},"id":THIS}"#,
        "the arguments are wrong",
    ] {
        let site = restarted(400, body).await;
        let server = plain().connect(site.url()).await.unwrap();
        server.read("a:b").await.unwrap_err();
        assert_eq!(site.count("POST initialize"), 1, "{body}");
    }
}

#[tokio::test]
async fn fifty_calls_that_find_their_session_gone_open_one_and_all_succeed() {
    let site = restarted(404, "").await;
    let server = plain().connect(site.url()).await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let server = server.clone();
        calls.spawn(async move { server.read("a:b").await.map(drop) });
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap().unwrap();
    }
    assert_eq!(site.count("POST initialize"), 2);
}

/// Opens the session with this number.
async fn open(heard: &Heard, answer: &mut Answer, number: usize) {
    let body = heard.result(initialized(Revision::V2025_06_18)).to_string();
    let id = format!("s{number}");
    let kind = ("content-type", "application/json");
    answer
        .full(200, &[kind, ("mcp-session-id", &id)], &body)
        .await;
}

#[tokio::test]
async fn a_caller_who_leaves_while_a_session_is_opened_leaves_no_half_open_one() {
    let (opened, greeted) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let site = Site::start(move |heard, answer| {
        let number = match heard.method() {
            "initialize" => opened.fetch_add(1, Ordering::Relaxed) + 1,
            _ => 0,
        };
        let greeted = greeted.clone();
        Box::pin(async move {
            match heard.line().as_str() {
                "POST server/discover" => answer.status(404).await,
                "POST initialize" => open(&heard, answer, number).await,
                // The server never receives the end of the second session's handshake.
                "POST notifications/initialized" => match greeted.fetch_add(1, Ordering::Relaxed) {
                    1 => answer.hung_up().await,
                    _ => answer.status(202).await,
                },
                "GET" => answer.status(405).await,
                _ if heard.header("mcp-session-id") == Some("s3") => {
                    let result = json!({"contents": []});
                    answer.json(200, &heard.result(result)).await;
                }
                _ => answer.status(404).await,
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let impatient = server.read("a:b").deadline(Duration::from_millis(200));
    let error = impatient.await.unwrap_err();
    assert!(matches!(error, CallError::Deadline { .. }), "{error:?}");
    server.read("a:b").await.unwrap();
    let sessions: Vec<_> = site
        .heard()
        .iter()
        .filter(|heard| heard.method() == "resources/read")
        .map(|heard| heard.header("mcp-session-id").unwrap().to_owned())
        .collect();
    assert_eq!(sessions, ["s1", "s1", "s3"]);
}

/// Without it a server sends no messages of its own.
#[tokio::test]
async fn the_end_of_a_handshake_that_was_lost_is_sent_again() {
    let greeted = Arc::new(AtomicUsize::new(0));
    let site = Site::start(move |heard, answer| {
        let greeted = greeted.clone();
        Box::pin(async move {
            match heard.line().as_str() {
                "POST server/discover" => answer.status(404).await,
                "POST initialize" => open(&heard, answer, 1).await,
                "POST notifications/initialized" => match greeted.fetch_add(1, Ordering::Relaxed) {
                    0 => answer.hang_up(),
                    _ => answer.status(202).await,
                },
                "GET" => answer.status(405).await,
                _ => {
                    let result = json!({"contents": []});
                    answer.json(200, &heard.result(result)).await;
                }
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    server.read("a:b").await.unwrap();
    assert_eq!(site.count("POST notifications/initialized"), 2);
    assert_eq!(site.count("POST initialize"), 1);
}

/// Opening another session may take long, and a user must not answer in vain meanwhile.
#[tokio::test]
async fn a_question_ends_when_its_session_is_found_over() {
    let opened = AtomicUsize::new(0);
    let site = Site::start(move |heard, answer| {
        let number = match heard.method() {
            "initialize" => opened.fetch_add(1, Ordering::Relaxed) + 1,
            _ => 0,
        };
        Box::pin(async move {
            match heard.line().as_str() {
                "POST initialize" if number > 1 => answer.hung_up().await,
                "POST initialize" => open(&heard, answer, number).await,
                "POST notifications/initialized" => answer.status(202).await,
                "GET" => answer.status(405).await,
                "POST tools/call" => {
                    answer.events().await;
                    let schema = json!({"type": "object", "properties": {}});
                    let params = json!({"message": "sure?", "requestedSchema": schema});
                    let question = json!({
                        "jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params
                    });
                    answer.event(&question).await;
                    answer.hung_up().await;
                }
                _ => answer.status(404).await,
            }
        })
    })
    .await;
    let (held, is_dropped) = oneshot::channel::<()>();
    let (held, asked) = (Mutex::new(Some(held)), Arc::new(Notify::new()));
    let is_asked = asked.clone();
    let client = plain().on_form(move |_| {
        let (held, asked) = (held.lock().unwrap().take(), asked.clone());
        async move {
            asked.notify_one();
            // Dropped together with the question.
            std::future::pending::<()>().await;
            drop(held);
            Err(Refusal::Declined)
        }
    });
    let server = client.connect(site.url()).await.unwrap();
    let asking = server.clone();
    tokio::spawn(async move { asking.call("ask", json!({})).await });
    is_asked.notified().await;
    tokio::spawn(async move { server.read("a:b").await });
    let dropped = tokio::time::timeout(Duration::from_secs(10), is_dropped).await;
    assert!(dropped.expect("the question ends").is_err());
    site.wait_for("POST initialize", 2).await;
}

#[tokio::test]
async fn a_stream_that_breaks_and_is_gone_means_another_session() {
    for status in [404, 410] {
        let opened = AtomicUsize::new(0);
        let streams = Arc::new(AtomicUsize::new(0));
        let site = Site::start(move |heard, answer| {
            let number = match heard.method() {
                "initialize" => opened.fetch_add(1, Ordering::Relaxed) + 1,
                _ => 0,
            };
            let streams = streams.clone();
            Box::pin(async move {
                let session = heard.header("mcp-session-id").map(str::to_owned);
                match (heard.line().as_str(), session.as_deref()) {
                    ("POST server/discover", _) => answer.status(404).await,
                    ("POST initialize", _) => open(&heard, answer, number).await,
                    ("GET", Some("s1")) if streams.fetch_add(1, Ordering::Relaxed) > 0 => {
                        answer.status(status).await;
                    }
                    ("GET", session) => {
                        answer.events().await;
                        let changed =
                            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                        answer
                            .chunk(&format!("retry: 10\ndata: {changed}\n\n"))
                            .await;
                        if session == Some("s2") {
                            answer.hung_up().await;
                        }
                    }
                    _ => answer.status(202).await,
                }
            })
        })
        .await;
        let server = plain().connect(site.url()).await.unwrap();
        let mut news = server.notifications();
        // No call is made: reading the stream is enough to detect the end.
        assert!(matches!(
            news.next().await,
            Some(ServerNotification::ToolsChanged)
        ));
        assert!(matches!(
            news.next().await,
            Some(ServerNotification::ToolsChanged)
        ));
        assert_eq!(site.count("POST initialize"), 2);
        assert_eq!(site.count("POST notifications/initialized"), 2);
    }
}

#[tokio::test]
async fn a_stream_that_is_refused_for_a_while_is_come_back_to() {
    let streams = Arc::new(AtomicUsize::new(0));
    let site = Site::start(move |heard, answer| {
        let streams = streams.clone();
        Box::pin(async move {
            match heard.line().as_str() {
                "POST server/discover" => answer.status(404).await,
                "POST initialize" => open(&heard, answer, 1).await,
                "GET" => {
                    let number = streams.fetch_add(1, Ordering::Relaxed);
                    if number == 1 {
                        return answer.status(429).await;
                    }
                    if number == 2 {
                        return answer.full(400, &[], "stream already exists").await;
                    }
                    answer.events().await;
                    let changed =
                        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                    answer
                        .chunk(&format!("retry: 10\ndata: {changed}\n\n"))
                        .await;
                    if number > 2 {
                        answer.hung_up().await;
                    }
                }
                _ => answer.status(202).await,
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let mut news = server.notifications();
    assert!(matches!(
        news.next().await,
        Some(ServerNotification::ToolsChanged)
    ));
    assert!(matches!(
        news.next().await,
        Some(ServerNotification::ToolsChanged)
    ));
    assert_eq!(site.count("GET"), 4);
    assert_eq!(site.count("POST initialize"), 1);
}

#[tokio::test]
async fn a_call_whose_stream_cannot_be_resumed_in_a_session_that_is_gone_is_repeated_if_safe() {
    let opened = AtomicUsize::new(0);
    let site = Site::start(move |heard, answer| {
        let number = match heard.method() {
            "initialize" => opened.fetch_add(1, Ordering::Relaxed) + 1,
            _ => 0,
        };
        Box::pin(async move {
            let is_first = heard.header("mcp-session-id") == Some("s1");
            match heard.line().as_str() {
                "POST server/discover" => answer.status(404).await,
                "POST initialize" => open(&heard, answer, number).await,
                "POST resources/read" if is_first => {
                    answer.events().await;
                    answer.chunk("id: 7\nretry: 10\ndata:\n\n").await;
                }
                "POST resources/read" => {
                    let result = json!({"contents": []});
                    answer.json(200, &heard.result(result)).await;
                }
                "GET" if heard.header("last-event-id").is_some() => answer.status(404).await,
                "GET" => answer.status(405).await,
                _ => answer.status(202).await,
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    server.read("a:b").await.unwrap();
    assert_eq!(site.count("POST resources/read"), 2);
    assert_eq!(site.count("POST initialize"), 2);
}
