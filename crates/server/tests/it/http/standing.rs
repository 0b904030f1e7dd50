//! The standing streams of a session: `GET <endpoint>`.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{KeepAlive, Server, Tool};
use turnbuckle_transport::http::sse::Event;

use super::{
    ask::{Ask, call},
    site::{SESSIONS, SOON, Session, Site},
};
use crate::gate::Gate;

const CHANGED: &str = "notifications/tools/list_changed";

fn add(site: &Site, name: &str) {
    let tool = Tool::new(name, async || "added");
    site.live.catalog().add_tool(tool).expect("a tool");
}

fn is_change(event: &Event) -> bool {
    event.data.contains(CHANGED)
}

// rule: H4
#[tokio::test]
async fn changes_are_told_to_every_session_on_its_standing_stream() {
    let site = Site::start().await;
    let mut streams = Vec::new();
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        let mut stream = session.listen().await;
        if revision == Revision::V2025_11_25 {
            assert_eq!(stream.event().await.expect("the priming event").data, "");
        }
        streams.push((session, stream));
    }
    add(&site, "late");
    for (_session, stream) in &mut streams {
        let message = stream.message().await;
        assert_eq!(message["method"], CHANGED);
        assert_eq!(message.get("id"), None);
        // Sessions have no subscription ids.
        assert!(!message.to_string().contains("subscriptionId"));
    }
}

#[tokio::test]
async fn what_changed_before_the_stream_opened_is_told_when_it_does() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    add(&site, "early");
    assert_eq!(session.listen().await.message().await["method"], CHANGED);
}

// rule: H5
// transports: each message goes on one stream only.
#[tokio::test]
async fn of_two_streams_one_gets_each_message() {
    let site = Site::set(|settings| settings.keep_alive = SOON).await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let mut older = session.listen().await;
    add(&site, "one");
    let first = older.event().await.expect("a change");
    let mut newer = session.listen().await;
    add(&site, "two");
    let second = newer.event().await.expect("a change");
    assert!(is_change(&first) && is_change(&second));
    assert_ne!(first.id, second.id);
    // The older one is still open, and silent.
    assert_eq!(older.piece().await.as_deref(), Some(&b":\n\n"[..]));
    // When the newer one closes, the older one continues.
    drop(newer);
    let mut third = None;
    for number in 0..100 {
        // It takes the server a moment to notice that it closed.
        add(&site, &format!("three.{number}"));
        if let Ok(event) = timeout(SOON, older.event()).await {
            third = event;
            break;
        }
    }
    assert!(third.as_ref().is_some_and(is_change));
    // transports: a response MUST NOT come on a stream that a GET opened.
    let called = session.post(call(9, "now")).await;
    assert_eq!(called.json()["id"], 9);
    let mut piece = older.piece().await;
    while piece.as_deref().is_some_and(|piece| piece != b":\n\n") {
        assert!(!String::from_utf8_lossy(&piece.unwrap()).contains("result"));
        piece = older.piece().await;
    }
    drop(older);
    // transports: what went over the newer stream MUST NOT be replayed on the older one.
    let mut resumed = session.resume(first.id.as_deref().expect("an id")).await;
    assert_eq!(resumed.event().await, third);
    add(&site, "four");
    assert!(is_change(&resumed.event().await.expect("it goes on")));
}

#[tokio::test]
async fn a_standing_stream_that_broke_is_resumed() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let mut stream = session.listen().await;
    let prime = stream.event().await.expect("the priming event");
    add(&site, "one");
    let one = stream.event().await.expect("a change");
    drop(stream);
    add(&site, "two");
    let mut resumed = session.resume(one.id.as_deref().expect("an id")).await;
    assert!(is_change(&resumed.event().await.expect("what was missed")));
    drop(resumed);
    let mut resumed = session.resume(prime.id.as_deref().expect("an id")).await;
    assert_eq!(resumed.event().await, Some(one));
    // A new stream begins with the current state of the session, and repeats nothing.
    let mut fresh = session.listen().await;
    let prime_of_fresh = fresh.event().await.expect("the priming event");
    assert_ne!(prime.id, prime_of_fresh.id);
    add(&site, "three");
    assert!(is_change(&fresh.event().await.expect("a change")));
}

#[tokio::test]
async fn quiet_streams_are_kept_alive() {
    let site = Site::set(|settings| settings.keep_alive = SOON).await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let mut stream = session.listen().await;
    for _ in 0..3 {
        assert_eq!(stream.piece().await.as_deref(), Some(&b":\n\n"[..]));
    }
}

#[tokio::test]
async fn a_stream_wants_to_be_accepted() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let answer = session
        .ask(Ask::get().with("accept", "application/json"))
        .await;
    assert_eq!(answer.status(), 406);
    assert_eq!(
        session.ask(Ask::get().with("accept", "")).await.status(),
        406
    );
}

#[tokio::test]
async fn deleting_the_session_ends_its_streams() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_06_18).await;
    let mut older = session.listen().await;
    let mut newer = session.listen().await;
    assert_eq!(session.ask(Ask::new("DELETE", "/mcp")).await.status(), 204);
    assert_eq!(newer.rest().await, []);
    assert_eq!(older.rest().await, []);
    add(&site, "late");
    let discovered = site.ask(Ask::modern("tools/list", json!({}))).await;
    assert_eq!(discovered.status(), 200);
}

// rule: PG1, PG2
#[tokio::test]
async fn a_session_that_listens_and_leaves_pings_without_an_answer_ends() {
    let pings = KeepAlive::every(Duration::from_millis(5))
        .timeout(Duration::from_millis(500))
        .failures(2);
    let server = Server::new("s", "1").keep_alive(pings);
    let site = Site::serving(server, Gate::new(), |http| http).await;
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        let mut stream = session.listen().await;
        if revision == Revision::V2025_11_25 {
            assert_eq!(stream.event().await.expect("the priming event").data, "");
        }
        for _ in 0..3 {
            let ping = stream.message().await;
            assert_eq!(ping["method"], "ping", "{revision}");
            let answer = json!({ "jsonrpc": "2.0", "id": ping["id"], "result": {} });
            assert_eq!(session.post(answer).await.status(), 202);
        }
        let rest = stream.rest().await;
        let pinged = rest.iter().filter(|event| event.data.contains("\"ping\""));
        assert_eq!(pinged.count(), 2, "{revision}");
        let answer = session.post(call(1, "echo")).await;
        assert_eq!(answer.status(), 404, "{revision}");
    }
}
