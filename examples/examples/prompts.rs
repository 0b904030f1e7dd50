//! Prompts, and the completion of their arguments while the user types.
//!
//! ```text
//! cargo run -p examples --example prompts
//! ```

use schemars::JsonSchema;
use serde::Deserialize;
use turnbuckle::{CompletionContext, PromptMessage, prelude::*};

/// A tone of voice. An enum completes itself.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Formal,
    Friendly,
}

/// Writes a letter.
#[prompt(title = "Write a letter")]
async fn letter(
    /// The country it goes to.
    #[complete(["Chile", "China", "France"])]
    country: String,
    /// The city.
    #[complete(cities)]
    city: String,
    /// Friendly unless said.
    tone: Option<Tone>,
) -> Vec<PromptMessage> {
    let tone = match tone {
        Some(Tone::Formal) => "formal",
        Some(Tone::Friendly) | None => "friendly",
    };
    vec![
        PromptMessage::user(format!(
            "Write a {tone} letter to a stranger in {city}, {country}."
        )),
        PromptMessage::assistant("Dear"),
    ]
}

/// Suggestions may depend on the arguments that are already filled in.
async fn cities(completing: CompletionContext) -> Vec<&'static str> {
    let all: &[&str] = match completing.settled.get("country").map(String::as_str) {
        Some("Chile") => &["Santiago", "Valparaíso"],
        Some("China") => &["Beijing", "Shanghai"],
        Some("France") => &["Lyon", "Paris"],
        _ => &[],
    };
    all.iter()
        .copied()
        .filter(|city| city.starts_with(&completing.partial))
        .collect()
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!().prompt(letter).serve(Stdio).await
}
