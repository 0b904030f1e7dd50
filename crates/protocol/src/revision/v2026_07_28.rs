//! The changes of 2026-07-28, and how they are removed from messages to an older peer. The members that
//! it removed are in [`retired`].

pub(super) mod retired;

use serde_json::{Value, json, value::RawValue};

use super::{
    Revision,
    rules::{Era, Rules},
    v2025_11_25,
};
use crate::{
    CallToolResult, ContentBlock, ErrorObject, JsonObject, Meta, Tool, ToolResultContent,
    error::code, json, meta::key,
};

pub(super) const RULES: Rules = Rules {
    era: Era::Modern,
    mirrored_headers: true,
    standing_streams: false,
    priming_events: false,
    elicitation_ids: false,
    visits_first: false,
    task_fields: false,
    ..v2025_11_25::RULES
};

pub(super) fn applies(to: Revision) -> bool {
    to < Revision::V2026_07_28
}

/// Each modern request contains metadata about its sender, which older revisions send once in
/// `initialize`.
pub(super) fn meta(meta: &mut Meta) {
    meta.remove(&key::MODERN);
}

/// Older revisions require that the members of `properties` are objects, and that the result is an
/// object.
pub(super) fn tool(tool: &mut Tool) {
    spell_out_booleans(&mut tool.input_schema);
    match &mut tool.output_schema {
        Some(Value::Object(schema)) if schema.get("type") == Some(&json!("object")) => {
            spell_out_booleans(schema);
        }
        schema => *schema = None,
    }
}

/// `true` and `false` are schemas in JSON Schema but not in these revisions of the protocol.
fn spell_out_booleans(schema: &mut JsonObject) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for property in properties.values_mut() {
        match property {
            Value::Bool(true) => *property = json!({}),
            Value::Bool(false) => *property = json!({ "not": {} }),
            _ => {}
        }
    }
}

pub(super) fn call_tool_result(result: &mut CallToolResult) {
    if result
        .structured_content
        .as_deref()
        .is_some_and(|raw| !json::is_object(raw))
    {
        structured_to_text(result);
    }
}

/// Removes the structured content, and makes sure that the model can still read it as text.
pub(super) fn structured_to_text(result: &mut CallToolResult) {
    if let Some(raw) = result.structured_content.take() {
        keep_as_text(&mut result.content, &raw);
    }
}

fn keep_as_text(content: &mut Vec<ContentBlock>, raw: &RawValue) {
    let says_it = |block: &ContentBlock| block.as_text().is_some_and(|text| says(text, raw));
    if !content.iter().any(says_it) {
        content.push(ContentBlock::text(raw.get()));
    }
}

/// Whether a text is this JSON, or equals this JSON string.
fn says(text: &str, raw: &RawValue) -> bool {
    if text.trim() == raw.get() {
        return true;
    }
    let Ok(value) = serde_json::from_str::<Value>(raw.get()) else {
        return false;
    };
    value.as_str() == Some(text)
        || serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == value)
}

pub(super) fn tool_result_content(result: &mut ToolResultContent) {
    if result
        .structured_content
        .as_ref()
        .is_some_and(|value| !value.is_object())
        && let Some(value) = result.structured_content.take()
        && let Ok(raw) = json::to_raw(&value)
    {
        keep_as_text(&mut result.content, &raw);
    }
}

/// Modern error codes identify a modern peer, so they are never sent to an older one.
pub(super) fn error(error: &mut ErrorObject) {
    error.code = match error.code {
        code::INVALID_PARAMS if error.names_a_uri() => code::RESOURCE_NOT_FOUND,
        code::UNSUPPORTED_PROTOCOL_VERSION => code::INVALID_PARAMS,
        code::HEADER_MISMATCH | code::MISSING_REQUIRED_CLIENT_CAPABILITY => code::INVALID_REQUEST,
        other => other,
    };
}
