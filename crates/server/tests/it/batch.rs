//! Batches: arrays of messages on one line, which exist only in sessions of 2025-03-26.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;

use crate::{
    gate::Gate,
    sample,
    wire::{Wire, modern_meta},
};

fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn call(id: impl Into<Value>, tool: &str) -> Value {
    request(id, "tools/call", &json!({ "name": tool }))
}

async fn session(gate: &Gate) -> Wire {
    Wire::at(&gate.live(), Revision::V2025_03_26).await
}

fn by_id(batch: &Value, id: &Value) -> Value {
    let members = batch.as_array().expect("a batch is answered with a batch");
    let mut answers = members.iter().filter(|answer| answer["id"] == *id);
    let answer = answers
        .next()
        .unwrap_or_else(|| panic!("no answer to {id} in {batch}"));
    assert!(answers.next().is_none(), "two answers to {id} in {batch}");
    answer.clone()
}

// rule: J5
#[tokio::test]
async fn the_requests_of_a_batch_are_answered_together_and_the_rest_is_not() {
    let mut wire = session(&Gate::new()).await;
    wire.send(&json!([
        request(1, "ping", &json!({})),
        { "jsonrpc": "2.0", "method": "notifications/roots/list_changed" },
        call("two", "now"),
        { "jsonrpc": "2.0", "id": 8, "result": {} },
        request(3, "no/such", &json!({})),
        { "jsonrpc": "2.0", "id": 4, "method": 4 },
        17,
        [request(5, "ping", &json!({}))],
    ]))
    .await;
    let batch = wire.receive().await;
    assert_eq!(batch.as_array().map(Vec::len), Some(6), "{batch}");
    assert_eq!(by_id(&batch, &json!(1))["result"], json!({}));
    assert_eq!(
        by_id(&batch, &json!("two"))["result"]["content"][0]["text"],
        "now"
    );
    assert_eq!(by_id(&batch, &json!(3))["error"]["code"], -32601);
    assert_eq!(by_id(&batch, &json!(4))["error"]["code"], -32600);
    let unreadable = batch
        .as_array()
        .into_iter()
        .flatten()
        .filter(|answer| answer["id"].is_null());
    assert_eq!(
        unreadable
            .filter(|answer| answer["error"]["code"] == -32600)
            .count(),
        2
    );
    wire.assert_quiet().await;
}

#[tokio::test]
async fn slow_and_fast_requests_share_one_answer_and_run_side_by_side() {
    let gate = Gate::new();
    let mut wire = session(&gate).await;
    wire.send(&json!([
        call(1, "wait"),
        call(2, "now"),
        call(3, "wait"),
        request(4, "ping", &json!({}))
    ]))
    .await;
    gate.arrived(2).await;
    // Other requests are served meanwhile, and no part of the batch has been answered.
    wire.assert_quiet().await;
    gate.open(1);
    wire.assert_quiet().await;
    gate.open(1);
    let batch = wire.receive().await;
    assert_eq!(batch.as_array().map(Vec::len), Some(4), "{batch}");
    for (id, text) in [(1, "passed"), (2, "now"), (3, "passed")] {
        assert_eq!(
            by_id(&batch, &json!(id))["result"]["content"][0]["text"],
            text
        );
    }
}

#[tokio::test]
async fn a_batch_without_requests_has_no_answer() {
    let mut wire = session(&Gate::new()).await;
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/never" });
    wire.send(&json!([notification, notification])).await;
    wire.send(&json!([{ "jsonrpc": "2.0", "id": 1, "result": {} }]))
        .await;
    wire.send(&json!([{ "jsonrpc": "2.0", "method": 7 }])).await;
    wire.assert_quiet().await;
}

#[tokio::test]
async fn an_empty_batch_is_an_invalid_request() {
    let mut wire = session(&Gate::new()).await;
    wire.send(&json!([])).await;
    let answer = wire.receive().await;
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32600), &Value::Null)
    );
}

// rule: J5
#[tokio::test]
async fn initialize_is_refused_in_a_batch() {
    // lifecycle (2025-03-26): initialize MUST NOT be part of a batch.
    let mut wire = session(&Gate::new()).await;
    wire.send(&json!([
        request(1, "initialize", &json!({})),
        request(2, "ping", &json!({}))
    ]))
    .await;
    let batch = wire.receive().await;
    assert_eq!(by_id(&batch, &json!(1))["error"]["code"], -32600);
    assert_eq!(by_id(&batch, &json!(2))["result"], json!({}));
    // If it is the first message, it is a batch outside of a session, which is rejected as a whole.
    let mut wire = Wire::open(&sample::server());
    wire.send(&json!([request(
        1,
        "initialize",
        &json!({ "protocolVersion": "2025-03-26" })
    )]))
    .await;
    assert_eq!(wire.receive().await["error"]["code"], -32600);
    wire.assert_quiet().await;
}

// rule: J6
#[tokio::test]
async fn other_revisions_refuse_a_batch_whole_and_run_none_of_it() {
    let gate = Gate::new();
    let mut wires = vec![Wire::open(&gate.live())];
    for revision in Revision::LEGACY
        .iter()
        .copied()
        .filter(|one| *one != Revision::V2025_03_26)
    {
        wires.push(Wire::at(&gate.live(), revision).await);
    }
    for mut wire in wires {
        let mut modern = call(2, "wait");
        modern["params"]["_meta"] = modern_meta();
        wire.send(&json!([call(1, "wait"), modern])).await;
        let answer = wire.receive().await;
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .is_some_and(|text| text.contains("one by one"))
        );
        wire.assert_quiet().await;
    }
    assert_eq!(gate.count_arrived(), 0);
}

// rule: J6
#[tokio::test]
async fn modern_requests_do_not_travel_in_batches() {
    let gate = Gate::new();
    let mut wire = session(&gate).await;
    let mut slow = call(1, "wait");
    slow["params"]["_meta"] = modern_meta();
    let listen = json!({ "notifications": { "toolsListChanged": true }, "_meta": modern_meta() });
    wire.send(&json!([
        slow,
        request(2, "subscriptions/listen", &listen),
        request(3, "ping", &json!({}))
    ]))
    .await;
    let batch = wire.receive().await;
    assert_eq!(by_id(&batch, &json!(1))["error"]["code"], -32600);
    assert_eq!(by_id(&batch, &json!(2))["error"]["code"], -32600);
    assert_eq!(by_id(&batch, &json!(3))["result"], json!({}));
    assert_eq!(gate.count_arrived(), 0);
}

#[tokio::test]
async fn a_duplicate_id_in_a_batch_is_refused() {
    let gate = Gate::new();
    let mut wire = session(&gate).await;
    wire.send(&json!([call(1, "wait"), call(1, "wait"), call(2, "now")]))
        .await;
    gate.arrived(1).await;
    gate.open(2);
    let batch = wire.receive().await;
    let answers: Vec<&Value> = batch
        .as_array()
        .into_iter()
        .flatten()
        .filter(|answer| answer["id"] == 1)
        .collect();
    assert_eq!(answers.len(), 2, "{batch}");
    assert_eq!(
        answers
            .iter()
            .filter(|answer| answer["error"]["code"] == -32600)
            .count(),
        1
    );
    assert_eq!(gate.count_arrived(), 0, "the second did not run");
}

#[tokio::test]
async fn a_cancelled_member_leaves_the_batch_and_the_others_stay() {
    let gate = Gate::new();
    let mut wire = session(&gate).await;
    wire.send(&json!([call(1, "wait"), call(2, "wait")])).await;
    gate.arrived(2).await;
    wire.cancel(&json!(1)).await;
    gate.dropped(1).await;
    gate.open(1);
    let batch = wire.receive().await;
    assert_eq!(batch.as_array().map(Vec::len), Some(1), "{batch}");
    by_id(&batch, &json!(2));
    // A batch whose requests are all cancelled has no answer at all.
    wire.send(&json!([call(3, "wait")])).await;
    gate.arrived(1).await;
    wire.cancel(&json!(3)).await;
    gate.dropped(1).await;
    wire.assert_quiet().await;
}

#[tokio::test]
async fn a_member_can_cancel_another_of_its_batch() {
    let gate = Gate::new();
    let mut wire = session(&gate).await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    wire.send(&json!([call(1, "wait"), cancel, call(2, "now")]))
        .await;
    gate.dropped(1).await;
    let batch = wire.receive().await;
    assert_eq!(batch.as_array().map(Vec::len), Some(1), "{batch}");
    by_id(&batch, &json!(2));
}

#[tokio::test]
async fn a_batch_is_answered_after_the_end_of_input() {
    let gate = Gate::new();
    let mut wire = session(&gate).await;
    wire.send(&json!([call(1, "wait"), call(2, "wait"), call(3, "now")]))
        .await;
    wire.end_input().await;
    gate.arrived(2).await;
    gate.open(2);
    let rest = wire.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0].as_array().map(Vec::len), Some(3));
    wire.ended().await.expect("in peace");
}
