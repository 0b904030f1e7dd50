//! Handlers that let their client disconnect: the connection closes early, and the client polls.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;

use super::{
    ask::{Ask, call},
    raw::Raw,
    site::{Session, Site, watched},
};

// transports, 2025-11-25: the server MAY close the connection once an event id was sent.
#[tokio::test]
async fn the_connection_closes_and_the_answer_waits() {
    let site = Site::set(|settings| settings.retry = Duration::from_millis(250)).await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut stream = session.stream(watched(1, "leave", json!({}))).await;
    let events = stream.rest().await;
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(events[0].data, "");
    assert_eq!(events[0].retry, Some(Duration::from_millis(250)));
    let last = events[1].id.clone().expect("an id");
    site.gate.arrived(1).await;
    // The client polls too early: the stream is open and empty.
    let early = session.resume(&last).await;
    drop(early);
    site.gate.open(1);
    let rest = session.resume(&last).await.rest().await;
    assert_eq!(rest.len(), 2);
    let result: Value = serde_json::from_str(&rest[1].data).unwrap();
    assert_eq!(result["result"]["content"][0]["text"], "left: true");
    assert_eq!(site.gate.count_dropped(), 0);
}

// rule: H8
#[tokio::test]
async fn a_call_that_said_nothing_is_primed_before_it_closes() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut stream = session.stream(call(1, "leave")).await;
    let events = stream.rest().await;
    assert_eq!(events.len(), 1);
    site.gate.open(1);
    let rest = session
        .resume(events[0].id.as_deref().expect("an id"))
        .await
        .rest()
        .await;
    assert_eq!(rest.len(), 1);
}

#[tokio::test]
async fn where_clients_cannot_come_back_nothing_closes() {
    let site = Site::start().await;
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18] {
        let session = Session::open(&site, revision).await;
        site.gate.open(1);
        let answer = session.post(call(1, "leave")).await;
        assert_eq!(answer.json()["result"]["content"][0]["text"], "left: false");
    }
    site.gate.open(1);
    let mut modern = Raw::asking(site.address, Ask::call("leave", json!({}))).await;
    let answer = modern.answer().await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "left: false");
}
