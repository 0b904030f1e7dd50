//! The format of Anthropic's Messages API.

use serde_json::{Value, json};
use turnbuckle_protocol::{
    CreateMessageRequestParams, Role, SamplingContent, SamplingMessage, StopReason, ToolChoiceMode,
    ToolResultContent,
};

use super::content::{Part, message_part, result_parts};
use super::media::Media;
use super::write::{count, member};
use super::{Answer, AnswerError, EncodedRequest, ToolList, Usage};
use crate::name::fitting;
use crate::schema::ANTHROPIC;

/// 4,096 tokens if the request sets no limit, because this API requires one.
const MAX_TOKENS: u64 = 4096;

pub(super) fn request(
    model: &str,
    params: &CreateMessageRequestParams,
    tools: &ToolList,
) -> EncodedRequest {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &params.messages {
        let (role, content) = match message.role {
            Role::Assistant => ("assistant", assistant(message, tools)),
            _ => ("user", user(message)),
        };
        match messages.last_mut() {
            _ if content.is_empty() => {}
            // Consecutive turns of the same role are merged.
            Some((last, before)) if *last == role => before.extend(content),
            _ => messages.push((role, content)),
        }
    }
    let messages: Vec<_> = messages
        .into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect();
    let max_tokens = match params.max_tokens {
        0 => MAX_TOKENS,
        given => given,
    };
    let mut body = json!({"model": model, "max_tokens": max_tokens, "messages": messages});
    if let Some(system) = params
        .system_prompt
        .as_ref()
        .filter(|text| !text.is_empty())
    {
        body["system"] = system.as_str().into();
    }
    let mut left_out = Vec::new();
    if let Some(temperature) = params.temperature {
        body["temperature"] = temperature.clamp(0.0, 1.0).into();
        if !(0.0..=1.0).contains(&temperature) {
            left_out.push(format!("temperature {temperature}: the API accepts 0 to 1"));
        }
    }
    // The API refuses stop sequences of white space.
    let stop = params.stop_sequences.iter().flatten();
    let stop: Vec<_> = stop.filter(|text| !text.trim().is_empty()).collect();
    if !stop.is_empty() {
        body["stop_sequences"] = json!(stop);
    }
    let metadata = params.metadata.as_ref();
    if let Some(Value::String(user)) = metadata.and_then(|metadata| metadata.get("user_id")) {
        body["metadata"] = json!({"user_id": user});
    }
    if !tools.json().is_empty() {
        body["tools"] = tools.json().into();
        body["tool_choice"] = json!({"type": choice(params)});
    }
    EncodedRequest { body, left_out }
}

fn choice(params: &CreateMessageRequestParams) -> &'static str {
    match params.tool_choice.as_ref().and_then(|choice| choice.mode) {
        Some(ToolChoiceMode::Required) => "any",
        Some(ToolChoiceMode::None) => "none",
        _ => "auto",
    }
}

fn call_id(id: &str) -> String {
    let rule = &ANTHROPIC.tool_names;
    if rule.accepts(id) {
        return id.to_owned();
    }
    fitting(id, rule, |_| false)
}

fn assistant(message: &SamplingMessage, tools: &ToolList) -> Vec<Value> {
    let mut content = Vec::new();
    for piece in &message.content {
        if let SamplingContent::ToolUse(call) = piece {
            content.push(json!({
                "type": "tool_use",
                "id": call_id(&call.id),
                "name": tools.names().model_name(&call.name),
                "input": tools.written(call),
            }));
        }
        match message_part(piece) {
            Some(Part::Text(words)) => content.extend(text(&words)),
            // Pictures cannot be sent as the model's own output.
            Some(Part::Media(media)) => content.extend(text(&media.note())),
            None => {}
        }
    }
    content
}

/// Tool results must come before all other content.
fn user(message: &SamplingMessage) -> Vec<Value> {
    let mut content = Vec::new();
    for piece in &message.content {
        if let SamplingContent::ToolResult(result) = piece {
            content.push(tool_result(result));
        }
    }
    let parts = message.content.iter().filter_map(message_part);
    content.extend(parts.filter_map(written));
    content
}

fn tool_result(result: &ToolResultContent) -> Value {
    let content: Vec<_> = result_parts(result)
        .into_iter()
        .filter_map(written)
        .collect();
    let mut block = json!({"type": "tool_result", "tool_use_id": call_id(&result.tool_use_id)});
    if !content.is_empty() {
        block["content"] = content.into();
    }
    if result.is_error == Some(true) {
        block["is_error"] = true.into();
    }
    block
}

fn written(part: Part<'_>) -> Option<Value> {
    match part {
        Part::Text(words) => text(&words),
        Part::Media(media) => media_part(&media).or_else(|| text(&media.note())),
    }
}

/// The API refuses text that is only white space.
fn text(words: &str) -> Option<Value> {
    (!words.trim().is_empty()).then(|| json!({"type": "text", "text": words}))
}

fn media_part(media: &Media<'_>) -> Option<Value> {
    let kind = media.kind();
    let block = match kind.as_str() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => "image",
        "application/pdf" => "document",
        _ => return None,
    };
    let source = json!({"type": "base64", "media_type": kind, "data": media.data});
    Some(json!({"type": block, "source": source}))
}

pub(super) fn answer(body: &Value, tools: &ToolList) -> Result<Answer, AnswerError> {
    let blocks = member(body, "/content", "array", Value::as_array)?;
    let mut content = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let text = |name: &str| {
            member(
                body,
                &format!("/content/{index}/{name}"),
                "string",
                Value::as_str,
            )
        };
        match block.get("type").and_then(Value::as_str) {
            Some("text") => content.push(SamplingContent::text(text("text")?)),
            Some("tool_use") => {
                let input = block.get("input").cloned().unwrap_or_default();
                let call = tools.call(text("id")?, text("name")?, input);
                content.push(SamplingContent::ToolUse(call));
            }
            _ => {}
        }
    }
    let reason = member(body, "/stop_reason", "string", Value::as_str)?;
    let model = body
        .get("model")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(Answer::new(
        model,
        content,
        stop_reason(reason),
        usage(body),
    ))
}

fn usage(body: &Value) -> Usage {
    let input = count(body, "/usage/input_tokens")
        .saturating_add(count(body, "/usage/cache_creation_input_tokens"))
        .saturating_add(count(body, "/usage/cache_read_input_tokens"));
    Usage::new(input, count(body, "/usage/output_tokens"))
}

/// Converts the stop reason to that of the protocol.
pub(crate) fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" => StopReason::EndTurn,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "tool_use" => StopReason::ToolUse,
        other => StopReason::from(other),
    }
}
