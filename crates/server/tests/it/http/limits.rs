//! Limits that a client can exceed, and the status of each.

use std::time::{Duration, Instant};

use serde_json::json;
use turnbuckle_protocol::Revision;
use turnbuckle_server::MemoryBudget;
use turnbuckle_transport::{Limits, http::Settings};

use super::{
    ask::{Ask, call, request},
    raw::Raw,
    site::{IDLE, SOON, Session, Site, watched},
};
use crate::gate::Gate;

async fn small() -> Site {
    let gate = Gate::new();
    let limits = Limits::default().with_max_message_bytes(1000);
    let server = gate.server().limits(limits);
    Site::serving(server, gate, |http| http).await
}

#[tokio::test]
async fn a_body_that_is_too_large_is_413() {
    let site = small().await;
    let fits = Ask::call("now", json!({ "x": "x".repeat(500) }));
    assert_eq!(site.ask(fits).await.status(), 200);
    let large = Ask::call("now", json!({ "x": "x".repeat(1000) }));
    let answer = site.ask(large).await;
    assert_eq!(answer.status(), 413);
    assert!(answer.text().contains("1000 bytes"), "{}", answer.text());
    // Rejected by its length, before any of it arrives.
    let announced = Ask::call("now", json!({})).with("content-length", "1000000000");
    let head = announced.to_bytes();
    let mut raw = Raw::connect(site.address).await;
    raw.send(&head).await;
    assert_eq!(raw.answer().await.status(), 413);
    // Rejected after it has arrived, because its length was not announced.
    let chunked = Ask::call("now", json!({}))
        .without("content-length")
        .body("");
    let chunked = chunked
        .without("content-length")
        .with("transfer-encoding", "chunked");
    let mut raw = Raw::asking(site.address, chunked).await;
    for _ in 0..3 {
        raw.send(format!("1f4\r\n{}\r\n", "x".repeat(500)).as_bytes())
            .await;
    }
    assert_eq!(raw.answer().await.status(), 413);
    let client = Ask::new("GET", "/sse").with("accept", "text/event-stream");
    let mut stream = Raw::streaming(site.address, client).await;
    let place = stream.event().await.expect("the endpoint").data;
    let large = Ask::new("POST", &format!("/{place}"))
        .with("content-type", "application/json")
        .body("x".repeat(1001));
    assert_eq!(site.ask(large).await.status(), 413);
}

#[tokio::test]
async fn a_handshake_is_kept_so_it_must_be_small() {
    let site = Site::start().await;
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "experimental": { "x": { "y": "z".repeat(200_000) } } },
        "clientInfo": { "name": "raw", "version": "1" },
    });
    let answer = site.ask(Ask::post(request(1, "initialize", params))).await;
    assert_eq!((answer.status(), answer.code()), (413, -32600));
    assert_eq!(answer.head.get("mcp-session-id"), None);
}

#[tokio::test]
async fn a_body_that_stops_is_408() {
    let site = Site::set(|settings| settings.body_timeout = SOON).await;
    let whole = Ask::call("now", json!({})).to_bytes();
    for cut in [whole.len() - 1, whole.len() - 50] {
        let mut raw = Raw::connect(site.address).await;
        raw.send(&whole[..cut]).await;
        let answer = raw.answer().await;
        assert_eq!(answer.status(), 408);
        assert!(answer.text().contains("body_timeout"), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_body_that_drips_is_408_too() {
    let timeout = 4 * SOON;
    let site = Site::set(|settings| settings.body_timeout = timeout).await;
    let whole = Ask::call("now", json!({ "x": "x".repeat(200) })).to_bytes();
    let mut raw = Raw::connect(site.address).await;
    let (start, drops) = whole.split_at(whole.len() - 150);
    raw.send(start).await;
    let began = Instant::now();
    for drop in drops.chunks(1) {
        // Each part arrives in time, but not all of them do.
        raw.send(drop).await;
        tokio::time::sleep(SOON / 5).await;
        if began.elapsed() > 3 * timeout {
            break;
        }
    }
    assert_eq!(raw.answer().await.status(), 408);
}

#[tokio::test]
async fn sessions_are_counted() {
    let site = Site::set(|settings| settings.max_sessions = 3).await;
    let mut sessions = Vec::new();
    let mut streams = Vec::new();
    for _ in 0..2 {
        let session = Session::open(&site, Revision::V2025_06_18).await;
        streams.push(session.listen().await);
        sessions.push(session);
    }
    let sse = Ask::new("GET", "/sse").with("accept", "text/event-stream");
    let stream = Raw::streaming(site.address, sse.clone()).await;
    // All sessions are in use.
    let full = site.ask(Ask::initialize(Revision::V2025_06_18)).await;
    assert_eq!(full.status(), 503);
    assert!(full.text().contains("max_sessions"), "{}", full.text());
    assert!(full.head.get("retry-after").is_some());
    assert_eq!(full.head.get("mcp-session-id"), None);
    assert_eq!(site.ask(sse).await.status(), 503);
    // Modern requests need no session, so they are served.
    assert_eq!(site.ask(Ask::call("now", json!({}))).await.status(), 200);
    let ended = sessions.pop().expect("a session");
    ended.ask(Ask::new("DELETE", "/mcp")).await;
    Session::open(&site, Revision::V2025_06_18).await;
    drop(stream);
}

#[tokio::test]
async fn a_caller_with_too_many_sessions_loses_the_one_that_was_silent_for_longest() {
    let site = Site::set(|settings| settings.max_sessions_per_caller = 2).await;
    let first = Session::open(&site, Revision::V2025_06_18).await;
    let second = Session::open(&site, Revision::V2025_06_18).await;
    let ping = || Ask::post(request(7, "ping", json!({})));
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(first.ask(ping()).await.status(), 200);
    let third = Session::open(&site, Revision::V2025_06_18).await;
    assert_eq!(second.ask(ping()).await.status(), 404);
    assert_eq!(first.ask(ping()).await.status(), 200);
    assert_eq!(third.ask(ping()).await.status(), 200);
    // Sessions that are in use are kept.
    let _reading = (first.listen().await, third.listen().await);
    let full = site.ask(Ask::initialize(Revision::V2025_06_18)).await;
    assert_eq!(full.status(), 429);
    assert!(
        full.text().contains("max_sessions_per_caller"),
        "{}",
        full.text()
    );
}

#[tokio::test]
async fn a_thousand_handshakes_do_not_lock_out_other_clients() {
    let site = Site::set(|settings| settings.max_sessions = 100).await;
    for _ in 0..1000 {
        let opened = site.ask(Ask::initialize(Revision::V2025_06_18)).await;
        assert_eq!(opened.status(), 200);
    }
}

#[tokio::test]
async fn a_session_that_is_never_initialized_is_replaced() {
    let site = Site::set(|settings| settings.initialized_within = IDLE).await;
    let opened = site.ask(Ask::initialize(Revision::V2025_06_18)).await;
    let id = opened.head.get("mcp-session-id").expect("an id");
    let ready = Session::open(&site, Revision::V2025_06_18).await;
    tokio::time::sleep(2 * IDLE).await;
    let ping = || Ask::post(request(7, "ping", json!({})));
    assert_eq!(ready.ask(ping()).await.status(), 200);
    let late = site.ask(ping().with("mcp-session-id", id)).await;
    assert_eq!(late.status(), 404);
}

#[tokio::test]
async fn more_values_than_may_be_built_are_413() {
    let site = Site::start().await;
    let dense = vec![json!({ "": 0 }); 20_000];
    let answer = site.ask(Ask::call("now", json!({ "x": dense }))).await;
    assert_eq!(answer.status(), 413);
    let text = answer.text();
    assert!(
        text.contains("max_json_nodes") && text.contains("\"id\""),
        "{text}"
    );
}

#[tokio::test]
async fn bodies_in_flight_have_a_budget_and_small_calls_go_on() {
    let gate = Gate::new();
    let budget = MemoryBudget::default()
        .with_total(400_000)
        .with_per_caller(150_000);
    let server = gate.server().memory_budget(budget);
    let site = Site::serving(server, gate, |http| http).await;
    let ask = Ask::call("now", json!({ "x": "x".repeat(100_000) }));
    let bytes = ask.to_bytes();
    // Most of a body, and then nothing more.
    let mut held = Raw::connect(site.address).await;
    held.send(&bytes[..bytes.len() - 10]).await;
    let refused = site.until_status(ask.clone(), 429).await;
    assert!(
        refused.text().contains("MemoryBudget::per_caller"),
        "{}",
        refused.text()
    );
    assert_eq!(refused.head.get("retry-after"), Some("1"));
    assert_eq!(site.ask(Ask::call("now", json!({}))).await.status(), 200);
    // The memory is given back.
    held.send(&bytes[bytes.len() - 10..]).await;
    assert_eq!(held.answer().await.status(), 200);
    drop(held);
    site.until_status(ask, 200).await;
}

#[tokio::test]
async fn silent_sessions_make_room() {
    let site = Site::set(|settings| {
        settings.max_sessions = 1;
        settings.session_idle = IDLE;
    })
    .await;
    Session::open(&site, Revision::V2025_06_18).await;
    tokio::time::sleep(2 * IDLE).await;
    Session::open(&site, Revision::V2025_06_18).await;
}

#[tokio::test]
async fn streams_of_a_session_are_counted() {
    let site = Site::set(|settings| settings.max_streams = 2).await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let standing = session.listen().await;
    let mut stream = session
        .stream(watched(1, "steps", json!({ "count": 1 })))
        .await;
    for ask in [Ask::get(), Ask::post(call(2, "now"))] {
        let answer = session.ask(ask).await;
        assert_eq!(answer.status(), 429);
        assert!(answer.text().contains("streams"), "{}", answer.text());
    }
    // Notifications need no stream.
    let cancel = super::ask::notice("notifications/cancelled", json!({ "requestId": 1 }));
    assert_eq!(session.post(cancel).await.status(), 202);
    stream.rest().await;
    drop((stream, standing));
    // It takes the server a moment to notice.
    let start = Instant::now();
    while session.post(call(3, "now")).await.status() != 200 {
        assert!(start.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(SOON / 10).await;
    }
}

/// How many times a slow reader reconnects before the test fails.
const MAX_RETURNS: usize = 50;

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped_and_the_call_goes_on() {
    let connections = Settings::default().with_write_timeout(Duration::from_millis(300));
    let site = Site::with(|http| http.connections(connections)).await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut deaf = session
        .stream(watched(1, "steps", json!({ "count": 200_000 })))
        .await;
    let prime = deaf.event().await.expect("the priming event");
    let mut last = prime.id.expect("an id");
    // Meanwhile other clients are served.
    for id in 10..20 {
        assert_eq!(session.post(call(id, "now")).await.status(), 200);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    site.gate.open(1);
    // On a busy machine this reader is sometimes slow, too, and reconnects like other clients.
    for _ in 0..MAX_RETURNS {
        let mut back = session.resume(&last).await;
        let events = back.rest_or_cut().await;
        let Some(newest) = events.last() else {
            continue;
        };
        if newest.data.contains("200000 steps") {
            assert_eq!(site.gate.count_dropped(), 0);
            return;
        }
        last.clone_from(newest.id.as_ref().expect("every event of a call has an id"));
    }
    panic!("the answer did not come");
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let connections = Settings::default()
        .with_header_timeout(IDLE)
        .with_idle_timeout(IDLE);
    let site = Site::with(|http| http.connections(connections)).await;
    let mut silent = Raw::connect(site.address).await;
    let mut half = Raw::connect(site.address).await;
    half.send(b"POST /mcp HTTP/1.1\r\nhost: loc").await;
    let mut idle = Raw::connect(site.address).await;
    assert_eq!(idle.ask(Ask::call("now", json!({}))).await.status(), 200);
    for raw in [&mut silent, &mut half, &mut idle] {
        raw.closed().await;
    }
}
