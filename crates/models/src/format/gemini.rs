//! The format of Gemini's `generateContent`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use turnbuckle_protocol::{
    CreateMessageRequestParams, Role, SamplingContent, SamplingMessage, StopReason, ToolChoiceMode,
    ToolResultContent, ToolUseContent,
};

use super::content::{Part, message_part, result_parts};
use super::media::Media;
use super::write::{count, member};
use super::{Answer, AnswerError, EncodedRequest, ToolList, Usage};

/// The key in `_meta` of a tool call for a signature that the API requires in later requests.
const SIGNATURE: &str = "turnbuckle/thoughtSignature";

pub(super) fn request(params: &CreateMessageRequestParams, tools: &ToolList) -> EncodedRequest {
    // In this API a result names its function, which the protocol's results do not.
    let mut called = BTreeMap::new();
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &params.messages {
        let (role, parts) = match message.role {
            Role::Assistant => ("model", model(message, tools, &mut called)),
            _ => ("user", user(message, tools, &called)),
        };
        match contents.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, before)) if *last == role => before.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    let contents: Vec<_> = contents
        .into_iter()
        .map(|(role, parts)| json!({"role": role, "parts": parts}))
        .collect();
    let mut body = json!({"contents": contents});
    if let Some(system) = &params.system_prompt {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    let mut settings = Map::new();
    if params.max_tokens > 0 {
        settings.insert("maxOutputTokens".to_owned(), params.max_tokens.into());
    }
    if let Some(temperature) = params.temperature {
        settings.insert("temperature".to_owned(), temperature.into());
    }
    let mut left_out = Vec::new();
    if let Some(stop) = &params.stop_sequences {
        let five: Vec<_> = stop.iter().take(5).collect();
        settings.insert("stopSequences".to_owned(), json!(five));
        if stop.len() > 5 {
            left_out.push("stop sequences after the fifth: the API accepts 5".to_owned());
        }
    }
    if !settings.is_empty() {
        body["generationConfig"] = Value::Object(settings);
    }
    if !tools.json().is_empty() {
        body["tools"] = json!([{"functionDeclarations": tools.json()}]);
        body["toolConfig"] = json!({"functionCallingConfig": {"mode": choice(params)}});
    }
    EncodedRequest { body, left_out }
}

fn choice(params: &CreateMessageRequestParams) -> &'static str {
    match params.tool_choice.as_ref().and_then(|choice| choice.mode) {
        Some(ToolChoiceMode::Required) => "ANY",
        Some(ToolChoiceMode::None) => "NONE",
        _ => "AUTO",
    }
}

fn model<'m>(
    message: &'m SamplingMessage,
    tools: &ToolList,
    called: &mut BTreeMap<&'m str, &'m str>,
) -> Vec<Value> {
    let mut parts = Vec::new();
    for content in &message.content {
        if let SamplingContent::ToolUse(call) = content {
            called.insert(&call.id, &call.name);
            parts.push(function_call(call, tools));
        }
        parts.extend(message_part(content).and_then(written));
    }
    parts
}

fn function_call(call: &ToolUseContent, tools: &ToolList) -> Value {
    let name = tools.names().model_name(&call.name);
    let mut part = json!({"functionCall": {"name": name, "args": tools.written(call)}});
    let signature = call.meta.as_ref().and_then(|meta| meta.value(SIGNATURE));
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.clone();
    }
    part
}

fn user(message: &SamplingMessage, tools: &ToolList, called: &BTreeMap<&str, &str>) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut media = Vec::new();
    for content in &message.content {
        if let SamplingContent::ToolResult(result) = content {
            let name = called.get(result.tool_use_id.as_str()).copied();
            let name = name.unwrap_or(&result.tool_use_id);
            parts.push(function_response(
                tools.names().model_name(name),
                result,
                &mut media,
            ));
        }
    }
    parts.extend(media);
    let others = message.content.iter().filter_map(message_part);
    parts.extend(others.filter_map(written));
    parts
}

/// The response to a call. Media are placed beside it, because not every model accepts media inside.
fn function_response(name: &str, result: &ToolResultContent, media: &mut Vec<Value>) -> Value {
    let mut texts = Vec::new();
    for part in result_parts(result) {
        match part {
            Part::Text(text) => texts.push(text.into_owned()),
            Part::Media(found) => match media_part(&found) {
                Some(value) => {
                    texts.push(format!("[{}: see the next part]", found.kind()));
                    media.push(value);
                }
                None => texts.push(found.note()),
            },
        }
    }
    let key = if result.is_error == Some(true) {
        "error"
    } else {
        "output"
    };
    json!({"functionResponse": {"name": name, "response": {key: texts.join("\n")}}})
}

fn written(part: Part<'_>) -> Option<Value> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(json!({"text": text})),
        Part::Media(media) => {
            Some(media_part(&media).unwrap_or_else(|| json!({"text": media.note()})))
        }
    }
}

fn media_part(media: &Media<'_>) -> Option<Value> {
    let kind = media.kind();
    let is_taken = ["image/", "audio/", "video/"]
        .iter()
        .any(|start| kind.starts_with(start))
        || kind == "application/pdf";
    is_taken.then(|| json!({"inlineData": {"mimeType": kind, "data": media.data}}))
}

pub(super) fn answer(body: &Value, tools: &ToolList) -> Result<Answer, AnswerError> {
    let blocked = body
        .pointer("/promptFeedback/blockReason")
        .and_then(Value::as_str);
    if let Some(reason) = blocked {
        let reason = reason.to_owned();
        return Err(AnswerError::Refused { reason });
    }
    let reason = member(body, "/candidates/0/finishReason", "string", Value::as_str)?;
    let parts = body
        .pointer("/candidates/0/content/parts")
        .and_then(Value::as_array);
    let mut content = Vec::new();
    for (index, part) in parts.into_iter().flatten().enumerate() {
        if part.get("thought").and_then(Value::as_bool) == Some(true) {
            continue;
        }
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            content.push(SamplingContent::text(text));
        }
        if let Some(call) = part.get("functionCall") {
            let at = format!("/candidates/0/content/parts/{index}/functionCall/name");
            let name = member(body, &at, "string", Value::as_str)?;
            let id = call.get("id").and_then(Value::as_str).map(str::to_owned);
            let id = id.unwrap_or_else(|| format!("call_{index}"));
            let arguments = call.get("args").cloned().unwrap_or_else(|| json!({}));
            let mut call = tools.call(&id, name, arguments);
            if let Some(signature) = part.get("thoughtSignature") {
                let meta = call.meta.take().unwrap_or_default();
                call.meta = Some(meta.with(SIGNATURE, signature));
            }
            content.push(SamplingContent::ToolUse(call));
        }
    }
    let has_calls = content
        .iter()
        .any(|content| matches!(content, SamplingContent::ToolUse(_)));
    let stop = match reason {
        _ if has_calls => StopReason::ToolUse,
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" | "RECITATION" => {
            StopReason::from("contentFilter")
        }
        other => StopReason::from(other),
    };
    let model = body
        .get("modelVersion")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let usage = Usage::new(
        count(body, "/usageMetadata/promptTokenCount"),
        count(body, "/usageMetadata/candidatesTokenCount"),
    );
    Ok(Answer::new(model, content, stop, usage))
}
