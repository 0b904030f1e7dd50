//! Sessions of Streamable HTTP, 2025-03-26 to 2025-11-25.

use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::time::Instant;
use turnbuckle_client::{CallError, KeepAlive, ServerNotification, protocol::Revision};

use crate::http_site::{Answer, Handling, Heard, Site, initialized, plain, text};

/// A server with sessions. `handler` answers everything after the handshake.
pub(crate) async fn legacy<H>(revision: Revision, handler: H) -> Site
where
    H: for<'a> Fn(Heard, &'a mut Answer) -> Handling<'a> + Send + Sync + 'static,
{
    let sessions = Arc::new(AtomicUsize::new(0));
    Site::start(move |heard, answer| match heard.method() {
        "server/discover" => Box::pin(async move { answer.status(404).await }),
        "initialize" => {
            let number = sessions.fetch_add(1, Ordering::Relaxed) + 1;
            Box::pin(async move {
                let body = heard.result(initialized(revision)).to_string();
                let id = format!("session-{number}");
                let kind = ("content-type", "application/json");
                answer
                    .full(200, &[kind, ("mcp-session-id", &id)], &body)
                    .await;
            })
        }
        "notifications/initialized" => Box::pin(async move { answer.status(202).await }),
        _ => handler(heard, answer),
    })
    .await
}

/// Answers calls with text, and everything else as most servers do.
async fn usual(heard: Heard, answer: &mut Answer) {
    match heard.line().as_str() {
        "GET" => answer.status(405).await,
        "DELETE" => answer.status(200).await,
        "POST tools/call" => answer.json(200, &heard.result(text("hello"))).await,
        "POST tools/list" => {
            let safe = json!({"name": "safe", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
            let unsafe_one = json!({"name": "unsafe", "inputSchema": {"type": "object"}});
            let result = json!({"tools": [safe, unsafe_one]});
            answer.json(200, &heard.result(result)).await;
        }
        _ => answer.status(202).await,
    }
}

// rule: H3, H10, H11
#[tokio::test]
async fn session_and_version_go_with_everything_after_the_handshake() {
    for (revision, version) in [
        (Revision::V2025_03_26, None),
        (Revision::V2025_06_18, Some("2025-06-18")),
        (Revision::V2025_11_25, Some("2025-11-25")),
    ] {
        let site = legacy(revision, |heard, answer| Box::pin(usual(heard, answer))).await;
        let server = plain().connect(site.url()).await.unwrap();
        assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
        site.wait_for("GET", 1).await;
        server.close().await;
        assert_eq!(site.lines().last().map(String::as_str), Some("DELETE"));
        for heard in &site.heard()[2..] {
            assert_eq!(
                heard.header("mcp-session-id"),
                Some("session-1"),
                "{}",
                heard.line()
            );
            assert_eq!(
                heard.header("mcp-protocol-version"),
                version,
                "{}",
                heard.line()
            );
            assert_eq!(heard.header("mcp-method"), None);
        }
        // transports: each POST accepts both kinds of answers, and contains one message.
        for heard in site.heard().iter().filter(|heard| heard.verb == "POST") {
            let accepted = heard.header("accept");
            assert_eq!(accepted, Some("application/json, text/event-stream"));
            assert!(heard.body.is_object(), "{}", heard.line());
        }
        // transports: a GET accepts only event streams.
        let get = site
            .heard()
            .into_iter()
            .find(|heard| heard.verb == "GET")
            .unwrap();
        assert_eq!(get.header("accept"), Some("text/event-stream"));
    }
}

#[tokio::test]
async fn what_the_server_asks_on_a_stream_is_answered_by_a_post() {
    for by_get in [false, true] {
        let site = legacy(Revision::V2025_06_18, move |heard, answer| {
            Box::pin(async move {
                let ask = json!({"jsonrpc": "2.0", "id": "ask", "method": "roots/list"});
                match heard.line().as_str() {
                    "GET" if by_get => {
                        answer.events().await;
                        answer.event(&ask).await;
                        answer.hung_up().await;
                    }
                    "POST tools/call" => {
                        answer.events().await;
                        if !by_get {
                            answer.event(&ask).await;
                        }
                        answer.event(&heard.result(text("done"))).await;
                    }
                    _ => usual(heard, answer).await,
                }
            })
        })
        .await;
        let server = plain().roots(Vec::new()).connect(site.url()).await.unwrap();
        assert_eq!(server.call("t", ()).await.unwrap().text(), "done");
        site.wait_for("POST", 1).await;
        let reply = site
            .heard()
            .into_iter()
            .find(|heard| heard.line() == "POST")
            .unwrap();
        assert_eq!(
            reply.body,
            json!({"jsonrpc": "2.0", "id": "ask", "result": {"roots": []}})
        );
        assert_eq!(reply.header("mcp-session-id"), Some("session-1"));
    }
}

// rule: H14
#[tokio::test]
async fn news_come_by_a_stream_that_is_gone_on_with_where_it_broke() {
    let site = legacy(Revision::V2025_06_18, |heard, answer| {
        Box::pin(async move {
            if heard.verb != "GET" {
                return usual(heard, answer).await;
            }
            answer.events().await;
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            match heard.header("last-event-id") {
                None => {
                    answer
                        .chunk(&format!("id: e1\nretry: 10\ndata: {changed}\n\n"))
                        .await;
                }
                Some("e1") => answer.chunk(&format!("id: e2\ndata: {changed}\n\n")).await,
                _ => answer.hung_up().await,
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
    site.wait_for("GET", 3).await;
    assert!(matches!(
        news.next().await,
        Some(ServerNotification::ToolsChanged)
    ));
    let ids: Vec<_> = site
        .heard()
        .into_iter()
        .filter(|heard| heard.verb == "GET")
        .collect();
    assert_eq!(ids[2].header("last-event-id"), Some("e2"));
}

// rule: H7
#[tokio::test]
async fn dropping_a_call_tells_the_server() {
    let site = legacy(Revision::V2025_06_18, |heard, answer| {
        Box::pin(async move {
            if heard.method() == "tools/call" {
                answer.events().await;
                answer.hung_up().await;
            } else {
                usual(heard, answer).await;
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let call = server.call("t", ()).deadline(Duration::from_millis(50));
    call.await.unwrap_err();
    site.wait_for("POST notifications/cancelled", 1).await;
    let id = &site.last("tools/call").body["id"];
    assert_eq!(
        &site.last("notifications/cancelled").body["params"]["requestId"],
        id
    );
}

/// A server that ends a call's stream early and finishes it on a GET.
async fn polling(retry: &'static str) -> Site {
    legacy(Revision::V2025_11_25, move |heard, answer| {
        Box::pin(async move {
            match (heard.line().as_str(), heard.header("last-event-id")) {
                ("POST tools/call", _) => {
                    answer.events().await;
                    let id = &heard.body["id"];
                    answer
                        .chunk(&format!("id: call-{id}\n{retry}data:\n\n"))
                        .await;
                }
                ("GET", Some(place)) => {
                    answer.events().await;
                    let id: i64 = place.trim_start_matches("call-").parse().unwrap();
                    let message = json!({"jsonrpc": "2.0", "id": id, "result": text("later")});
                    answer.event(&message).await;
                }
                _ => usual(heard, answer).await,
            }
        })
    })
    .await
}

// rule: H8, H14
#[tokio::test]
async fn a_call_whose_stream_ends_early_is_gone_on_with_after_the_time_the_server_set() {
    let site = polling("retry: 150\n").await;
    let server = plain().connect(site.url()).await.unwrap();
    let begun = Instant::now();
    assert_eq!(server.call("t", ()).await.unwrap().text(), "later");
    // transports: the client MUST honour `retry`.
    assert!(begun.elapsed() >= Duration::from_millis(150));
    assert_eq!(site.count("POST tools/call"), 1);
    let resumed = site
        .heard()
        .into_iter()
        .rev()
        .find(|heard| heard.verb == "GET")
        .unwrap();
    assert!(
        resumed
            .header("last-event-id")
            .unwrap()
            .starts_with("call-")
    );
    assert_eq!(resumed.header("mcp-session-id"), Some("session-1"));
}

#[tokio::test]
async fn a_call_whose_stream_cannot_be_gone_on_with_is_lost() {
    let site = legacy(Revision::V2025_11_25, |heard, answer| {
        Box::pin(async move {
            if heard.method() == "tools/call" {
                answer.events().await;
                answer.chunk("id: 7\nretry: 5\ndata:\n\n").await;
                answer.hang_up();
            } else {
                usual(heard, answer).await;
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = server.call("t", ()).await.unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error:?}");
}

/// A server whose first session expires after the handshake and the list of tools.
async fn forgetful() -> Site {
    legacy(Revision::V2025_06_18, |heard, answer| {
        Box::pin(async move {
            let is_first = heard.header("mcp-session-id") == Some("session-1");
            if is_first && heard.verb == "POST" && heard.method() != "tools/list" {
                answer
                    .json(404, &heard.error(-32001, "Session not found"))
                    .await;
            } else {
                usual(heard, answer).await;
            }
        })
    })
    .await
}

// rule: H10
#[tokio::test]
async fn an_expired_session_is_opened_anew_and_what_is_safe_repeated() {
    let site = forgetful().await;
    let server = plain().connect(site.url()).await.unwrap();
    server.tools().await.unwrap();
    assert_eq!(server.call("safe", ()).await.unwrap().text(), "hello");
    assert_eq!(site.count("POST initialize"), 2);
    assert_eq!(site.count("POST notifications/initialized"), 2);
    // transports: the new session is opened without the old one's id.
    assert_eq!(site.last("initialize").header("mcp-session-id"), None);
    assert_eq!(
        site.last("notifications/initialized")
            .header("mcp-session-id"),
        Some("session-2")
    );
    assert_eq!(
        site.last("tools/call").header("mcp-session-id"),
        Some("session-2")
    );
    site.wait_for("GET", 2).await;
}

// rule: PG2
#[tokio::test]
async fn a_session_whose_pings_have_no_answer_is_opened_anew() {
    let site = legacy(Revision::V2025_11_25, |heard, answer| {
        Box::pin(async move {
            let is_first = heard.header("mcp-session-id") == Some("session-1");
            match heard.line().as_str() {
                "POST ping" if is_first => answer.hung_up().await,
                "POST ping" => answer.json(200, &heard.result(json!({}))).await,
                _ => usual(heard, answer).await,
            }
        })
    })
    .await;
    // Two pings fail, each after this time; the next one must be answered within it.
    let pings = KeepAlive::every(Duration::from_millis(10))
        .timeout(Duration::from_secs(2))
        .failures(2);
    let server = plain().keep_alive(pings).connect(site.url()).await.unwrap();
    site.wait_for("POST initialize", 2).await;
    let before: Vec<_> = site
        .lines()
        .into_iter()
        .filter(|line| line == "POST ping" || line == "POST initialize")
        .take(4)
        .collect();
    assert_eq!(
        before,
        [
            "POST initialize",
            "POST ping",
            "POST ping",
            "POST initialize"
        ]
    );
    // Calls use the new session once its handshake is complete. Pings continue after that.
    site.wait_for("POST ping", 3).await;
    assert_eq!(server.call("safe", ()).await.unwrap().text(), "hello");
    assert_ne!(
        site.last("tools/call").header("mcp-session-id"),
        Some("session-1")
    );
}

#[tokio::test]
async fn an_expired_session_ends_what_may_not_run_twice_and_the_next_call_works() {
    let site = forgetful().await;
    let server = plain().connect(site.url()).await.unwrap();
    server.tools().await.unwrap();
    let error = server.call("unsafe", ()).await.unwrap_err();
    assert!(
        matches!(error, CallError::SessionExpired { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("a new session is open"),
        "{error}"
    );
    assert_eq!(site.count("POST tools/call"), 1);
    assert_eq!(server.call("unsafe", ()).await.unwrap().text(), "hello");
}

#[tokio::test]
async fn many_calls_that_find_a_session_expired_open_one() {
    let site = forgetful().await;
    let server = plain().connect(site.url()).await.unwrap();
    server.tools().await.unwrap();
    let (one, two, three) = tokio::join!(
        async { server.call("safe", ()).await },
        async { server.call("safe", ()).await },
        async { server.ping().await },
    );
    assert_eq!(one.unwrap().text(), "hello");
    assert_eq!(two.unwrap().text(), "hello");
    // This server answers `ping` with a 202, which is not an answer; the ping was repeated anyway.
    assert!(matches!(three, Err(CallError::Malformed { .. })));
    assert_eq!(site.count("POST initialize"), 2);
}

#[tokio::test]
async fn a_session_that_cannot_be_opened_anew_is_told() {
    let initializes = Arc::new(AtomicUsize::new(0));
    let site = Site::start(move |heard, answer| {
        let initializes = initializes.clone();
        Box::pin(async move {
            match heard.method() {
                "initialize" if initializes.fetch_add(1, Ordering::Relaxed) == 0 => {
                    let body = heard.result(initialized(Revision::V2025_06_18)).to_string();
                    let headers = [
                        ("content-type", "application/json"),
                        ("mcp-session-id", "s"),
                    ];
                    answer.full(200, &headers, &body).await;
                }
                "initialize" => answer.full(503, &[], "restarting").await,
                "notifications/initialized" => answer.status(202).await,
                _ => answer.status(404).await,
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = server.read("a:b").await.unwrap_err();
    assert!(
        matches!(error, CallError::SessionExpired { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("503"), "{error}");
}

#[tokio::test]
async fn a_client_that_can_be_asked_listens_before_it_calls() {
    let site = legacy(Revision::V2025_11_25, |heard, answer| {
        Box::pin(async move {
            if heard.line() == "GET" {
                // Otherwise the call would overtake it.
                tokio::time::sleep(Duration::from_millis(100)).await;
                answer.events().await;
                return answer.hung_up().await;
            }
            usual(heard, answer).await;
        })
    })
    .await;
    let client = plain().roots(vec![turnbuckle_client::protocol::Root::new("file:///a")]);
    let begun = Instant::now();
    let server = client.connect(site.url()).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(100));
    assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
    let lines = site.lines();
    let place = |wanted: &str| lines.iter().position(|line| line == wanted).unwrap();
    assert!(place("GET") < place("POST tools/call"), "{lines:?}");
}

// Two calls at once: the stream of a question shows which call it belongs to.
#[tokio::test]
async fn a_question_has_the_tag_of_the_call_on_whose_stream_it_came() {
    let answered: Arc<[tokio::sync::Notify; 2]> = Arc::default();
    let site = legacy(Revision::V2025_06_18, move |heard, answer| {
        let answered = answered.clone();
        Box::pin(async move {
            match heard.line().as_str() {
                "GET" => answer.status(405).await,
                "POST tools/call" => {
                    let tool = heard.body["params"]["name"].as_str().unwrap().to_owned();
                    answer.events().await;
                    let schema = json!({"type": "object", "properties": {}});
                    let asked = json!({"message": tool, "requestedSchema": schema});
                    answer
                        .event(&json!({
                            "jsonrpc": "2.0", "id": tool, "method": "elicitation/create", "params": asked,
                        }))
                        .await;
                    answered[usize::from(tool == "b")].notified().await;
                    answer.event(&heard.result(text(&tool))).await;
                }
                _ => {
                    if let Some(id) = heard.body["id"].as_str() {
                        answered[usize::from(id == "b")].notify_one();
                    }
                    answer.status(202).await;
                }
            }
        })
    })
    .await;
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = asked.clone();
    let both = Arc::new(tokio::sync::Barrier::new(2));
    let client = plain().on_form(move |form| {
        let (kept, both) = (kept.clone(), both.clone());
        async move {
            // Both questions are open at once.
            both.wait().await;
            kept.lock().unwrap().push((form.message.clone(), form.tag));
            Ok(turnbuckle_client::protocol::ElicitResult::decline())
        }
    });
    let server = client.connect(site.url()).await.unwrap();
    let (a, b) = tokio::join!(
        server.call("a", ()).tag(1).into_future(),
        server.call("b", ()).tag(2).into_future()
    );
    assert_eq!(
        (a.unwrap().text(), b.unwrap().text()),
        ("a".into(), "b".into())
    );
    let mut asked = asked.lock().unwrap().clone();
    asked.sort();
    assert_eq!(
        asked,
        [("a".to_owned(), Some(1)), ("b".to_owned(), Some(2))]
    );
}

/// Servers on Node send an empty answer in chunks.
#[tokio::test]
async fn an_empty_answer_in_chunks_leaves_its_connection_for_the_next_request() {
    let site = legacy(Revision::V2025_11_25, |heard, answer| {
        Box::pin(async move {
            if heard.method() == "notifications/roots/list_changed" {
                let empty = "HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
                return answer.raw(empty.as_bytes()).await;
            }
            usual(heard, answer).await;
        })
    })
    .await;
    let server = plain().roots(vec![]).connect(site.url()).await.unwrap();
    for count in 1..=10 {
        server.roots_changed();
        site.wait_for("POST notifications/roots/list_changed", count)
            .await;
        // The answer follows.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let heard = site.heard().into_iter();
    let heard = heard.filter(|heard| heard.method() == "notifications/roots/list_changed");
    let connections: std::collections::BTreeSet<_> = heard.map(|it| it.connection).collect();
    // Occasionally an answer comes later than the next request.
    assert!(connections.len() <= 5, "{connections:?}");
}
