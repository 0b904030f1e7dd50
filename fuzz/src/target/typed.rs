//! Results of peers: whatever they contain, parsing ends with a value or an error, and a value
//! can be written and parsed again without loss.

use serde::{Serialize, de::DeserializeOwned};
use turnbuckle_protocol::{
    CallToolResult, GetPromptResult, InitializeResult, ListToolsResult, ReadResourceResult,
};

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
    let again: T = serde_json::from_value(once.clone()).expect("what was written can be read");
    let twice = serde_json::to_value(&again).expect("it can be written again");
    assert_eq!(once, twice, "writing and reading loses nothing");
}
