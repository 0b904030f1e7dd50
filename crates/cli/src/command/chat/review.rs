//! The reviews of a sampling request: of the request before it goes to the model, and of the answer before it goes
//! to the server.

use turnbuckle::{
    host::{Requester, Review, Scope},
    protocol::{
        CreateMessageRequestParams, CreateMessageResult, Role, SamplingContent, SamplingMessage,
    },
};
use turnbuckle_command_line::{control::one_line, style::Style};

use super::excerpts::Excerpts;
use crate::{ask::Line, show::tell};

/// Shows the request that a server wants to send to the model.
pub(super) async fn prompt(
    who: &Requester,
    request: &CreateMessageRequestParams,
) -> Review<CreateMessageRequestParams> {
    let texts = texts_of(request);
    head(who, "wants to ask the model");
    texts.show();
    tell(&format!("  up to {} tokens", request.max_tokens));
    let last = request.messages.last();
    let last = last.map_or(&[][..], |message| &message.content[..]);
    match ask(who, "the last message", last, &texts).await {
        Reviewed::Accept(scope) => Review::Accept(scope),
        Reviewed::Edited(content) => {
            let mut request = request.clone();
            if let Some(last) = request.messages.last_mut() {
                last.content = content;
            }
            Review::Edited(Box::new(request))
        }
        Reviewed::Decline => Review::Decline,
    }
}

/// Shows the model's answer.
pub(super) async fn answer(
    who: &Requester,
    answer: &CreateMessageResult,
) -> Review<CreateMessageResult> {
    let mut texts = Excerpts::default();
    for content in &answer.content {
        texts.add("model", written(content));
    }
    head(who, "will get this answer of the model");
    texts.show();
    match ask(who, "the answer", &answer.content, &texts).await {
        Reviewed::Accept(scope) => Review::Accept(scope),
        Reviewed::Edited(content) => {
            let mut answer = answer.clone();
            answer.content = content;
            Review::Edited(Box::new(answer))
        }
        Reviewed::Decline => Review::Decline,
    }
}

fn head(who: &Requester, what: &str) {
    let mark = Style::Ask.err("?");
    let server = one_line(who.server.as_str());
    tell(&format!("{mark} server `{server}` {what}"));
}

/// Everything in a request that a model reads.
fn texts_of(request: &CreateMessageRequestParams) -> Excerpts {
    let mut texts = Excerpts::default();
    if let Some(system) = &request.system_prompt {
        texts.add("system", system);
    }
    for tool in request.tools.iter().flatten() {
        texts.add("tool", serde_json::to_string(tool).unwrap_or_default());
    }
    if let Some(metadata) = &request.metadata {
        let json = serde_json::to_string(metadata).unwrap_or_default();
        texts.add("metadata", json);
    }
    for message in &request.messages {
        for content in &message.content {
            texts.add(role(message), written(content));
        }
    }
    texts
}

fn role(message: &SamplingMessage) -> &'static str {
    match message.role {
        Role::Assistant => "model",
        _ => "user",
    }
}

fn written(content: &SamplingContent) -> String {
    match content {
        SamplingContent::Text(text) => text.text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

enum Reviewed {
    Accept(Scope),
    Edited(Vec<SamplingContent>),
    Decline,
}

async fn ask(
    who: &Requester,
    what: &str,
    content: &[SamplingContent],
    texts: &Excerpts,
) -> Reviewed {
    // If the conversation that asks is unknown, it cannot be allowed for a conversation.
    let has_chat = who.conversation.is_some();
    let is_cut = texts.are_cut();
    let mut choices = vec!["y once"];
    choices.extend(has_chat.then_some("c for this chat"));
    choices.push("e edit");
    choices.extend(is_cut.then_some("s show all of it"));
    choices.push("n no");
    let line = format!("  {} [n] ", choices.join(", "));
    loop {
        let Ok(Some(text)) = Line::new(&line).not_typed_ahead().read().await else {
            return Reviewed::Decline;
        };
        match text.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Reviewed::Accept(Scope::Once),
            "c" if has_chat => return Reviewed::Accept(Scope::Conversation),
            "e" => {
                let Some(now) = text_of(content) else {
                    tell("  there is no text to edit");
                    continue;
                };
                let line = Line::new(format!("  {what}: ")).holding(now);
                return match line.read().await {
                    Ok(Some(text)) => Reviewed::Edited(with_text(content, text)),
                    _ => Reviewed::Decline,
                };
            }
            "s" if is_cut => texts.show_all(),
            "" | "n" | "no" => return Reviewed::Decline,
            _ => tell("  type one of the letters"),
        }
    }
}

/// The text of a message, if there is any.
fn text_of(content: &[SamplingContent]) -> Option<String> {
    let texts: Vec<_> = content
        .iter()
        .filter_map(SamplingContent::as_text)
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The message with this text in place of all its texts. Images, tool calls and results are kept.
fn with_text(content: &[SamplingContent], text: String) -> Vec<SamplingContent> {
    let mut text = Some(text);
    let pieces = content.iter().filter_map(|piece| match piece {
        SamplingContent::Text(_) => text.take().map(SamplingContent::text),
        other => Some(other.clone()),
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_text_is_kept_when_a_message_is_edited() {
        let content = json!([
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "text", "text": "one"},
            {"type": "tool_use", "id": "1", "name": "lookup", "input": {}},
            {"type": "text", "text": "two"},
        ]);
        let content: Vec<SamplingContent> = serde_json::from_value(content).unwrap();
        assert_eq!(text_of(&content).unwrap(), "one\ntwo");
        let edited = with_text(&content, "three".to_owned());
        let edited = serde_json::to_value(edited).unwrap();
        let wanted = json!([
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "text", "text": "three"},
            {"type": "tool_use", "id": "1", "name": "lookup", "input": {}},
        ]);
        assert_eq!(edited, wanted);
        assert_eq!(text_of(&content[..1]), None);
    }

    #[test]
    fn everything_that_a_model_reads_is_shown() {
        let request = json!({
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "first"}},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "second"},
                    {"type": "tool_use", "id": "1", "name": "third", "input": {}}]},
            ],
            "systemPrompt": "fourth",
            "tools": [{"name": "fifth", "description": "x".repeat(3000), "inputSchema": {"type": "object"}}],
            "metadata": {"sixth": 6},
            "maxTokens": 5,
        });
        let request: CreateMessageRequestParams = serde_json::from_value(request).unwrap();
        let texts = texts_of(&request);
        assert!(texts.are_cut());
        let all = texts.to_text();
        for word in ["first", "second", "third", "fourth", "fifth", "sixth"] {
            assert!(all.contains(word), "{all}");
        }
    }
}
