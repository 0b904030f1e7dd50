//! Servers that ask the client to retry later, have moved, are unavailable, or keep losing their
//! sessions.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::sync::Notify;
use turnbuckle_client::{CallError, protocol::ElicitResult, protocol::Revision};

use crate::{
    asks_in_sessions::form,
    http_site::{Answer, Handling, Heard, Site, discovered, initialized, modern, plain, text},
};

#[tokio::test]
async fn a_server_that_says_when_to_come_back_is_come_back_to() {
    for status in [429, 503] {
        let refused = AtomicUsize::new(0);
        let site = modern(move |heard, answer| {
            let is_refused = refused.fetch_add(1, Ordering::Relaxed) < 2;
            Box::pin(async move {
                if is_refused {
                    return answer.full(status, &[("retry-after", "0")], "later").await;
                }
                answer.json(200, &heard.result(text("now"))).await;
            })
        })
        .await;
        let server = plain().connect(site.url()).await.unwrap();
        assert_eq!(server.call("pay", ()).await.unwrap().text(), "now");
        assert_eq!(site.count("POST tools/call"), 3, "{status}");
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_told_at_once() {
    let site = modern(|_, answer| {
        Box::pin(async move { answer.full(429, &[("retry-after", "3600")], "later").await })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = server.call("pay", ()).await.unwrap_err();
    let wait = Duration::from_hours(1);
    assert!(
        matches!(error, CallError::Status { status: 429, retry_after: Some(told), .. } if told == wait),
        "{error:?}"
    );
    assert!(error.to_string().contains("try again in 3600 s"), "{error}");
    assert_eq!(site.count("POST tools/call"), 1);
}

/// A server that has moved from `/mcp` to `/v2`, with this status.
async fn moved(status: u16) -> Site {
    Site::start(move |heard, answer| {
        Box::pin(async move {
            if heard.path == "/mcp" {
                return answer.full(status, &[("location", "/v2")], "").await;
            }
            let result = match heard.method() {
                "server/discover" => discovered(),
                _ => text("here"),
            };
            answer.json(200, &heard.result(result)).await;
        })
    })
    .await
}

#[tokio::test]
async fn a_move_for_good_is_remembered_and_another_is_not() {
    for (status, times) in [(308, 1), (307, 3)] {
        let site = moved(status).await;
        let server = plain().connect(site.url()).await.unwrap();
        for _ in 0..2 {
            assert_eq!(server.call("where", ()).await.unwrap().text(), "here");
        }
        let old = site
            .heard()
            .iter()
            .filter(|heard| heard.path == "/mcp")
            .count();
        assert_eq!(old, times, "{status}");
    }
}

/// Answers each request on a separate connection.
fn answering(heard: Heard, answer: &mut Answer) -> Handling<'_> {
    Box::pin(async move {
        let result = match heard.method() {
            "server/discover" => discovered(),
            _ => text("here"),
        };
        answer.json(200, &heard.result(result)).await;
        answer.hang_up();
    })
}

#[tokio::test]
async fn a_connection_is_closed_while_the_server_is_down() {
    let site = Site::start(answering).await;
    let server = plain().connect(site.url()).await.unwrap();
    assert!(!server.is_closed());
    let address = site.address.clone();
    drop(site);
    let down = async {
        // The listener ends a moment after its task.
        while !matches!(
            server.call("where", ()).await,
            Err(CallError::Unsent { .. })
        ) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), down)
        .await
        .unwrap();
    assert!(server.is_closed());
    let _site = Site::start_at(&address, answering).await;
    assert_eq!(server.call("where", ()).await.unwrap().text(), "here");
    assert!(!server.is_closed());
}

/// Opens a session with the next number.
async fn open(heard: &Heard, answer: &mut Answer, number: usize) {
    let body = heard.result(initialized(Revision::V2025_11_25)).to_string();
    let id = format!("s{number}");
    let headers = [
        ("content-type", "application/json"),
        ("mcp-session-id", &*id),
    ];
    answer.full(200, &headers, &body).await;
}

// rule: H10
#[tokio::test]
async fn sessions_that_keep_vanishing_are_no_storm_of_handshakes() {
    let sessions = AtomicUsize::new(0);
    let site = Site::start(move |heard, answer| {
        let number = sessions.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            match heard.line().as_str() {
                "POST initialize" => open(&heard, answer, number).await,
                "POST notifications/initialized" => answer.status(202).await,
                // As with two replicas: the session is unknown.
                _ => answer.status(404).await,
            }
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    for _ in 0..20 {
        let call = server
            .call("where", ())
            .deadline(Duration::from_millis(100));
        call.await.unwrap_err();
    }
    // One for the connection, one at once, and then one after 250 ms, 500 ms, 1 s and so on.
    let handshakes = site.count("POST initialize");
    assert!((2..=6).contains(&handshakes), "{handshakes}");
}

// rule: H10
#[tokio::test]
async fn an_answer_that_finds_its_session_gone_ends_the_call_and_opens_another() {
    let sessions = Arc::new(AtomicUsize::new(0));
    let site = Site::start(move |heard, answer| {
        let sessions = sessions.clone();
        Box::pin(async move {
            match heard.line().as_str() {
                "POST server/discover" => answer.status(400).await,
                "POST initialize" => {
                    let number = sessions.fetch_add(1, Ordering::Relaxed);
                    open(&heard, answer, number).await;
                }
                "POST notifications/initialized" => answer.status(202).await,
                "GET" => answer.status(405).await,
                "POST tools/call" => {
                    answer.events().await;
                    let ask = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": form()});
                    answer.event(&ask).await;
                    answer.hung_up().await;
                }
                _ => answer.status(404).await,
            }
        })
    })
    .await;
    let client = plain().on_form(|_| async { Ok(ElicitResult::decline()) });
    let server = client.connect(site.url()).await.unwrap();
    // The deadline is longer than the test may run, so nothing waits for it.
    let call = server.call("book", ()).deadline(Duration::from_hours(1));
    let error = call.await.unwrap_err();
    assert!(
        matches!(error, CallError::SessionExpired { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("did not accept the answer"),
        "{error}"
    );
    site.wait_for("POST notifications/initialized", 2).await;
}

/// The connection with the answer is lost, so the client cannot know whether the server has it.
#[tokio::test]
async fn an_answer_whose_connection_is_lost_is_sent_again() {
    let (tries, taken) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let site = Site::start(move |heard, answer| {
        let (tries, taken) = (tries.clone(), taken.clone());
        Box::pin(async move {
            match heard.line().as_str() {
                "POST server/discover" => answer.status(400).await,
                "POST initialize" => open(&heard, answer, 1).await,
                "POST notifications/initialized" => answer.status(202).await,
                "GET" => answer.status(405).await,
                "POST tools/call" => {
                    answer.events().await;
                    let ask = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": form()});
                    answer.event(&ask).await;
                    taken.notified().await;
                    answer.event(&heard.result(text("booked"))).await;
                }
                _ if tries.fetch_add(1, Ordering::Relaxed) < 2 => answer.hang_up(),
                _ => {
                    answer.status(202).await;
                    taken.notify_one();
                }
            }
        })
    })
    .await;
    let client = plain().on_form(|_| async { Ok(ElicitResult::decline()) });
    let server = client.connect(site.url()).await.unwrap();
    assert_eq!(server.call("book", ()).await.unwrap().text(), "booked");
}
