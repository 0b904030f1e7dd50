//! Structured output: return `Json<T>`, and the tool has an output schema.
//!
//! Clients of older revisions get the same value as JSON text.
//!
//! ```text
//! cargo run -p examples --example structured
//! ```

use schemars::JsonSchema;
use serde::Serialize;
use turnbuckle::prelude::*;

/// Facts about a text.
#[derive(Serialize, JsonSchema)]
struct Facts {
    /// How many words it has.
    words: usize,
    /// Its longest word; none if there are no words.
    longest: Option<String>,
}

/// Counts the words of a text.
#[tool(read_only)]
async fn count_words(text: String) -> Json<Facts> {
    let words = text.split_whitespace();
    let longest = words
        .clone()
        .max_by_key(|word| word.chars().count())
        .map(str::to_owned);
    Json(Facts {
        words: words.count(),
        longest,
    })
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!().tool(count_words).serve(Stdio).await
}
