//! The format of OpenAI's Chat Completions API.

use std::borrow::Cow;

use serde_json::{Value, json};
use turnbuckle_protocol::{
    CreateMessageRequestParams, Role, SamplingContent, SamplingMessage, StopReason, ToolChoiceMode,
    ToolResultContent,
};

use super::content::{Part, message_part, result_parts};
use super::media::Media;
use super::write::{count, member};
use super::{Answer, AnswerError, EncodedRequest, ToolList, Usage};
use crate::name::{NameRule, fitting};
use crate::schema::OPENAI;

/// 40 characters: the API refuses longer ids of tool calls.
const CALL_IDS: NameRule = NameRule {
    max: 40,
    ..OPENAI.tool_names
};

pub(super) fn request(
    model: &str,
    params: &CreateMessageRequestParams,
    tools: &ToolList,
) -> EncodedRequest {
    let mut messages = Vec::new();
    if let Some(system) = &params.system_prompt {
        messages.push(json!({"role": "system", "content": system}));
    }
    for message in &params.messages {
        match message.role {
            Role::Assistant => messages.extend(assistant(message, tools)),
            _ => user(message, &mut messages),
        }
    }
    let mut body = json!({"model": model, "messages": messages});
    if params.max_tokens > 0 {
        body["max_completion_tokens"] = params.max_tokens.into();
    }
    if let Some(temperature) = params.temperature {
        body["temperature"] = temperature.into();
    }
    let mut left_out = Vec::new();
    if let Some(stop) = &params.stop_sequences {
        // The API accepts four.
        body["stop"] = stop.iter().take(4).cloned().collect();
        if stop.len() > 4 {
            left_out.push("stop sequences after the fourth: the API accepts 4".to_owned());
        }
    }
    if !tools.json().is_empty() {
        body["tools"] = tools.json().into();
        body["tool_choice"] = choice(params).into();
    }
    EncodedRequest { body, left_out }
}

/// The tool choice, for which both APIs of OpenAI use the same words.
pub(super) fn choice(params: &CreateMessageRequestParams) -> &'static str {
    match params.tool_choice.as_ref().and_then(|choice| choice.mode) {
        Some(ToolChoiceMode::Required) => "required",
        Some(ToolChoiceMode::None) => "none",
        _ => "auto",
    }
}

/// The id of a tool call in a form that OpenAI accepts.
pub(super) fn call_id(id: &str) -> String {
    if CALL_IDS.accepts(id) {
        return id.to_owned();
    }
    fitting(id, &CALL_IDS, |_| false)
}

/// The arguments of a call as text. Arguments that were not JSON become an empty object, because
/// compatible servers parse the calls of earlier messages, and would refuse the conversation from
/// then on. The model sees its original text in the result of the call.
pub(super) fn arguments(call: &turnbuckle_protocol::ToolUseContent, tools: &ToolList) -> String {
    tools.written(call).to_string()
}

fn assistant(message: &SamplingMessage, tools: &ToolList) -> Option<Value> {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for content in &message.content {
        if let SamplingContent::ToolUse(call) = content {
            calls.push(json!({
                "id": call_id(&call.id),
                "type": "function",
                "function": {
                    "name": tools.names().model_name(&call.name),
                    "arguments": arguments(call, tools),
                },
            }));
        }
        match message_part(content) {
            Some(Part::Text(more)) => text += &more,
            // Media that the model generated cannot be sent back to it.
            Some(Part::Media(media)) => text += &media.note(),
            None => {}
        }
    }
    if calls.is_empty() {
        return (!text.is_empty()).then(|| json!({"role": "assistant", "content": text}));
    }
    let content = if text.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    Some(json!({"role": "assistant", "content": content, "tool_calls": calls}))
}

fn user(message: &SamplingMessage, messages: &mut Vec<Value>) {
    let mut parts = Vec::new();
    for content in &message.content {
        if let SamplingContent::ToolResult(result) = content {
            messages.push(tool(result, &mut parts));
        }
    }
    parts.extend(message.content.iter().filter_map(message_part).map(written));
    match parts.as_slice() {
        [] => {}
        // Some servers accept only text here.
        [only] if only["type"] == "text" => {
            messages.push(json!({"role": "user", "content": only["text"]}));
        }
        _ => messages.push(json!({"role": "user", "content": parts})),
    }
}

/// The message for a result. It can contain only text; media follow in a user message.
fn tool(result: &ToolResultContent, media: &mut Vec<Value>) -> Value {
    let id = call_id(&result.tool_use_id);
    let mut text = String::new();
    if result.is_error == Some(true) {
        text.push_str("The tool reported an error: ");
    }
    let mut is_first = true;
    for part in result_parts(result) {
        if !std::mem::take(&mut is_first) {
            text.push('\n');
        }
        match part {
            Part::Text(more) => text += &more,
            Part::Media(found) => match media_part(&found) {
                Some(value) => {
                    let kind = found.kind();
                    text += format!("[{kind}: see the next message]").as_str();
                    let about = format!("[{kind} from the result of tool call {id}]");
                    media.push(json!({"type": "text", "text": about}));
                    media.push(value);
                }
                None => text += &found.note(),
            },
        }
    }
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

fn written(part: Part<'_>) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Media(media) => {
            media_part(&media).unwrap_or_else(|| json!({"type": "text", "text": media.note()}))
        }
    }
}

fn media_part(media: &Media<'_>) -> Option<Value> {
    let sound = |format: &str| json!({"type": "input_audio", "input_audio": {"data": media.data, "format": format}});
    Some(match media.kind().as_str() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => {
            json!({"type": "image_url", "image_url": {"url": media.data_url()}})
        }
        "audio/wav" | "audio/x-wav" | "audio/wave" => sound("wav"),
        "audio/mpeg" | "audio/mp3" => sound("mp3"),
        "application/pdf" => {
            let name = media.name.unwrap_or("file.pdf");
            json!({"type": "file", "file": {"filename": name, "file_data": media.data_url()}})
        }
        _ => return None,
    })
}

pub(super) fn answer(body: &Value, tools: &ToolList) -> Result<Answer, AnswerError> {
    let message = member(body, "/choices/0/message", "object", |value| {
        value.as_object().map(|_| value)
    })?;
    let mut content = Vec::new();
    let refusal = message.get("refusal").and_then(Value::as_str);
    if let Some(text) = message.get("content").and_then(Value::as_str).or(refusal)
        && !text.is_empty()
    {
        content.push(SamplingContent::text(text));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for (index, call) in calls.into_iter().flatten().enumerate() {
        let at = |path: &str| format!("/choices/0/message/tool_calls/{index}{path}");
        let name = member(body, &at("/function/name"), "string", Value::as_str)?;
        let text = written_arguments(call).ok_or_else(|| AnswerError::Shape {
            what: "string",
            at: at("/function/arguments"),
        })?;
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        content.push(SamplingContent::ToolUse(
            tools.call_of_text(id, name, &text),
        ));
    }
    let reason = member(body, "/choices/0/finish_reason", "string", Value::as_str)?;
    let model = body
        .get("model")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let usage = Usage::new(
        count(body, "/usage/prompt_tokens"),
        count(body, "/usage/completion_tokens"),
    );
    Ok(Answer::new(model, content, stop_reason(reason), usage))
}

/// The arguments of a call as text. Some compatible servers send an object instead.
pub(crate) fn written_arguments(call: &Value) -> Option<Cow<'_, str>> {
    match call.pointer("/function/arguments")? {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Null => Some(Cow::Borrowed("")),
        other => Some(Cow::Owned(other.to_string())),
    }
}

/// Converts the stop reason to that of the protocol.
pub(crate) fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::EndTurn,
        "length" => StopReason::MaxTokens,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "content_filter" => StopReason::from("contentFilter"),
        other => StopReason::from(other),
    }
}
