//! The shutdown of a server: running calls finish, open streams end, and it does not take forever.

use std::time::{Duration, Instant};

use serde_json::json;
use turnbuckle_protocol::{CreateMessageRequestParams, Revision, SamplingMessage};
use turnbuckle_server::{Ask as Asking, ServeError, Tool, ToolError};
use turnbuckle_transport::http::Settings;

use super::{
    ask::{Ask, call, notice, request},
    raw::Raw,
    site::{SESSIONS, Session, Site, watched},
};
use crate::gate::Gate;

#[tokio::test]
async fn what_runs_is_finished_and_standing_streams_end() {
    let mut site = Site::start().await;
    let mut standing = Vec::new();
    let mut running = vec![Raw::asking(site.address, Ask::call("wait", json!({}))).await];
    let mut streaming = Vec::new();
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        standing.push(session.listen().await);
        running.push(session.send(call(1, "wait")).await);
        streaming.push(
            session
                .stream(watched(2, "steps", json!({ "count": 1 })))
                .await,
        );
    }
    let idle = Raw::connect(site.address).await;
    site.gate.arrived(7).await;
    site.stop();
    for stream in &mut standing {
        let rest = stream.rest().await;
        assert!(rest.iter().all(|event| event.data.is_empty()), "{rest:?}");
    }
    assert_eq!(site.gate.count_dropped(), 0);
    site.gate.open(7);
    for mut raw in running {
        assert_eq!(
            raw.answer().await.json()["result"]["content"][0]["text"],
            "passed"
        );
    }
    for stream in &mut streaming {
        let rest = stream.rest().await;
        let answer = &rest.last().expect("the answer").data;
        assert!(answer.contains("1 steps"), "{answer}");
    }
    drop(idle);
    site.stopped().await.expect("an orderly end");
}

#[tokio::test]
async fn clients_of_the_first_revision_get_their_answers() {
    let mut site = Site::start().await;
    let ask = Ask::new("GET", "/sse").with("accept", "text/event-stream");
    let mut stream = Raw::streaming(site.address, ask).await;
    let place = format!("/{}", stream.event().await.expect("the endpoint").data);
    let params = json!({
        "protocolVersion": "2024-11-05", "capabilities": {},
        "clientInfo": { "name": "raw", "version": "1" },
    });
    for message in [
        request(0, "initialize", params),
        notice("notifications/initialized", json!({})),
        call(1, "wait"),
    ] {
        let ask = Ask::new("POST", &place)
            .with("content-type", "application/json")
            .body(message.to_string());
        assert_eq!(site.ask(ask).await.status(), 202);
    }
    stream.message().await;
    site.gate.arrived(1).await;
    site.stop();
    site.gate.open(1);
    assert_eq!(stream.message().await["id"], 1);
    assert_eq!(stream.event().await, None);
    site.stopped().await.expect("an orderly end");
}

/// The session of HTTP+SSE is its stream, so no other replica can receive the answer.
#[tokio::test]
async fn clients_of_the_first_revision_are_told_to_call_again() {
    async fn guess(Asking(ask): Asking) -> Result<String, ToolError> {
        let message = SamplingMessage::user("Which number?");
        let request = CreateMessageRequestParams::new(vec![message], 10);
        Ok(ask.sample("number", request).await?.text())
    }
    let gate = Gate::new();
    let server = gate.server().tool(Tool::new("guess", guess));
    let mut site = Site::serving(server, gate, |http| http).await;
    let ask = Ask::new("GET", "/sse").with("accept", "text/event-stream");
    let mut stream = Raw::streaming(site.address, ask).await;
    let place = format!("/{}", stream.event().await.expect("the endpoint").data);
    let params = json!({
        "protocolVersion": "2024-11-05", "capabilities": { "sampling": {} },
        "clientInfo": { "name": "raw", "version": "1" },
    });
    for message in [
        request(0, "initialize", params),
        notice("notifications/initialized", json!({})),
        call(1, "guess"),
    ] {
        let ask = Ask::new("POST", &place)
            .with("content-type", "application/json")
            .body(message.to_string());
        assert_eq!(site.ask(ask).await.status(), 202);
    }
    assert_eq!(stream.message().await["id"], 0);
    assert_eq!(stream.message().await["method"], "sampling/createMessage");
    site.stop();
    let mut answer = stream.message().await;
    while answer["id"] != 1 {
        // The question is cancelled.
        assert_eq!(answer["method"], "notifications/cancelled");
        answer = stream.message().await;
    }
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "the client's answer to `number` cannot be received: the server is shutting down: call again"
    );
    assert_eq!(stream.event().await, None);
    site.stopped().await.expect("an orderly end");
}

#[tokio::test]
async fn what_does_not_finish_is_cut_off() {
    let connections = Settings::default().with_grace(Duration::from_millis(200));
    let mut site = Site::with(|http| http.connections(connections)).await;
    let mut modern = Raw::asking(site.address, Ask::call("wait", json!({}))).await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let mut legacy = session.send(call(1, "wait")).await;
    site.gate.arrived(2).await;
    let gate = site.gate.clone();
    let start = Instant::now();
    site.stop();
    let ended = site.stopped().await;
    assert!(matches!(ended, Err(ServeError::Listen(_))), "{ended:?}");
    assert!(start.elapsed() < Duration::from_secs(5));
    modern.closed().await;
    legacy.closed().await;
    // Both calls have been dropped.
    gate.dropped(2).await;
}

#[tokio::test]
async fn nobody_is_let_in_any_more() {
    let mut site = Site::start().await;
    let mut open = Raw::connect(site.address).await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let mut waiting = session.send(call(1, "wait")).await;
    site.gate.arrived(1).await;
    assert_eq!(open.ask(Ask::call("now", json!({}))).await.status(), 200);
    site.stop();
    open.closed().await;
    let late = tokio::net::TcpStream::connect(site.address).await;
    assert!(late.is_err(), "the listener is closed");
    site.gate.open(1);
    assert_eq!(waiting.answer().await.status(), 200);
    site.stopped().await.expect("an orderly end");
}
