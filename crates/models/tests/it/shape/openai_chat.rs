//! `POST /v1/chat/completions`: platform.openai.com/docs/api-reference/chat/create.

use serde_json::Value;

use super::schema;
use super::value::{array, data_url, name, number, object, one_of, text};

const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

#[track_caller]
pub(crate) fn check(body: &Value) {
    let members = object(
        body,
        "body",
        &["model", "messages"],
        &[
            "tools",
            "tool_choice",
            "stream",
            "stream_options",
            "max_tokens",
            "max_completion_tokens",
            "temperature",
            "stop",
        ],
    );
    text(&members["model"], "model");
    number(members.get("temperature"), "temperature", 0.0, 2.0);
    for limit in ["max_tokens", "max_completion_tokens"] {
        number(members.get(limit), limit, 1.0, 1e9);
    }
    if let Some(stop) = members.get("stop") {
        assert!((1..=4).contains(&array(stop, "stop").len()), "stop: {stop}");
    }
    if let Some(options) = members.get("stream_options") {
        object(options, "stream_options", &["include_usage"], &[]);
        assert_eq!(
            members.get("stream"),
            Some(&Value::Bool(true)),
            "stream_options"
        );
    }
    if let Some(choice) = members.get("tool_choice") {
        one_of(choice, "tool_choice", &["none", "auto", "required"]);
        assert!(members.contains_key("tools"), "tool_choice without tools");
    }
    if let Some(tools) = members.get("tools") {
        let tools = array(tools, "tools");
        assert!((1..=128).contains(&tools.len()), "{} tools", tools.len());
        tools.iter().for_each(tool);
    }
    messages(array(&members["messages"], "messages"));
}

#[track_caller]
fn tool(tool: &Value) {
    object(tool, "tool", &["type", "function"], &[]);
    one_of(&tool["type"], "tool/type", &["function"]);
    let function = &tool["function"];
    object(
        function,
        "function",
        &["name"],
        &["description", "parameters", "strict"],
    );
    name(&function["name"], "function/name", 64, "");
    let refused = ["oneOf", "anyOf", "allOf", "enum", "const", "not"];
    schema::json_schema(&function["parameters"], "parameters", &refused);
    if let Some(description) = function.get("description") {
        let description = text(description, "description");
        assert!(
            description.chars().count() <= 1024,
            "description: {}",
            description.len()
        );
    }
}

#[track_caller]
fn messages(messages: &[Value]) {
    assert!(!messages.is_empty(), "no messages");
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let role = text(&message["role"], "role");
        assert!(
            open.is_empty() || role == "tool",
            "tool calls {open:?} must be followed by tool messages: {message}"
        );
        match role {
            "system" => {
                object(message, "system", &["role", "content"], &[]);
                text(&message["content"], "system/content");
            }
            "user" => {
                object(message, "user", &["role", "content"], &[]);
                content(&message["content"]);
            }
            "assistant" => {
                object(message, "assistant", &["role", "content"], &["tool_calls"]);
                let calls = message.get("tool_calls");
                if calls.is_none() || !message["content"].is_null() {
                    text(&message["content"], "assistant/content");
                }
                for call in calls
                    .map(|calls| array(calls, "tool_calls"))
                    .into_iter()
                    .flatten()
                {
                    open.push(tool_call(call));
                }
            }
            "tool" => {
                object(
                    message,
                    "tool message",
                    &["role", "tool_call_id", "content"],
                    &[],
                );
                text(&message["content"], "tool message/content");
                let id = text(&message["tool_call_id"], "tool_call_id");
                let before = open.len();
                open.retain(|open| *open != id);
                assert!(open.len() < before, "result of no call: {message}");
            }
            other => panic!("role `{other}`"),
        }
    }
    assert!(open.is_empty(), "tool calls {open:?} have no result");
}

#[track_caller]
fn tool_call(call: &Value) -> &str {
    object(call, "tool call", &["id", "type", "function"], &[]);
    one_of(&call["type"], "tool call/type", &["function"]);
    object(
        &call["function"],
        "tool call/function",
        &["name", "arguments"],
        &[],
    );
    name(&call["function"]["name"], "tool call/name", 64, "");
    text(&call["function"]["arguments"], "tool call/arguments");
    let id = text(&call["id"], "tool call/id");
    assert!(!id.is_empty() && id.len() <= 40, "tool call/id: {id}");
    id
}

#[track_caller]
fn content(content: &Value) {
    if content.is_string() {
        return;
    }
    let parts = array(content, "user/content");
    assert!(!parts.is_empty(), "an empty message");
    for part in parts {
        match text(&part["type"], "part/type") {
            "text" => {
                object(part, "text", &["type", "text"], &[]);
                text(&part["text"], "part/text");
            }
            "image_url" => {
                object(part, "image", &["type", "image_url"], &[]);
                data_url(&part["image_url"]["url"], "image_url", &IMAGES);
            }
            "input_audio" => {
                object(part, "audio", &["type", "input_audio"], &[]);
                let audio = object(
                    &part["input_audio"],
                    "input_audio",
                    &["data", "format"],
                    &[],
                );
                one_of(&audio["format"], "format", &["wav", "mp3"]);
            }
            "file" => {
                object(part, "file", &["type", "file"], &[]);
                object(&part["file"], "file", &["filename", "file_data"], &[]);
                data_url(
                    &part["file"]["file_data"],
                    "file_data",
                    &["application/pdf"],
                );
            }
            other => panic!("part `{other}`"),
        }
    }
}
