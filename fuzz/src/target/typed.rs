//! Results that peers send: whatever is in them, reading ends with a value or an error. What is written
//! of a value says what came, compared as JSON that `serde_json` reads by itself: no member is lost, none is
//! invented and none is changed, also those that the specification does not name. Written and read again
//! it is the same value.

use serde::{Serialize, de::DeserializeOwned};
use turnbuckle_protocol::{
    CallToolResult, GetPromptResult, InitializeResult, ListToolsResult, ReadResourceResult,
};

use serde_json::Value;

use super::Target;

pub const TARGET: Target = Target {
    name: "typed",
    run,
    seeds: &[
        br#"{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}],"nextCursor":"x","ttlMs":5}"#,
        br#"{"content":[{"type":"text","text":"t"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource_link","uri":"a:b","name":"n","size":3.0}],"structuredContent":{"a":1},"isError":false}"#,
        br#"{"contents":[{"uri":"a:b","text":"t"},{"uri":"a:c","blob":"AA=="}]}"#,
        br#"{"messages":[{"role":"user","content":{"type":"text","text":"t"}}],"description":"d"}"#,
        br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"tasks":{"list":{}}},"serverInfo":{"name":"n","version":"1"}}"#,
    ],
    words: &[
        "\"type\":\"audio\"", "\"type\":\"resource\"", "\"role\":\"assistant\"", "\"_meta\":{}",
        "\"annotations\":{\"audience\":[\"user\"],\"priority\":0.5}", "\"icons\":[]", "\"title\":\"t\"",
        "\"execution\":{\"taskSupport\":\"optional\"}", "\"isError\":true", "\"size\":", "null", "[]", "{}",
    ],
    is_planted: false,
};

fn run(input: &[u8]) {
    round_trip::<ListToolsResult>(input);
    round_trip::<CallToolResult>(input);
    round_trip::<ReadResourceResult>(input);
    round_trip::<GetPromptResult>(input);
    round_trip::<InitializeResult>(input);
}

fn round_trip<T: Serialize + DeserializeOwned>(input: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(input) else {
        return;
    };
    let once = serde_json::to_value(&read).expect("what was read can be written");
    let came: Value = serde_json::from_slice(input).expect("it was read as JSON already");
    if let Err(difference) = same(&came, &once) {
        panic!("{} is not what came: {once}", difference);
    }
    let again: T = serde_json::from_value(once.clone()).expect("what was written can be read");
    let twice = serde_json::to_value(&again).expect("it can be written again");
    assert_eq!(once, twice, "writing and reading loses nothing");
}

/// Whether both say the same; otherwise where they differ. A member that is null says what a missing one
/// does, and `3.0` is the integer 3.
fn same(came: &Value, written: &Value) -> Result<(), String> {
    match (came, written) {
        (Value::Object(came), Value::Object(written)) => {
            let names = came.keys().chain(written.keys());
            for name in names {
                let [came, written] = [came, written].map(|members| members.get(name));
                let [came, written] = [came, written].map(|value| value.unwrap_or(&Value::Null));
                same(came, written).map_err(|at| format!("/{name}{at}"))?;
            }
            Ok(())
        }
        (Value::Array(came), Value::Array(written)) if came.len() == written.len() => {
            let mut pairs = came.iter().zip(written).enumerate();
            pairs.try_for_each(|(index, (came, written))| {
                same(came, written).map_err(|at| format!("/{index}{at}"))
            })
        }
        (Value::Number(came), Value::Number(written)) if came.as_f64() == written.as_f64() => {
            Ok(())
        }
        (came, written) if came == written => Ok(()),
        _ => Err(String::new()),
    }
}
