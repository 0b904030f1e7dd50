//! The questions to the user at the terminal.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_core::future::BoxFuture;
use turnbuckle::{
    host::{
        ActionKind, ConsentAnswer, ConsentQuestion, FormAnswer, Requester, Review, Scope,
        UserInterface, VisitAnswer, VisitRequest,
    },
    protocol::{
        CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams,
        JsonObject,
    },
};
use turnbuckle_command_line::{control::one_line, style::Style};

use super::{excerpts::Excerpts, review};
use crate::{
    ask::{Line, ask_each, ask_visit, ask_visit_done},
    show::tell,
};

/// How many questions are open.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// Whether the user is being asked something.
pub(super) fn is_asked() -> bool {
    OPEN.load(Ordering::Acquire) > 0
}

/// An open question, counted until it is dropped.
struct Open;

impl Open {
    fn new() -> Self {
        OPEN.fetch_add(1, Ordering::AcqRel);
        Self
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The user at the terminal.
pub(super) struct Person;

impl UserInterface for Person {
    fn consent<'a>(
        &'a self,
        who: &'a Requester,
        question: &'a ConsentQuestion,
    ) -> BoxFuture<'a, ConsentAnswer> {
        Box::pin(consent(who, question))
    }

    fn form<'a>(
        &'a self,
        who: &'a Requester,
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

    fn visit<'a>(
        &'a self,
        who: &'a Requester,
        visit: VisitRequest<'a>,
    ) -> BoxFuture<'a, VisitAnswer> {
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

    fn visit_done<'a>(&'a self, _who: &'a Requester, visit: VisitRequest<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let _open = Open::new();
            let place = format!("at {}", one_line(visit.host));
            if ask_visit_done(&place).await.is_err() {
                // The user can no longer report the end of the visit; the server still can.
                std::future::pending::<()>().await;
            }
        })
    }

    fn review_prompt<'a>(
        &'a self,
        who: &'a Requester,
        request: &'a CreateMessageRequestParams,
    ) -> BoxFuture<'a, Review<CreateMessageRequestParams>> {
        Box::pin(review::prompt(who, request))
    }

    fn review_answer<'a>(
        &'a self,
        who: &'a Requester,
        answer: &'a CreateMessageResult,
    ) -> BoxFuture<'a, Review<CreateMessageResult>> {
        Box::pin(review::answer(who, answer))
    }
}

async fn consent(who: &Requester, question: &ConsentQuestion) -> ConsentAnswer {
    let _open = Open::new();
    let mark = Style::Ask.err("?");
    let server = one_line(who.server.as_str());
    tell(&format!("{mark} server `{server}`: {}", asked(question)));
    if question.has_changed {
        let said = "  you allowed it before, but its description has changed since then";
        tell(&Style::Warn.err(said));
    }
    let texts = texts_of(question);
    texts.show();
    let is_cut = texts.are_cut();
    let line = format!("  {} [n] ", choices(question, is_cut).join(", "));
    loop {
        let Ok(Some(text)) = Line::new(&line).not_typed_ahead().read().await else {
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
            "e" if question.arguments.is_some() => {
                let now = arguments(question).unwrap_or_default();
                if let Some(edited) = edited(now).await {
                    return ConsentAnswer::AllowEdited(edited);
                }
            }
            "s" if is_cut => texts.show_all(),
            "" | "n" | "no" => return ConsentAnswer::Deny,
            _ => tell("  type one of the letters"),
        }
    }
}

/// The texts that the user sees before agreeing.
fn texts_of(question: &ConsentQuestion) -> Excerpts {
    let mut texts = Excerpts::default();
    for (name, text) in [
        ("command", question.launch.as_deref()),
        ("it says", question.description.as_deref()),
        ("arguments", arguments(question)),
    ] {
        if let Some(text) = text {
            texts.add(name, text);
        }
    }
    texts
}

fn arguments(question: &ConsentQuestion) -> Option<&str> {
    question.arguments.as_ref().map(|arguments| arguments.get())
}

/// The question as a sentence.
fn asked(question: &ConsentQuestion) -> String {
    let subject = one_line(&question.subject);
    match question.kind {
        ActionKind::Start => "may it be started?".to_owned(),
        ActionKind::Call => format!("may tool `{subject}` be called?"),
        ActionKind::Read => format!("may `{subject}` be read?"),
        ActionKind::GetPrompt => format!("may prompt `{subject}` be used?"),
        ActionKind::ShareRoot => format!("may it work in `{subject}`?"),
        ActionKind::ShareContext => {
            format!("may resources of `{subject}` go to the model with its request?")
        }
        other if subject.is_empty() => format!("may it `{other}`?"),
        other => format!("may it `{other}` `{subject}`?"),
    }
}

fn choices(question: &ConsentQuestion, is_cut: bool) -> Vec<&'static str> {
    let scope = |scope: Scope| question.scopes.contains(&scope);
    let mut choices = vec!["y once"];
    choices.extend(scope(Scope::Conversation).then_some("c for this chat"));
    choices.extend(scope(Scope::Always).then_some("a always"));
    choices.extend(question.arguments.is_some().then_some("e edit"));
    choices.extend(is_cut.then_some("s show all of it"));
    choices.push("n no");
    choices
}

/// Lets the user edit the arguments as JSON.
async fn edited(now: &str) -> Option<JsonObject> {
    let mut text = now.to_owned();
    loop {
        let line = Line::new("  arguments as JSON: ").holding(text);
        text = line.read().await.ok()??;
        match serde_json::from_str(text.trim()) {
            Ok(arguments) => return Some(arguments),
            Err(error) => tell(&format!("  {}", Style::Bad.err(&error.to_string()))),
        }
    }
}
