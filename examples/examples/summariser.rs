//! A tool that uses the client's model (sampling).
//!
//! ```text
//! cargo run -p examples --example summariser
//! ```

use turnbuckle::{
    prelude::*,
    protocol::{CreateMessageRequestParams, CreateMessageResult, SamplingMessage},
};

/// The longest summary, in tokens: three sentences.
const MAX_TOKENS: u64 = 120;

/// Sums up a text in one sentence.
#[tool(read_only)]
async fn summarise(
    Ask(ask): Ask,
    /** The text. */
    text: String,
) -> Result<String, ToolError> {
    let mut request =
        CreateMessageRequestParams::new(vec![SamplingMessage::user(text.as_str())], MAX_TOKENS);
    request.system_prompt = Some("Sum up what the user writes in one sentence.".into());
    // If the client has no model, the summary is the first sentence.
    let summary = ask
        .sample("summary", request)
        .or_else(|_| CreateMessageResult::new("none", first_sentence(&text)));
    let summary = summary.await?;
    Ok(format!("{} [{}]", summary.text(), summary.model))
}

fn first_sentence(text: &str) -> String {
    let end = text.find(". ").map_or(text.len(), |index| index + 1);
    text[..end].to_owned()
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!().tool(summarise).serve(Stdio).await
}
