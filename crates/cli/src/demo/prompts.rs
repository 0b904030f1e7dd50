//! Prompts: with and without arguments, of one message and of several, with pictures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnbuckle::{
    CompletionContext, Image, PromptMessage, prompt,
    protocol::{EmbeddedResource, ResourceContents, TextResourceContents},
};

use super::resources;

/// How long a summary is.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Length {
    Sentence,
    Paragraph,
    Page,
}

/// Asks for a summary of a text.
#[prompt(title = "Summarise")]
pub(super) async fn summarise(
    /** The text. */
    text: String,
    /** How long the summary may be. */
    length: Option<Length>,
) -> String {
    let length = match length {
        Some(Length::Sentence) => "one sentence",
        Some(Length::Page) => "one page",
        Some(Length::Paragraph) | None => "one paragraph",
    };
    format!("Summarise the following in {length}:\n\n{text}")
}

/// Asks for a review of code in a language.
#[prompt]
pub(super) async fn review(
    /** The language. */
    #[complete(languages)]
    language: String,
    /** The framework; what is offered depends on the language. */
    #[complete(frameworks)]
    framework: Option<String>,
    /** The code. */
    code: String,
) -> Vec<PromptMessage> {
    let with = framework
        .map(|framework| format!(" with {framework}"))
        .unwrap_or_default();
    vec![
        PromptMessage::user(format!("Review this {language}{with} code.")),
        PromptMessage::assistant("Show me."),
        PromptMessage::user(code),
    ]
}

/// Asks what is in a picture.
#[prompt]
pub(super) async fn look() -> Vec<PromptMessage> {
    let picture = Image::new("image/png", resources::logo_png());
    vec![
        PromptMessage::user("What is in this picture?"),
        PromptMessage::user(picture),
    ]
}

pub(super) async fn discuss() -> Vec<PromptMessage> {
    let readme = TextResourceContents::new("demo://readme", resources::README);
    let attached = EmbeddedResource::new(ResourceContents::Text(readme));
    vec![
        PromptMessage::user(attached),
        PromptMessage::assistant("I have read it. What would you like to know?"),
    ]
}

async fn languages(partial: String) -> Vec<&'static str> {
    let partial = partial.to_lowercase();
    ["python", "rust", "ruby", "typescript"]
        .into_iter()
        .filter(|language| language.starts_with(&partial))
        .collect()
}

async fn frameworks(completing: CompletionContext) -> Vec<&'static str> {
    let all: &[&str] = match completing.settled.get("language").map(String::as_str) {
        Some("python") => &["django", "fastapi", "flask"],
        Some("rust") => &["axum", "rocket"],
        Some("ruby") => &["rails"],
        Some("typescript") => &["next", "svelte"],
        _ => &[],
    };
    let partial = completing.partial.to_lowercase();
    all.iter()
        .copied()
        .filter(|name| name.starts_with(&partial))
        .collect()
}
