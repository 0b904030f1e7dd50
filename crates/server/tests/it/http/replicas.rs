//! Several servers that share their stores, each with its own address: a client may send each
//! request to another one.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Ask as Asking, Log, Resource, Server, SetupError, Tool, ToolError, Visit};
use turnbuckle_store::MemoryReplicas;

use super::{
    ask::{Ask, call, notice, request},
    asks::{accepted, book},
    raw::Raw,
    site::{SESSIONS, Session, Site, steps, watched},
};
use crate::gate::Gate;

const SECRET: [u8; 32] = [7; 32];

/// Logs a message of low severity.
async fn murmur(log: Log) -> &'static str {
    log.debug("a murmur");
    "murmured"
}

/// Asks the user to visit a page.
async fn pay(Asking(ask): Asking) -> Result<&'static str, ToolError> {
    let visit = Visit::new("Pay, please.", "https://shop.example/pay").id("payment-7");
    ask.visit("pay", visit).await?;
    Ok("paid")
}

fn server(gate: &Gate, stores: &MemoryReplicas) -> Server {
    gate.server()
        .tool(Tool::new("book", book))
        .tool(Tool::new("steps", steps))
        .tool(Tool::new("murmur", murmur))
        .tool(Tool::new("pay", pay))
        .resource(Resource::new("clock://now", async || "noon"))
        .replicas(stores.clone())
}

async fn replica(stores: &MemoryReplicas) -> Site {
    let gate = Gate::new();
    let server = server(&gate, stores).secret(&SECRET);
    Site::serving(server, gate, |http| http).await
}

async fn replicas() -> (Site, Site) {
    let stores = MemoryReplicas::default();
    (replica(&stores).await, replica(&stores).await)
}

/// The same session at another address.
fn moved(session: &Session, to: &Site) -> Session {
    Session {
        address: to.address,
        ..session.clone()
    }
}

fn data(event: &turnbuckle_transport::http::sse::Event) -> Value {
    serde_json::from_str(&event.data).expect("data is JSON")
}

/// Returns the next event that contains a message.
async fn message(stream: &mut Raw) -> (String, Value) {
    loop {
        let event = stream.event().await.expect("the stream goes on");
        if !event.data.is_empty() {
            return (event.id.clone().expect("events have ids"), data(&event));
        }
    }
}

#[tokio::test]
async fn every_replica_serves_the_session_of_another() {
    let (here, there) = replicas().await;
    for revision in SESSIONS {
        let session = Session::open(&here, revision).await;
        assert!(session.id.len() <= 512, "{}", session.id.len());
        for _ in 0..2 {
            let answer = moved(&session, &there).post(call(1, "now")).await;
            assert_eq!(answer.status(), 200, "{}", answer.text());
            assert_eq!(answer.json()["result"]["content"][0]["text"], "now");
        }
    }
    let stranger = Session {
        id: "0".repeat(40),
        ..moved(&Session::open(&here, Revision::V2025_06_18).await, &there)
    };
    assert_eq!(stranger.post(call(1, "now")).await.status(), 404);
}

#[tokio::test]
async fn a_large_handshake_is_kept_elsewhere_and_the_id_stays_short() {
    let (here, there) = replicas().await;
    let capabilities =
        json!({ "elicitation": {}, "experimental": { "x": { "y": "z".repeat(9000) } } });
    let session = Session::open_with(&here, Revision::V2025_11_25, capabilities).await;
    assert!(session.id.len() <= 512, "{}", session.id.len());
    let session = moved(&session, &there);
    // The client has the capability, so it can be asked.
    let mut stream = session.stream(call(1, "book")).await;
    let (_, question) = message(&mut stream).await;
    assert_eq!(question["method"], "elicitation/create");
}

#[tokio::test]
async fn a_session_lives_on_when_its_replica_has_ended() {
    let stores = MemoryReplicas::default();
    let mut here = replica(&stores).await;
    let session = Session::open(&here, Revision::V2025_06_18).await;
    here.stop();
    here.stopped().await.expect("it stops");
    let there = replica(&stores).await;
    let answer = moved(&session, &there).post(call(1, "now")).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "now");
}

#[tokio::test]
async fn what_one_replica_asks_is_answered_through_another() {
    let (here, there) = replicas().await;
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let session = Session::open_with(&here, revision, json!({ "elicitation": {} })).await;
        let mut stream = session.stream(call(1, "book")).await;
        let (_, question) = message(&mut stream).await;
        let answer = moved(&session, &there)
            .post(accepted(&question["id"]))
            .await;
        assert_eq!((answer.status(), answer.body.len()), (202, 0));
        let (_, result) = message(&mut stream).await;
        assert_eq!(result["result"]["content"][0]["text"], "row 7");
        // No call waits for a second answer.
        let again = moved(&session, &there)
            .post(accepted(&question["id"]))
            .await;
        assert_eq!(again.status(), 202);
    }
}

#[tokio::test]
async fn an_answer_for_a_replica_that_has_ended_is_taken_and_dropped() {
    let (here, there) = replicas().await;
    let session =
        Session::open_with(&here, Revision::V2025_06_18, json!({ "elicitation": {} })).await;
    let mut stream = session.stream(call(1, "book")).await;
    let (_, question) = message(&mut stream).await;
    here.live.shutdown().await;
    let answer = moved(&session, &there)
        .post(accepted(&question["id"]))
        .await;
    assert_eq!(answer.status(), 202);
}

#[tokio::test]
async fn a_call_is_cancelled_through_another_replica() {
    let (here, there) = replicas().await;
    let session = Session::open(&here, Revision::V2025_06_18).await;
    let mut running = session.send(call(7, "wait")).await;
    here.gate.arrived(1).await;
    let cancel = notice("notifications/cancelled", json!({ "requestId": 7 }));
    assert_eq!(moved(&session, &there).post(cancel).await.status(), 202);
    here.gate.dropped(1).await;
    running.answer().await;
}

#[tokio::test]
async fn a_stream_goes_on_at_another_replica_while_its_call_runs() {
    let (here, there) = replicas().await;
    for revision in SESSIONS {
        let session = Session::open(&here, revision).await;
        let mut stream = session
            .stream(watched(1, "steps", json!({ "count": 3 })))
            .await;
        let (first, _) = message(&mut stream).await;
        here.gate.arrived(1).await;
        drop(stream);
        let mut stream = moved(&session, &there).resume(&first).await;
        for step in [2.0, 3.0] {
            let (_, progress) = message(&mut stream).await;
            assert_eq!(progress["params"]["progress"], step);
        }
        here.gate.open(1);
        let (last, progress) = message(&mut stream).await;
        assert_eq!(progress["params"]["progress"], 4.0);
        let (_, result) = message(&mut stream).await;
        assert_eq!(result["result"]["content"][0]["text"], "3 steps");
        assert_eq!(stream.event().await, None, "the stream is at its end");
        // The stream can be read again, from any event, on any replica.
        let mut again = moved(&session, &there).resume(&last).await;
        let rest = again.rest().await;
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert_eq!(data(&rest[0]), result);
    }
}

#[tokio::test]
async fn who_reads_a_stream_elsewhere_is_told_soon_that_its_replica_has_ended() {
    let (here, there) = replicas().await;
    let session = Session::open(&here, Revision::V2025_11_25).await;
    let mut stream = session
        .stream(watched("a-b", "steps", json!({ "count": 3 })))
        .await;
    let (first, _) = message(&mut stream).await;
    here.gate.arrived(1).await;
    drop(stream);
    let mut stream = moved(&session, &there).resume(&first).await;
    for _ in [2, 3] {
        message(&mut stream).await;
    }
    // At this point the other replica waits for the next step, or will soon.
    here.live.shutdown().await;
    let told = tokio::time::timeout(Duration::from_secs(5), stream.event()).await;
    let told = told.expect("it is told soon").expect("the stream goes on");
    let error = data(&told);
    assert_eq!(error["id"], "a-b");
    let text = error["error"]["message"].as_str().expect("a text");
    assert!(text.contains("call again"), "{text}");
}

#[tokio::test]
async fn the_stream_of_a_replica_that_has_ended_is_answered_with_an_error() {
    let (here, there) = replicas().await;
    let session = Session::open(&here, Revision::V2025_11_25).await;
    let mut stream = session
        .stream(watched("a-b", "steps", json!({ "count": 1 })))
        .await;
    let (first, _) = message(&mut stream).await;
    here.live.shutdown().await;
    let rest = moved(&session, &there).resume(&first).await.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    let error = data(&rest[0]);
    assert_eq!(error["id"], "a-b");
    let text = error["error"]["message"].as_str().expect("a text");
    assert!(text.contains("call again"), "{text}");
    // Something that never existed has another answer.
    let answer = moved(&session, &there)
        .ask(Ask::get().with("last-event-id", "7-1"))
        .await;
    assert_eq!(answer.status(), 400);
}

#[tokio::test]
async fn a_session_that_ends_at_one_replica_ends_at_all() {
    let (here, there) = replicas().await;
    let session = Session::open(&here, Revision::V2025_11_25).await;
    let mut running = session.send(call(1, "wait")).await;
    here.gate.arrived(1).await;
    let elsewhere = moved(&session, &there);
    let mut standing = elsewhere.listen().await;
    let ended = elsewhere.ask(Ask::new("DELETE", "/mcp")).await;
    assert_eq!(ended.status(), 204);
    here.gate.dropped(1).await;
    running.answer().await;
    standing.rest().await;
    for site in [&here, &there] {
        assert_eq!(
            moved(&session, site).post(call(2, "now")).await.status(),
            404
        );
    }
}

#[tokio::test]
async fn the_log_level_follows_the_session() {
    let (here, there) = replicas().await;
    let session = Session::open(&here, Revision::V2025_06_18).await;
    let elsewhere = moved(&session, &there);
    let quiet = elsewhere.post(call(1, "murmur")).await;
    assert!(!quiet.text().contains("a murmur"), "{}", quiet.text());
    for (number, level) in [(2, "debug"), (3, "error")] {
        let set = request(number, "logging/setLevel", json!({ "level": level }));
        let set = session.post(set).await;
        assert!(set.json().get("result").is_some(), "{}", set.text());
        let said = elsewhere.post(call(number + 10, "murmur")).await;
        assert_eq!(
            said.text().contains("a murmur"),
            level == "debug",
            "{level}"
        );
    }
}

#[tokio::test]
async fn subscriptions_follow_the_session() {
    let (here, there) = replicas().await;
    let session = Session::open(&here, Revision::V2025_06_18).await;
    let elsewhere = moved(&session, &there);
    let mut standing = elsewhere.listen().await;
    let subscribe = request(1, "resources/subscribe", json!({ "uri": "clock://now" }));
    let subscribed = session.post(subscribe).await;
    assert!(
        subscribed.json().get("result").is_some(),
        "{}",
        subscribed.text()
    );
    here.live.changes().resource("clock://now");
    loop {
        let (_, told) = message(&mut standing).await;
        if told["method"] == "notifications/resources/updated" {
            assert_eq!(told["params"]["uri"], "clock://now");
            break;
        }
        // Changes may have been missed before that replica knew the session.
        assert!(
            told["method"]
                .as_str()
                .expect("a method")
                .ends_with("list_changed")
        );
    }
}

// elicitation: a client is notified when an elicitation by URL is complete.
#[tokio::test]
async fn the_end_of_a_visit_reaches_the_stream_at_another_replica() {
    let (here, there) = replicas().await;
    let capabilities = json!({ "elicitation": { "url": {} } });
    let session = Session::open_with(&here, Revision::V2025_11_25, capabilities).await;
    let mut standing = moved(&session, &there).listen().await;
    let mut stream = session.stream(call(1, "pay")).await;
    let (_, question) = message(&mut stream).await;
    assert_eq!(question["params"]["elicitationId"], "payment-7");
    let changes = here.live.changes();
    // The other replica may learn of the elicitation a moment later than the client.
    let visiting = tokio::spawn(async move {
        loop {
            // The client is notified only of its own elicitations.
            changes.elicitation_completed("payment-8");
            changes.elicitation_completed("payment-7");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    loop {
        let (_, told) = message(&mut standing).await;
        if told["method"] == "notifications/elicitation/complete" {
            assert_eq!(told["params"]["elicitationId"], "payment-7");
            break;
        }
        assert!(
            told["method"]
                .as_str()
                .expect("a method")
                .ends_with("list_changed")
        );
    }
    visiting.abort();
}

#[tokio::test]
async fn who_listens_at_another_replica_hears_of_what_may_have_been_missed() {
    let stores = MemoryReplicas::default();
    let here = replica(&stores).await;
    let session = Session::open(&here, Revision::V2025_06_18).await;
    let subscribe = request(1, "resources/subscribe", json!({ "uri": "clock://now" }));
    session.post(subscribe).await;
    let there = replica(&stores).await;
    let mut standing = moved(&session, &there).listen().await;
    while message(&mut standing).await.1["method"] != "notifications/resources/updated" {}
}

#[tokio::test]
async fn http_sse_is_posted_to_any_replica() {
    let (here, there) = replicas().await;
    let mut stream = Raw::streaming(
        here.address,
        Ask::new("GET", "/sse").with("accept", "text/event-stream"),
    )
    .await;
    let endpoint = stream.event().await.expect("where to post").data;
    let post = async |message: Value| {
        let ask = Ask::post(message).at(&format!("/{endpoint}"));
        there.ask(ask).await.status()
    };
    let initialize = json!({
        "protocolVersion": "2024-11-05", "capabilities": {},
        "clientInfo": { "name": "raw", "version": "1" },
    });
    assert_eq!(post(request(0, "initialize", initialize)).await, 202);
    let opened = data(&stream.event().await.expect("an answer"));
    assert_eq!(opened["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(
        post(notice("notifications/initialized", json!({}))).await,
        202
    );
    assert_eq!(post(call(1, "now")).await, 202);
    let answered = data(&stream.event().await.expect("an answer"));
    assert_eq!(answered["result"]["content"][0]["text"], "now");
    drop(stream);
    tokio::time::timeout(Duration::from_secs(30), async {
        while post(call(2, "now")).await != 404 {}
    })
    .await
    .expect("the session ends with its stream");
}

#[tokio::test]
async fn replicas_need_the_same_secret() {
    let stores = MemoryReplicas::default();
    let here = replica(&stores).await;
    let gate = Gate::new();
    let other = server(&gate, &stores).secret(&[8; 32]);
    let there = Site::serving(other, gate, |http| http).await;
    let session = Session::open(&here, Revision::V2025_06_18).await;
    let refused = moved(&session, &there).post(call(1, "now")).await;
    assert_eq!(refused.status(), 404);
    let none = server(&Gate::new(), &stores).build();
    assert_eq!(none.err(), Some(SetupError::ReplicasWithoutSecret));
}
