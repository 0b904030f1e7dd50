//! Batches over HTTP: only sessions of 2025-03-26 accept them.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;

use super::{
    ask::{Ask, call, modern_message, notice, request},
    site::{Session, Site, watched},
};

#[tokio::test]
async fn answers_that_are_ready_come_as_one_array() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_03_26).await;
    let batch = json!([
        request(1, "ping", json!({})),
        notice("notifications/progress", json!({})),
        call("two", "now"),
        call(3, "no-such-tool"),
    ]);
    let answer = session.post(batch).await;
    assert_eq!(answer.status(), 200);
    let all = answer.json();
    let ids: Vec<_> = all
        .as_array()
        .expect("an array")
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, [&json!(1), &json!("two"), &json!(3)]);
    assert_eq!(all[0]["result"], json!({}));
    assert_eq!(all[2]["error"]["code"], -32602);
}

#[tokio::test]
async fn answers_that_take_time_come_as_a_stream() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_03_26).await;
    let batch = json!([
        call(1, "wait"),
        call(2, "now"),
        watched(3, "steps", json!({ "count": 1 })),
        call(4, "wait"),
    ]);
    let mut stream = session.stream(batch).await;
    site.gate.arrived(3).await;
    let params = json!({ "requestId": 4 });
    session
        .post(notice("notifications/cancelled", params))
        .await;
    site.gate.dropped(1).await;
    site.gate.open(2);
    let messages: Vec<Value> = stream
        .rest()
        .await
        .iter()
        .map(|event| serde_json::from_str(&event.data).expect("JSON"))
        .collect();
    let mut ids: Vec<_> = messages
        .iter()
        .filter_map(|message| message["id"].as_i64())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3], "{messages:?}");
    let progress = messages
        .iter()
        .filter(|message| message["method"] == "notifications/progress");
    assert_eq!(progress.count(), 2);
}

#[tokio::test]
async fn a_batch_of_large_answers_and_a_slow_one_does_not_stall() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_03_26).await;
    let letters = |id| {
        let params = json!({ "name": "letters", "arguments": { "count": 700_000 } });
        request(id, "tools/call", params)
    };
    let batch = json!([letters(1), letters(2), letters(3), call(4, "wait")]);
    let mut stream = session.stream(batch).await;
    site.gate.open(1);
    assert_eq!(stream.rest().await.len(), 4);
}

#[tokio::test]
async fn a_batch_without_requests_is_taken_without_a_word() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_03_26).await;
    let batch = json!([
        notice("notifications/initialized", json!({})),
        { "jsonrpc": "2.0", "id": 9, "result": {} },
    ]);
    let answer = session.post(batch).await;
    assert_eq!((answer.status(), answer.body.len()), (202, 0));
}

#[tokio::test]
async fn some_requests_are_refused_in_a_batch() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_03_26).await;
    let batch = json!([
        request(1, "initialize", json!({})),
        modern_message(2, "tools/list", json!({})),
        17,
        { "jsonrpc": "2.0", "id": 3 },
    ]);
    let all = session.post(batch).await.json();
    let all = all.as_array().expect("an array");
    assert_eq!(all.len(), 4);
    assert!(
        all.iter().all(|one| one["error"]["code"] == -32600),
        "{all:?}"
    );
    assert_eq!((&all[0]["id"], &all[1]["id"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn batches_are_refused_in_other_revisions() {
    let site = Site::start().await;
    let batch = json!([request(1, "ping", json!({}))]);
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let session = Session::open(&site, revision).await;
        let answer = session.post(batch.clone()).await;
        assert_eq!((answer.status(), answer.code()), (400, -32600));
    }
    let modern = Ask::modern("ping", json!({})).body(batch.to_string());
    assert_eq!(site.ask(modern).await.status(), 400);
    let stranger = Ask::post(batch).with("mcp-session-id", "unknown");
    assert_eq!(site.ask(stranger).await.status(), 404);
}

#[tokio::test]
async fn batches_are_bounded_and_must_be_whole() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_03_26).await;
    for (body, code) in [
        ("[]".to_owned(), -32600),
        ("[{]".to_owned(), -32700),
        ("[1".to_owned(), -32700),
        (format!("[{}1]", "1,".repeat(1024)), -32600),
        // It is also too long, but like on a line transport it is first of all not JSON.
        (format!("[{}", "1,".repeat(20_000)), -32700),
    ] {
        let answer = session.ask(Ask::post("").body(body)).await;
        assert_eq!((answer.status(), answer.code()), (400, code));
    }
    // Longer than the part that is searched.
    let endless = format!("[{}", "1,".repeat(1_000_000));
    let answer = session.ask(Ask::post("").body(endless)).await;
    assert_eq!((answer.status(), answer.code()), (413, -32600));
}
