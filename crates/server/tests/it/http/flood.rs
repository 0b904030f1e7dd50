//! Many bad clients at once: a good client is served, and the memory is freed.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;
use turnbuckle_protocol::Revision;
use turnbuckle_transport::http::Settings;

use super::{
    ask::{Ask, call},
    raw::Raw,
    site::{Session, Site},
};

const MEBIBYTE: u64 = 1024 * 1024;

/// The memory for messages in flight.
const BUDGET: u64 = 64 * MEBIBYTE;

/// The memory that an allocator may keep.
const SLACK: u64 = 64 * MEBIBYTE;

/// Set in the process that a test has started to run alone.
const ALONE: &str = "TURNBUCKLE_FLOOD_ALONE";

/// Memory is measured, so each test runs in a process of its own. Starts that process, unless this
/// is it.
fn is_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let own = std::env::current_exe().expect("this program");
    let name = format!("http::flood::{test}");
    let run = Command::new(own)
        .args(["--exact", &name])
        .env(ALONE, "1")
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}");
    false
}

/// The memory of this process, including that of the clients.
fn resident_bytes() -> u64 {
    const PAGE: u64 = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * PAGE
}

async fn is_served(site: &Site) {
    let start = Instant::now();
    assert_eq!(site.ask(Ask::call("now", json!({}))).await.status(), 200);
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Waits until the memory is near its previous amount.
async fn comes_back(before: u64) {
    let start = Instant::now();
    while resident_bytes() > before + SLACK {
        let now = resident_bytes() / MEBIBYTE;
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{now} MiB, before {before} B"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_half_open_requests() {
    if !is_alone("a_thousand_half_open_requests") {
        return;
    }
    let site = Site::start().await;
    is_served(&site).await;
    let before = resident_bytes();
    let mut halves = Vec::new();
    for number in 0..1000 {
        let mut raw = Raw::connect(site.address).await;
        let whole = Ask::call("wait", json!({})).to_bytes();
        let part = match number % 3 {
            0 => &whole[..0],
            1 => &whole[..40],
            _ => &whole[..whole.len() - 10],
        };
        raw.send(part).await;
        halves.push(raw);
    }
    is_served(&site).await;
    drop(halves);
    is_served(&site).await;
    comes_back(before).await;
    assert_eq!(site.gate.count_arrived(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_open_streams() {
    if !is_alone("a_thousand_open_streams") {
        return;
    }
    let site = Site::start().await;
    is_served(&site).await;
    let before = resident_bytes();
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut streams = Vec::new();
    for number in 0..1000 {
        // Standing streams of sessions, running calls, HTTP+SSE.
        streams.push(match number % 3 {
            0 => {
                Session::open(&site, Revision::V2025_11_25)
                    .await
                    .listen()
                    .await
            }
            1 => Raw::asking(site.address, Ask::call("wait", json!({}))).await,
            _ => {
                let sse = Ask::new("GET", "/sse").with("accept", "text/event-stream");
                Raw::streaming(site.address, sse).await
            }
        });
    }
    site.gate.arrived(333).await;
    is_served(&site).await;
    assert_eq!(session.post(call(1, "now")).await.status(), 200);
    drop(streams);
    site.gate.dropped(333).await;
    is_served(&site).await;
    comes_back(before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_that_never_end() {
    if !is_alone("large_bodies_that_never_end") {
        return;
    }
    let site = Site::start().await;
    is_served(&site).await;
    let before = resident_bytes();
    let piece = vec![b'x'; 1 << 20];
    let mut clients = Vec::new();
    for _ in 0..150 {
        let ask = Ask::call("now", json!({})).with("content-length", "4000000");
        let head = ask.to_bytes();
        let end = head
            .windows(4)
            .position(|part| part == b"\r\n\r\n")
            .expect("a head");
        let mut raw = Raw::connect(site.address).await;
        raw.send(&head[..end + 4]).await;
        raw.send(&piece).await;
        clients.push(raw);
    }
    is_served(&site).await;
    let meanwhile = resident_bytes();
    // 150 MiB were sent, but only as much was kept as the budget allows.
    assert!(
        meanwhile < before + BUDGET + SLACK,
        "from {before} to {meanwhile}"
    );
    drop(clients);
    comes_back(before).await;
    is_served(&site).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_connections_than_there_may_be() {
    let connections = Settings::default().with_max_connections(50);
    let site = Site::with(|http| http.connections(connections)).await;
    let mut first = Vec::new();
    for _ in 0..50 {
        let mut raw = Raw::connect(site.address).await;
        assert_eq!(raw.ask(Ask::call("now", json!({}))).await.status(), 200);
        first.push(raw);
    }
    let mut late = Raw::asking(site.address, Ask::call("now", json!({}))).await;
    assert_eq!(late.head().await.status, 503);
    // The clients that were connected before are served.
    for raw in &mut first {
        assert_eq!(raw.ask(Ask::call("now", json!({}))).await.status(), 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_are_kept_do_not_pile_up() {
    if !is_alone("streams_that_are_kept_do_not_pile_up") {
        return;
    }
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut raw = Raw::connect(site.address).await;
    let call = |id: i64| {
        let message = super::site::watched(id, "step", json!({}));
        session.own(Ask::post(message))
    };
    let before = resident_bytes();
    // Each of them is answered with a stream that can be resumed.
    for id in 0..3000 {
        assert_eq!(raw.ask(call(id)).await.events().len(), 3);
    }
    comes_back(before).await;
}
