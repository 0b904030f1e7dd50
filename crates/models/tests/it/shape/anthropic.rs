//! `POST /v1/messages`: docs.claude.com/en/api/messages.

use serde_json::Value;

use super::schema;
use super::value::{array, name, number, object, one_of, text};

#[track_caller]
pub(crate) fn check(body: &Value) {
    let members = object(
        body,
        "body",
        &["model", "messages", "max_tokens"],
        &[
            "system",
            "tools",
            "tool_choice",
            "stream",
            "temperature",
            "stop_sequences",
            "metadata",
        ],
    );
    text(&members["model"], "model");
    number(members.get("max_tokens"), "max_tokens", 1.0, 1e9);
    number(members.get("temperature"), "temperature", 0.0, 1.0);
    if let Some(system) = members.get("system") {
        assert!(!text(system, "system").is_empty(), "an empty system prompt");
    }
    for stop in members
        .get("stop_sequences")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        assert!(
            !text(stop, "stop_sequences").trim().is_empty(),
            "a stop sequence of blanks"
        );
    }
    if let Some(metadata) = members.get("metadata") {
        object(metadata, "metadata", &[], &["user_id"]);
    }
    if let Some(choice) = members.get("tool_choice") {
        object(
            choice,
            "tool_choice",
            &["type"],
            &["disable_parallel_tool_use"],
        );
        one_of(
            &choice["type"],
            "tool_choice/type",
            &["auto", "any", "none"],
        );
        assert!(members.contains_key("tools"), "tool_choice without tools");
    }
    for tool in members
        .get("tools")
        .map(|tools| array(tools, "tools"))
        .into_iter()
        .flatten()
    {
        object(tool, "tool", &["name", "input_schema"], &["description"]);
        name(&tool["name"], "tool/name", 64, "");
        schema::json_schema(
            &tool["input_schema"],
            "input_schema",
            &["oneOf", "anyOf", "allOf"],
        );
        schema::property_names(&tool["input_schema"], "input_schema");
    }
    messages(array(&members["messages"], "messages"));
}

#[track_caller]
fn messages(messages: &[Value]) {
    assert!(!messages.is_empty(), "no messages");
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        object(message, "message", &["role", "content"], &[]);
        let role = text(&message["role"], "role");
        let wanted = ["user", "assistant"][index % 2];
        assert_eq!(role, wanted, "message {index} of {messages:?}");
        let content = array(&message["content"], "content");
        assert!(!content.is_empty(), "an empty message: {message}");
        let mut is_past_results = false;
        let mut calls = Vec::new();
        for block in content {
            match text(&block["type"], "block/type") {
                "tool_result" => {
                    assert!(!is_past_results, "tool results come first: {message}");
                    let id = tool_result(block);
                    let before = open.len();
                    open.retain(|open| *open != id);
                    assert!(open.len() < before, "result of no call: {block}");
                }
                "tool_use" => {
                    assert_eq!(role, "assistant");
                    object(block, "tool_use", &["type", "id", "name", "input"], &[]);
                    name(&block["id"], "tool_use/id", 64, "");
                    name(&block["name"], "tool_use/name", 64, "");
                    assert!(block["input"].is_object(), "{block}");
                    calls.push(text(&block["id"], "tool_use/id"));
                }
                _ => {
                    is_past_results = true;
                    media(block);
                }
            }
        }
        assert!(
            open.is_empty(),
            "tool calls {open:?} have no result in the next message"
        );
        open = calls;
    }
    assert!(open.is_empty(), "tool calls {open:?} have no result");
}

#[track_caller]
fn tool_result(block: &Value) -> &str {
    object(
        block,
        "tool_result",
        &["type", "tool_use_id"],
        &["content", "is_error"],
    );
    for block in block
        .get("content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        media(block);
    }
    text(&block["tool_use_id"], "tool_use_id")
}

#[track_caller]
fn media(block: &Value) {
    let source = |kinds: &[&str]| {
        object(block, "media", &["type", "source"], &[]);
        object(
            &block["source"],
            "source",
            &["type", "media_type", "data"],
            &[],
        );
        one_of(&block["source"]["type"], "source/type", &["base64"]);
        one_of(&block["source"]["media_type"], "media_type", kinds);
    };
    match text(&block["type"], "block/type") {
        "text" => {
            object(block, "text", &["type", "text"], &[]);
            let text = text(&block["text"], "text");
            assert!(
                !text.trim().is_empty(),
                "text content blocks must be non-empty"
            );
        }
        "image" => source(&["image/png", "image/jpeg", "image/gif", "image/webp"]),
        "document" => source(&["application/pdf"]),
        other => panic!("block `{other}`"),
    }
}
