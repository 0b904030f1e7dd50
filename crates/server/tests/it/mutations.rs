//! Messages that are damaged in every way: the connection survives, and every answer is valid
//! JSON-RPC.

use proptest::prelude::*;
use serde_json::{Value, json};
use turnbuckle_protocol::Revision;

use crate::{
    sample,
    wire::{Wire, modern_meta},
};

/// Messages of a client, before they are damaged.
fn messages() -> Vec<String> {
    let meta = modern_meta();
    let arrive = json!({ "name": "arrive", "arguments": { "from": "Bern", "hours": 2 } });
    let mut modern = arrive.clone();
    modern["_meta"] = meta.clone();
    let reference = json!({ "type": "ref/prompt", "name": "plan" });
    let requests = [
        ("tools/call", arrive),
        ("tools/call", modern),
        ("tools/list", json!({ "cursor": "t1" })),
        (
            "prompts/get",
            json!({ "name": "plan", "arguments": { "city": "Bern", "days": "3" } }),
        ),
        ("resources/read", json!({ "uri": "tile://3/4" })),
        (
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "city", "value": "" } }),
        ),
        (
            "subscriptions/listen",
            json!({ "notifications": { "toolsListChanged": true }, "_meta": meta }),
        ),
        ("server/discover", json!({ "_meta": meta })),
        (
            "initialize",
            json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } }),
        ),
    ];
    let mut messages: Vec<String> = requests
        .into_iter()
        .enumerate()
        .map(|(id, (method, params))| {
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
        })
        .collect();
    messages.push(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#.into(),
    );
    messages.push(format!("[{},{}]", messages[0], messages[3]));
    messages
}

#[derive(Clone, Debug)]
enum Damage {
    None,
    /// Replaces a byte.
    Byte(prop::sample::Index, u8),
    /// Cuts the message off.
    Cut(prop::sample::Index),
    /// Removes a part.
    Hole(prop::sample::Index, prop::sample::Index),
    /// Repeats a part.
    Echo(prop::sample::Index, prop::sample::Index),
    /// Replaces a JSON token of the message by another value.
    Value(prop::sample::Index, &'static str),
}

/// Values that are valid JSON but rarely expected.
const VALUES: &[&str] = &[
    "null",
    "-1",
    "1e400",
    "\"\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "true",
    "[[[]]]",
    "\"\\ud800\"",
];

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        Just(Damage::None),
        (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        place().prop_map(Damage::Cut),
        (place(), place()).prop_map(|(from, to)| Damage::Hole(from, to)),
        (place(), place()).prop_map(|(from, to)| Damage::Echo(from, to)),
        (place(), prop::sample::select(VALUES)).prop_map(|(at, value)| Damage::Value(at, value)),
    ]
}

fn damaged(message: &str, damage: &Damage) -> Vec<u8> {
    let mut bytes = message.as_bytes().to_vec();
    let span = |from: &prop::sample::Index, to: &prop::sample::Index| {
        let (from, to) = (from.index(message.len()), to.index(message.len()));
        from.min(to)..from.max(to)
    };
    match damage {
        Damage::None => {}
        Damage::Byte(at, byte) => bytes[at.index(message.len())] = *byte,
        Damage::Cut(at) => bytes.truncate(at.index(message.len())),
        Damage::Hole(from, to) => drop(bytes.drain(span(from, to))),
        Damage::Echo(from, to) => {
            let piece = bytes[span(from, to)].to_vec();
            let at = to.index(message.len());
            bytes.splice(at..at, piece);
        }
        Damage::Value(at, value) => {
            let colons: Vec<usize> = message
                .match_indices(':')
                .map(|(index, _)| index + 1)
                .collect();
            let from = *at.get(&colons);
            let to = message[from..]
                .find([',', '}'])
                .map_or(message.len(), |end| from + end);
            bytes.splice(from..to, value.bytes());
        }
    }
    bytes.push(b'\n');
    bytes
}

/// Sends all lines and asserts that the connection survives: it answers the last request.
async fn survives(lines: Vec<Vec<u8>>, revision: Option<Revision>) {
    let mut wire = match revision {
        Some(revision) => Wire::at(&sample::server(), revision).await,
        None => Wire::open(&sample::server()),
    };
    for line in lines {
        wire.send_bytes(&line).await;
    }
    let last = json!({ "jsonrpc": "2.0", "id": "last", "method": "server/discover", "params": { "_meta": modern_meta() } });
    wire.send_bytes(format!("\n{last}\n").as_bytes()).await;
    loop {
        let line = wire.next_line().await.expect("the connection is alive");
        let message: Value = serde_json::from_str(&line).expect("the server speaks JSON");
        for message in message
            .as_array()
            .map_or(std::slice::from_ref(&message), Vec::as_slice)
        {
            let kinds = ["result", "error", "method"];
            let said = kinds
                .iter()
                .filter(|kind| message.get(**kind).is_some())
                .count();
            assert_eq!((&message["jsonrpc"], said), (&json!("2.0"), 1), "{line}");
        }
        if message["id"] == "last" {
            return assert!(message.get("result").is_some(), "{line}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_connection_survives_whatever_is_sent(
        script in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..30),
        revision in prop::option::of(prop::sample::select(Revision::LEGACY)),
    ) {
        let messages = messages();
        let lines = script
            .iter()
            .map(|(which, damage)| damaged(&messages[which.index(messages.len())], damage))
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(survives(lines, revision));
    }
}
