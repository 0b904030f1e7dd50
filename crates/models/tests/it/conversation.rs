//! A conversation with every kind of content, for all formats.

use serde_json::{Value, json};
use turnbuckle_protocol::{CreateMessageRequestParams, Tool};

pub(crate) fn tool(name: &str, schema: Value) -> Tool {
    let Value::Object(schema) = schema else {
        panic!("a schema is an object")
    };
    Tool::new(name, schema).with_description(format!("The tool {name}."))
}

/// Texts, pictures, sounds, files, links, tool calls, results and an error.
pub(crate) fn everything() -> CreateMessageRequestParams {
    serde_json::from_value(json!({
        "systemPrompt": "Be brief.",
        "maxTokens": 100,
        "temperature": 0.5,
        "stopSequences": ["END"],
        "toolChoice": {"mode": "required"},
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "What is in these?"},
                {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
                {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            ]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "a", "name": "files/read", "input": {"path": "x"}},
                {"type": "tool_use", "id": "not an id!", "name": "fail", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "toolUseId": "a", "content": [
                    {"type": "text", "text": "plain"},
                    {"type": "text", "text": "secret", "annotations": {"audience": ["user"]}},
                    {"type": "image", "data": "/9j/4AAQ", "mimeType": "image/jpeg"},
                    {"type": "audio", "data": "aGk=", "mimeType": "audio/ogg"},
                    {"type": "resource_link", "uri": "file:///l", "name": "linked", "size": 3},
                    {"type": "resource", "resource": {"uri": "file:///t", "text": "inside"}},
                    {"type": "resource", "resource": {
                        "uri": "file:///d/f.pdf", "mimeType": "application/pdf", "blob": "aGk="}},
                    {"type": "resource", "resource": {
                        "uri": "file:///b", "mimeType": "application/zip", "blob": "aGk="}},
                    {"type": "video", "data": "aGk="},
                ]},
                {"type": "tool_result", "toolUseId": "not an id!", "isError": true, "content": [
                    {"type": "text", "text": "no such thing"},
                ]},
            ]},
            {"role": "assistant", "content": {"type": "text", "text": "Done."}},
            {"role": "user", "content": {"type": "text", "text": "Thanks."}},
        ],
    }))
    .expect("it is a request of the protocol")
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        tool(
            "files/read",
            json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        ),
        tool("fail", json!({"type": "object"})),
    ]
}
