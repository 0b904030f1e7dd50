//! `POST /v1/responses`: platform.openai.com/docs/api-reference/responses/create.

use serde_json::Value;

use super::schema;
use super::value::{array, data_url, name, number, object, one_of, text};

#[track_caller]
pub(crate) fn check(body: &Value) {
    let members = object(
        body,
        "body",
        &["model", "input"],
        &[
            "instructions",
            "tools",
            "tool_choice",
            "store",
            "max_output_tokens",
            "temperature",
            "stream",
        ],
    );
    number(members.get("temperature"), "temperature", 0.0, 2.0);
    number(
        members.get("max_output_tokens"),
        "max_output_tokens",
        1.0,
        1e9,
    );
    if let Some(choice) = members.get("tool_choice") {
        one_of(choice, "tool_choice", &["none", "auto", "required"]);
    }
    for tool in members
        .get("tools")
        .map(|tools| array(tools, "tools"))
        .into_iter()
        .flatten()
    {
        object(
            tool,
            "tool",
            &["type", "name", "parameters", "strict"],
            &["description"],
        );
        one_of(&tool["type"], "tool/type", &["function"]);
        name(&tool["name"], "tool/name", 64, "");
        let refused = ["oneOf", "anyOf", "allOf", "enum", "const", "not"];
        schema::json_schema(&tool["parameters"], "parameters", &refused);
    }
    let mut called: Vec<&str> = Vec::new();
    for item in array(&members["input"], "input") {
        match text(&item["type"], "item/type") {
            "message" => {
                object(item, "message", &["type", "role", "content"], &[]);
                let kind = match text(&item["role"], "role") {
                    "user" => "input",
                    "assistant" => "output",
                    other => panic!("role `{other}`"),
                };
                for part in array(&item["content"], "content") {
                    content(part, kind);
                }
            }
            "function_call" => {
                object(
                    item,
                    "function_call",
                    &["type", "call_id", "name", "arguments"],
                    &[],
                );
                name(&item["name"], "function_call/name", 64, "");
                text(&item["arguments"], "arguments");
                called.push(text(&item["call_id"], "call_id"));
            }
            "function_call_output" => {
                object(
                    item,
                    "function_call_output",
                    &["type", "call_id", "output"],
                    &[],
                );
                let id = text(&item["call_id"], "call_id");
                assert!(called.contains(&id), "output of no call: {item}");
                if !item["output"].is_string() {
                    for part in array(&item["output"], "output") {
                        content(part, "input");
                    }
                }
            }
            other => panic!("item `{other}`"),
        }
    }
}

#[track_caller]
fn content(part: &Value, kind: &str) {
    match (text(&part["type"], "part/type"), kind) {
        ("input_text", "input") | ("output_text", "output") => {
            object(part, "text", &["type", "text"], &[]);
        }
        ("input_image", "input") => {
            object(part, "image", &["type", "image_url", "detail"], &[]);
            let kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
            data_url(&part["image_url"], "image_url", &kinds);
        }
        ("input_file", "input") => {
            object(part, "file", &["type", "filename", "file_data"], &[]);
            data_url(&part["file_data"], "file_data", &["application/pdf"]);
        }
        (other, kind) => panic!("part `{other}` in {kind}"),
    }
}
