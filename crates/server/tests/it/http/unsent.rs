//! Answers that their clients do not read have a budget, however they are sent.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Log, MemoryBudget, Progress, Tool};

use super::{
    ask::{Ask, call, modern_message, notice, request},
    raw::Raw,
    site::{Session, Site, watched},
};
use crate::{gate::Gate, wire::TIMEOUT};

/// 24 MiB: more than the system buffers for a connection that is not read.
const LARGE: usize = 24 * 1024 * 1024;

/// 16 MiB: an answer of more than half of it counts as half, so that two of them fit.
const UNSENT: usize = 16 * 1024 * 1024;

const SETTING: &str = "`MemoryBudget::unsent_per_caller`";

/// Ends at once.
async fn large() -> String {
    "x".repeat(LARGE)
}

/// Ends later.
async fn late() -> String {
    tokio::task::yield_now().await;
    large().await
}

/// Reports progress first.
async fn told(progress: Progress) -> String {
    progress.at(1.0).await;
    large().await
}

/// Logs 200 messages of 1 KiB before anything is sent.
async fn chatty(log: Log) -> &'static str {
    let text = "y".repeat(1024);
    (0..200).for_each(|_| log.info(&text));
    "done"
}

async fn site() -> Site {
    let gate = Gate::new();
    let budget = MemoryBudget::default().with_unsent_per_caller(UNSENT);
    let server = gate
        .server()
        .memory_budget(budget)
        .tool(Tool::new("large", large))
        .tool(Tool::new("late", late))
        .tool(Tool::new("told", told))
        .tool(Tool::new("chatty", chatty));
    Site::serving(server, gate, |http| http).await
}

/// Two answers are not read, and the third is rejected; when they are dropped, answers are sent
/// again.
async fn has_a_budget(site: &Site, ask: Ask) {
    let unread = async || {
        let mut raw = Raw::asking(site.address, ask.clone()).await;
        assert_eq!(raw.head().await.status, 200);
        raw
    };
    let held = (unread().await, unread().await);
    let refused = text_of(site, &ask).await;
    assert!(refused.contains(SETTING), "{refused:.300}");
    // Small answers are sent.
    assert_eq!(site.ask(Ask::call("now", json!({}))).await.status(), 200);
    drop(held);
    let served = async { while text_of(site, &ask).await.len() < LARGE {} };
    timeout(TIMEOUT, served).await.expect("there is room again");
}

async fn text_of(site: &Site, ask: &Ask) -> String {
    let answer = site.ask(ask.clone()).await;
    assert_eq!(answer.status(), 200, "{:.300}", answer.text());
    answer.text()
}

fn watching(tool: &str) -> Value {
    json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "t" } })
}

/// Queued messages are dropped, except for a few, while answers take the whole budget.
#[tokio::test]
async fn log_messages() {
    let site = site().await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let level = json!({ "io.modelcontextprotocol/logLevel": "info" });
    let params = json!({ "name": "chatty", "arguments": {}, "_meta": level });
    let asks = [
        Ask::modern("tools/call", params),
        session.own(Ask::post(call(7, "chatty"))),
    ];
    let heard = async |ask: &Ask| {
        let text = text_of(&site, ask).await;
        assert!(text.contains("done"), "{text:.300}");
        text.matches("notifications/message").count()
    };
    for ask in &asks {
        assert_eq!(heard(ask).await, 200);
        let unread = async || {
            let mut raw = Raw::asking(site.address, Ask::call("large", json!({}))).await;
            assert_eq!(raw.head().await.status, 200);
            raw
        };
        let held = (unread().await, unread().await);
        let few = heard(ask).await;
        assert!((1..10).contains(&few), "{few}");
        drop(held);
        let all = async { while heard(ask).await < 200 {} };
        timeout(TIMEOUT, all).await.expect("there is room again");
    }
}

#[tokio::test]
async fn modern_answers_as_json() {
    let site = site().await;
    for tool in ["large", "late"] {
        has_a_budget(&site, Ask::call(tool, json!({}))).await;
    }
}

#[tokio::test]
async fn modern_answers_as_a_stream() {
    let site = site().await;
    has_a_budget(&site, Ask::modern("tools/call", watching("told"))).await;
}

#[tokio::test]
async fn answers_of_a_session() {
    let site = site().await;
    for tool in ["large", "late", "told"] {
        let session = Session::open(&site, Revision::V2025_11_25).await;
        has_a_budget(&site, session.own(Ask::post(watched(1, tool, json!({}))))).await;
    }
}

#[tokio::test]
async fn answers_of_a_batch() {
    let site = site().await;
    let session = Session::open(&site, Revision::V2025_03_26).await;
    let batch: Vec<_> = (1..5).map(|id| call(id, "large")).collect();
    let text = session.post(json!(batch)).await.text();
    assert_eq!(text.matches(SETTING).count(), 2);
    assert!(text.len() > 2 * LARGE, "{}", text.len());
}

#[tokio::test]
async fn answers_over_http_and_sse() {
    let site = site().await;
    let mut streams = Vec::new();
    for _ in 0..2 {
        let ask = Ask::new("GET", "/sse").with("accept", "text/event-stream");
        let mut stream = Raw::streaming(site.address, ask).await;
        let place = stream.event().await.expect("the endpoint").data;
        let place = format!("/{place}");
        let params = json!({
            "protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": { "name": "raw", "version": "1" },
        });
        post(&site, &place, request(0, "initialize", params)).await;
        assert!(stream.message().await["result"].is_object());
        post(
            &site,
            &place,
            notice("notifications/initialized", json!({})),
        )
        .await;
        streams.push((stream, place));
    }
    // The first answer is in the connection, the second in the queue.
    post(&site, &streams[0].1, call(1, "large")).await;
    post(&site, &streams[0].1, call(2, "large")).await;
    post(&site, &streams[1].1, call(3, "large")).await;
    let refused = streams[1].0.message().await;
    assert!(refused.to_string().contains(SETTING), "{refused:.300}");
    // Once they are read, there is room again.
    for id in [1, 2] {
        assert_eq!(streams[0].0.message().await["id"], id);
    }
    let served = async {
        loop {
            post(&site, &streams[1].1, call(4, "late")).await;
            if streams[1].0.message().await["result"].is_object() {
                return;
            }
        }
    };
    timeout(TIMEOUT, served).await.expect("there is room again");
}

async fn post(site: &Site, place: &str, message: Value) {
    let ask = Ask::new("POST", place)
        .with("content-type", "application/json")
        .body(message.to_string());
    assert_eq!(site.ask(ask).await.status(), 202);
}

#[tokio::test]
async fn answers_over_http2() {
    let site = site().await;
    let socket = TcpStream::connect(site.address).await.expect("a server");
    let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(socket));
    let (mut client, connection) = handshake.await.expect("HTTP/2");
    tokio::spawn(connection);
    let ask = || {
        let params = json!({ "name": "large", "arguments": {} });
        let message = modern_message(1, "tools/call", params).to_string();
        http::Request::post("http://localhost/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "large")
            .body(Full::<Bytes>::from(message))
            .expect("a request")
    };
    let first = client.send_request(ask()).await.expect("an answer");
    let second = client.send_request(ask()).await.expect("an answer");
    let refused = client.send_request(ask()).await.expect("an answer");
    let text = refused.into_body().collect().await.expect("a body");
    let text = text.to_bytes();
    assert!(String::from_utf8_lossy(&text).contains(SETTING));
    for answer in [first, second] {
        let body = answer.into_body().collect().await.expect("a body");
        assert!(body.to_bytes().len() > LARGE);
    }
    let served = async {
        loop {
            let served = client.send_request(ask()).await.expect("an answer");
            let body = served.into_body().collect().await.expect("a body");
            if body.to_bytes().len() > LARGE {
                return;
            }
        }
    };
    timeout(TIMEOUT, served).await.expect("there is room again");
}
