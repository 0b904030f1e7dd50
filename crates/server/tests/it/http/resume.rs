//! Streams that are interrupted and resumed: event ids, priming, replay and its limits.

use std::collections::HashSet;

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_transport::http::sse::Event;

use super::{
    ask::{Ask, call},
    site::{SESSIONS, SOON, Session, Site, watched},
};

fn data(event: &Event) -> Value {
    serde_json::from_str(&event.data).expect("data is JSON")
}

fn id(event: &Event) -> &str {
    event.id.as_deref().expect("events have ids")
}

/// A session with a call that has reported three steps and waits at the gate.
async fn broken_call(site: &Site, revision: Revision) -> (Session, Vec<Event>) {
    let session = Session::open(site, revision).await;
    let mut stream = session
        .stream(watched(1, "steps", json!({ "count": 3 })))
        .await;
    let mut events = Vec::new();
    while events
        .iter()
        .filter(|event: &&Event| !event.data.is_empty())
        .count()
        < 3
    {
        events.push(stream.event().await.expect("three steps"));
    }
    site.gate.arrived(1).await;
    (session, events)
}

// rule: H8
// transports: since 2025-11-25 the first event SHOULD be an id with empty data, and say when to
// come back.
#[tokio::test]
async fn only_the_newest_sessions_are_primed() {
    let site = Site::start().await;
    for revision in SESSIONS {
        let (_session, events) = broken_call(&site, revision).await;
        let is_primed = revision == Revision::V2025_11_25;
        assert_eq!(events.len(), if is_primed { 4 } else { 3 }, "{revision:?}");
        assert_eq!(events[0].data.is_empty(), is_primed);
        assert_eq!(events[0].retry.is_some(), is_primed);
        // transports: ids MUST be unique across the streams of a session.
        let ids: HashSet<_> = events.iter().map(id).collect();
        assert_eq!(ids.len(), events.len());
    }
}

// rule: H7, H13
// transports: a disconnect SHOULD NOT be taken for a cancellation.
#[tokio::test]
async fn a_call_goes_on_without_its_client_and_is_replayed() {
    let site = Site::start().await;
    for revision in SESSIONS {
        let (session, events) = broken_call(&site, revision).await;
        site.gate.open(1);
        // From the second step on.
        let seen = &events[events.len() - 2];
        let mut stream = session.resume(id(seen)).await;
        let rest = stream.rest().await;
        let steps: Vec<_> = rest
            .iter()
            .map(|event| data(event)["params"]["progress"].as_f64())
            .collect();
        assert_eq!(steps, [Some(3.0), Some(4.0), None], "{revision:?}");
        assert_eq!(rest[0], events[events.len() - 1], "replayed as it was");
        assert_eq!(data(&rest[2])["result"]["content"][0]["text"], "3 steps");
        assert_eq!(site.gate.count_dropped(), 0);
        // It can be replayed again.
        let again = session.resume(id(seen)).await.rest().await;
        assert_eq!(again, rest);
        assert_eq!(session.resume(id(&rest[2])).await.rest().await, []);
    }
}

#[tokio::test]
async fn a_primed_client_that_saw_nothing_misses_nothing() {
    let site = Site::start().await;
    let (session, events) = broken_call(&site, Revision::V2025_11_25).await;
    site.gate.open(1);
    let rest = session.resume(id(&events[0])).await.rest().await;
    assert_eq!(rest.len(), 5);
    assert_eq!(rest[..3], events[1..]);
}

#[tokio::test]
async fn a_client_may_come_back_while_the_call_runs() {
    let site = Site::start().await;
    let (session, events) = broken_call(&site, Revision::V2025_11_25).await;
    let mut first = session.resume(id(&events[3])).await;
    // A client that reconnects has left its old connection, even if that is still open.
    let mut second = session.resume(id(&events[3])).await;
    assert_eq!(first.rest().await, []);
    site.gate.open(1);
    let rest = second.rest().await;
    assert_eq!(rest.len(), 2);
    assert_eq!(data(&rest[1])["id"], 1);
}

// rule: H6
// transports: the server MUST NOT replay messages of another stream.
#[tokio::test]
async fn each_stream_replays_its_own() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let mut streams = Vec::new();
    for number in 1..=3 {
        let mut stream = session
            .stream(watched(number, "steps", json!({ "count": 1 })))
            .await;
        let first = stream.event().await.expect("a step");
        streams.push((number, first));
    }
    site.gate.arrived(3).await;
    site.gate.open(3);
    let mut ids = HashSet::new();
    for (number, first) in &streams {
        let rest = session.resume(id(first)).await.rest().await;
        assert_eq!(rest.len(), 2);
        assert_eq!(data(&rest[1])["id"], *number);
        assert!(
            rest.iter()
                .chain([first])
                .all(|event| ids.insert(id(event).to_owned()))
        );
    }
}

#[tokio::test]
async fn places_that_are_not_there_are_refused() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    for last in ["", "x", "7-1", "0", "-", "99999999999999999999-0", "1-1-1"] {
        let answer = session.ask(Ask::get().with("last-event-id", last)).await;
        assert_eq!(answer.status(), 400, "{last}");
        assert!(answer.text().contains("Last-Event-ID"), "{}", answer.text());
    }
    // The stream of another session is not found either.
    let (other, events) = broken_call(&site, Revision::V2025_11_25).await;
    let ask = Ask::get().with("last-event-id", id(&events[1]));
    assert_eq!(session.ask(ask).await.status(), 400);
    site.gate.open(1);
    drop(other);
}

#[tokio::test]
async fn replay_is_bounded_by_number() {
    let site = Site::set(|settings| settings.replay_events = 2).await;
    let (session, events) = broken_call(&site, Revision::V2025_11_25).await;
    site.gate.open(1);
    session.resume(id(&events[3])).await.rest().await;
    // The newest two of four steps and the answer.
    let rest = session.resume(id(&events[0])).await.rest().await;
    assert_eq!(rest.len(), 2);
    assert_eq!(data(&rest[0])["params"]["progress"].as_f64(), Some(4.0));
    assert_eq!(data(&rest[1])["result"]["content"][0]["text"], "3 steps");
}

#[tokio::test]
async fn replay_is_bounded_by_bytes_but_never_loses_the_answer() {
    let site = Site::set(|settings| settings.replay_bytes = 10).await;
    let (session, events) = broken_call(&site, Revision::V2025_11_25).await;
    site.gate.open(1);
    session.resume(id(&events[3])).await.rest().await;
    let rest = session.resume(id(&events[0])).await.rest().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(data(&rest[0])["result"]["content"][0]["text"], "3 steps");
}

#[tokio::test]
async fn a_stream_that_is_not_resumed_is_forgotten() {
    let site = Site::set(|settings| settings.replay_age = SOON).await;
    let (session, events) = broken_call(&site, Revision::V2025_11_25).await;
    tokio::time::sleep(2 * SOON).await;
    // It is still running, so it is kept.
    let stream = session.resume(id(&events[3])).await;
    drop(stream);
    site.gate.open(1);
    tokio::time::sleep(4 * SOON).await;
    let answer = session
        .ask(Ask::get().with("last-event-id", id(&events[3])))
        .await;
    assert_eq!(answer.status(), 400);
}

#[tokio::test]
async fn a_session_keeps_only_so_many_streams() {
    let site = Site::set(|settings| settings.replay_streams = 2).await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut firsts = Vec::new();
    for number in 1..=4 {
        let answer = session.post(watched(number, "step", json!({}))).await;
        firsts.push(answer.events().remove(0));
    }
    // The third was opened when two were kept, the fourth when three were kept: the newest stay.
    let mut statuses = Vec::new();
    for first in &firsts {
        let ask = session.own(Ask::get().with("last-event-id", id(first)));
        let mut raw = super::raw::Raw::asking(site.address, ask).await;
        statuses.push(raw.head().await.status);
    }
    assert_eq!(statuses, [400, 400, 200, 200]);
}

#[tokio::test]
async fn a_client_that_hangs_up_before_anything_came_cancels_nothing() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let raw = session.send(call(1, "wait")).await;
    site.gate.arrived(1).await;
    drop(raw);
    tokio::time::sleep(SOON).await;
    assert_eq!(site.gate.count_dropped(), 0);
    // And one that sends more than is kept does not wait without end either.
    let mut raw = session
        .send(watched(2, "steps", json!({ "count": 0 })))
        .await;
    site.gate.arrived(1).await;
    raw.send(b"").await;
    drop(raw);
    site.gate.open(2);
    loop {
        // Both ids can be used again as soon as both calls have ended.
        let done = session.post(call(2, "now")).await;
        if done.json().get("result").is_some() {
            break;
        }
        tokio::time::sleep(SOON / 10).await;
    }
    assert_eq!(site.gate.count_dropped(), 0);
}

#[tokio::test]
async fn a_silent_call_becomes_a_stream_that_can_be_resumed() {
    let site = Site::set(|settings| settings.keep_alive = SOON).await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut stream = session.stream(call(1, "wait")).await;
    let prime = stream.event().await.expect("the priming event");
    assert_eq!(prime.data, "");
    assert_eq!(stream.piece().await.as_deref(), Some(&b":\n\n"[..]));
    drop(stream);
    site.gate.open(1);
    let rest = session.resume(id(&prime)).await.rest().await;
    assert_eq!(data(&rest[0])["result"]["content"][0]["text"], "passed");
}
