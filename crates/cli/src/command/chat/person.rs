//! The person at the terminal, asked inline.

use futures_core::future::BoxFuture;
use turnbuckle::{
    host::{
        ConsentAnswer, ConsentQuestion, FormAnswer, Review, Scope, UserInterface, Visit,
        VisitAnswer, Who,
    },
    protocol::{
        CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
        JsonObject, SamplingContent, SamplingMessage,
    },
};
use turnbuckle_command_line::style::Style;

use crate::{
    ask::{ask_each, ask_visit, read_line},
    show::tell,
};

/// 2,000 characters of an argument or a message are shown before somebody agrees to it.
const MAX_SHOWN: usize = 2000;

/// The person at the terminal.
pub(super) struct Person;

impl UserInterface for Person {
    fn consent<'a>(
        &'a self,
        who: &'a Who,
        question: &'a ConsentQuestion,
    ) -> BoxFuture<'a, ConsentAnswer> {
        Box::pin(consent(who, question))
    }

    fn form<'a>(
        &'a self,
        who: &'a Who,
        form: &'a ElicitRequestFormParams,
    ) -> BoxFuture<'a, FormAnswer> {
        Box::pin(async move {
            match ask_each(who.server.as_str(), form, |_| Ok(None)).await {
                Ok(result) => match result.action {
                    ElicitAction::Accept => {
                        FormAnswer::Accept(result.content.unwrap_or_default().into_iter().collect())
                    }
                    ElicitAction::Decline => FormAnswer::Decline,
                    _ => FormAnswer::Cancel,
                },
                Err(_) => FormAnswer::Cancel,
            }
        })
    }

    fn visit<'a>(&'a self, who: &'a Who, visit: Visit<'a>) -> BoxFuture<'a, VisitAnswer> {
        Box::pin(async move {
            match ask_visit(who.server.as_str(), visit.request, false).await {
                Ok(result) => match result.action {
                    ElicitAction::Accept => VisitAnswer::Accept,
                    ElicitAction::Decline => VisitAnswer::Decline,
                    _ => VisitAnswer::Cancel,
                },
                Err(_) => VisitAnswer::Cancel,
            }
        })
    }

    fn review_prompt<'a>(
        &'a self,
        who: &'a Who,
        request: &'a CreateMessageRequestParams,
    ) -> BoxFuture<'a, Review<CreateMessageRequestParams>> {
        Box::pin(async move {
            head(who, "wants to ask the model");
            if let Some(system) = &request.system_prompt {
                shown("system", system);
            }
            for message in &request.messages {
                show_message(message);
            }
            tell(&format!("  up to {} tokens", request.max_tokens));
            match review("the last message").await {
                Reviewed::Accept(scope) => Review::Accept(scope),
                Reviewed::Edited(text) => {
                    let mut request = request.clone();
                    if let Some(last) = request.messages.last_mut() {
                        last.content = vec![SamplingContent::text(text)];
                    }
                    Review::Edited(Box::new(request))
                }
                Reviewed::Decline => Review::Decline,
            }
        })
    }

    fn review_answer<'a>(
        &'a self,
        who: &'a Who,
        answer: &'a CreateMessageResult,
    ) -> BoxFuture<'a, Review<CreateMessageResult>> {
        Box::pin(async move {
            head(who, "gets this answer of the model");
            for content in &answer.content {
                show_content("model", content);
            }
            match review("the answer").await {
                Reviewed::Accept(scope) => Review::Accept(scope),
                Reviewed::Edited(text) => {
                    let mut answer = answer.clone();
                    answer.content = vec![SamplingContent::text(text)];
                    Review::Edited(Box::new(answer))
                }
                Reviewed::Decline => Review::Decline,
            }
        })
    }
}

fn head(who: &Who, what: &str) {
    let mark = Style::Ask.err("?");
    tell(&format!("{mark} server `{}` {what}", who.server));
}

fn shown(name: &str, text: &str) {
    let short: String = text.chars().take(MAX_SHOWN).collect();
    let rest = text.chars().count().saturating_sub(MAX_SHOWN);
    for line in short.lines() {
        tell(&format!("  {} {line}", Style::Dim.err(&format!("{name}:"))));
    }
    if rest > 0 {
        tell(&format!("  … and {rest} characters more"));
    }
}

fn show_message(message: &SamplingMessage) {
    let role = match message.role {
        turnbuckle::protocol::Role::Assistant => "model",
        _ => "user",
    };
    for content in &message.content {
        show_content(role, content);
    }
}

fn show_content(role: &str, content: &SamplingContent) {
    match content {
        SamplingContent::Text(text) => shown(role, &text.text),
        other => shown(role, &serde_json::to_string(other).unwrap_or_default()),
    }
}

async fn consent(who: &Who, question: &ConsentQuestion) -> ConsentAnswer {
    let what = match question.kind.as_str() {
        "start" => "may it be started?".to_owned(),
        "call" => format!("may tool `{}` be called?", question.subject),
        "read" => format!("may `{}` be read?", question.subject),
        "prompt" => format!("may prompt `{}` be used?", question.subject),
        "root" => format!("may it work in `{}`?", question.subject),
        other if question.subject.is_empty() => format!("may it `{other}`?"),
        other => format!("may it `{other}` `{}`?", question.subject),
    };
    let mark = Style::Ask.err("?");
    tell(&format!("{mark} server `{}`: {what}", who.server));
    if let Some(launch) = &question.launch {
        shown("command", launch);
    }
    if let Some(description) = &question.description {
        shown("it says", description);
    }
    if let Some(arguments) = &question.arguments {
        shown("arguments", arguments.get());
    }
    let can_edit = question.arguments.is_some();
    let mut choices = vec!["y once"];
    if question.scopes.contains(&Scope::Conversation) {
        choices.push("c for this chat");
    }
    if question.scopes.contains(&Scope::Always) {
        choices.push("a always");
    }
    if can_edit {
        choices.push("e edit");
    }
    choices.push("n no");
    let line = format!("  {} [n] ", choices.join(", "));
    loop {
        let Ok(Some(text)) = read_line(&line).await else {
            return ConsentAnswer::Deny;
        };
        match text.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return ConsentAnswer::Allow(Scope::Once),
            "c" if question.scopes.contains(&Scope::Conversation) => {
                return ConsentAnswer::Allow(Scope::Conversation);
            }
            "a" if question.scopes.contains(&Scope::Always) => {
                return ConsentAnswer::Allow(Scope::Always);
            }
            "e" if can_edit => {
                if let Some(edited) = edited().await {
                    return ConsentAnswer::AllowEdited(edited);
                }
            }
            "" | "n" | "no" => return ConsentAnswer::Deny,
            _ => tell("  type one of the letters"),
        }
    }
}

/// Other arguments, as one line of JSON.
async fn edited() -> Option<JsonObject> {
    loop {
        let text = read_line("  arguments as JSON: ").await.ok()??;
        match serde_json::from_str(text.trim()) {
            Ok(arguments) => return Some(arguments),
            Err(error) => tell(&format!("  {}", Style::Bad.err(&error.to_string()))),
        }
    }
}

enum Reviewed {
    Accept(Scope),
    Edited(String),
    Decline,
}

async fn review(what: &str) -> Reviewed {
    loop {
        let line = "  y once, c for this chat, e edit, n no [n] ";
        let Ok(Some(text)) = read_line(line).await else {
            return Reviewed::Decline;
        };
        match text.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Reviewed::Accept(Scope::Once),
            "c" => return Reviewed::Accept(Scope::Conversation),
            "e" => {
                if let Ok(Some(text)) = read_line(&format!("  {what}: ")).await {
                    return Reviewed::Edited(text);
                }
                return Reviewed::Decline;
            }
            "" | "n" | "no" => return Reviewed::Decline,
            _ => tell("  type one of the letters"),
        }
    }
}
