//! The format of OpenAI's Responses API.

use serde_json::{Value, json};
use turnbuckle_protocol::{
    CreateMessageRequestParams, Role, SamplingContent, SamplingMessage, StopReason,
    ToolResultContent,
};

use super::content::{Part, message_part, result_parts};
use super::media::Media;
use super::openai_chat::{arguments, call_id, choice};
use super::write::{count, member};
use super::{Answer, AnswerError, EncodedRequest, ToolList, Usage};

pub(super) fn request(
    model: &str,
    params: &CreateMessageRequestParams,
    tools: &ToolList,
) -> EncodedRequest {
    let mut input = Vec::new();
    for message in &params.messages {
        match message.role {
            Role::Assistant => assistant(message, tools, &mut input),
            _ => user(message, &mut input),
        }
    }
    // The conversation is sent each time; the API stores nothing.
    let mut body = json!({"model": model, "input": input, "store": false});
    if let Some(system) = &params.system_prompt {
        body["instructions"] = system.as_str().into();
    }
    if params.max_tokens > 0 {
        body["max_output_tokens"] = params.max_tokens.into();
    }
    if let Some(temperature) = params.temperature {
        body["temperature"] = temperature.into();
    }
    let mut left_out = Vec::new();
    if params.stop_sequences.is_some() {
        left_out.push("stop sequences: this API does not support them".to_owned());
    }
    if !tools.json().is_empty() {
        body["tools"] = tools.json().into();
        body["tool_choice"] = choice(params).into();
    }
    EncodedRequest { body, left_out }
}

fn assistant(message: &SamplingMessage, tools: &ToolList, input: &mut Vec<Value>) {
    for content in &message.content {
        if let SamplingContent::ToolUse(call) = content {
            input.push(json!({
                "type": "function_call",
                "call_id": call_id(&call.id),
                "name": tools.names().model_name(&call.name),
                "arguments": arguments(call, tools),
            }));
        }
        let text = match message_part(content) {
            Some(Part::Text(text)) => text,
            Some(Part::Media(media)) => media.note().into(),
            None => continue,
        };
        input.push(json!({
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text}],
        }));
    }
}

fn user(message: &SamplingMessage, input: &mut Vec<Value>) {
    for content in &message.content {
        if let SamplingContent::ToolResult(result) = content {
            input.push(output(result));
        }
    }
    let parts: Vec<_> = message
        .content
        .iter()
        .filter_map(message_part)
        .map(written)
        .collect();
    if !parts.is_empty() {
        input.push(json!({"type": "message", "role": "user", "content": parts}));
    }
}

fn output(result: &ToolResultContent) -> Value {
    let mut parts = Vec::new();
    if result.is_error == Some(true) {
        parts.push(json!({"type": "input_text", "text": "The tool reported an error:"}));
    }
    parts.extend(result_parts(result).into_iter().map(written));
    let output = match parts.as_slice() {
        [only] if only["type"] == "input_text" => only["text"].clone(),
        _ => parts.into(),
    };
    let id = call_id(&result.tool_use_id);
    json!({"type": "function_call_output", "call_id": id, "output": output})
}

fn written(part: Part<'_>) -> Value {
    let text = |text: &str| json!({"type": "input_text", "text": text});
    match part {
        Part::Text(words) => text(&words),
        Part::Media(media) => media_part(&media).unwrap_or_else(|| text(&media.note())),
    }
}

fn media_part(media: &Media<'_>) -> Option<Value> {
    Some(match media.kind().as_str() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => {
            json!({"type": "input_image", "detail": "auto", "image_url": media.data_url()})
        }
        "application/pdf" => {
            let name = media.name.unwrap_or("file.pdf");
            json!({"type": "input_file", "filename": name, "file_data": media.data_url()})
        }
        _ => return None,
    })
}

pub(super) fn answer(body: &Value, tools: &ToolList) -> Result<Answer, AnswerError> {
    if let Some(message) = body.pointer("/error/message").and_then(Value::as_str) {
        let reason = message.to_owned();
        return Err(AnswerError::Refused { reason });
    }
    let output = member(body, "/output", "array", Value::as_array)?;
    let mut content = Vec::new();
    for (index, item) in output.iter().enumerate() {
        match item.get("type").and_then(Value::as_str) {
            Some("message") => {
                let parts = item.get("content").and_then(Value::as_array);
                for part in parts.into_iter().flatten() {
                    let text = part.get("text").or_else(|| part.get("refusal"));
                    content.extend(text.and_then(Value::as_str).map(SamplingContent::text));
                }
            }
            Some("function_call") => {
                let text = |name: &str| {
                    member(
                        body,
                        &format!("/output/{index}/{name}"),
                        "string",
                        Value::as_str,
                    )
                };
                let (id, name) = (text("call_id")?, text("name")?);
                let call = tools.call_of_text(id, name, text("arguments")?);
                content.push(SamplingContent::ToolUse(call));
            }
            // Reasoning, and tools that run at the API, are ignored.
            _ => {}
        }
    }
    let reason = body
        .pointer("/incomplete_details/reason")
        .and_then(Value::as_str);
    let has_calls = content
        .iter()
        .any(|content| matches!(content, SamplingContent::ToolUse(_)));
    let stop = match reason {
        Some("max_output_tokens") => StopReason::MaxTokens,
        Some("content_filter") => StopReason::from("contentFilter"),
        Some(other) => StopReason::from(other),
        None if has_calls => StopReason::ToolUse,
        None => StopReason::EndTurn,
    };
    let model = body
        .get("model")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let usage = Usage::new(
        count(body, "/usage/input_tokens"),
        count(body, "/usage/output_tokens"),
    );
    Ok(Answer::new(model, content, stop, usage))
}
