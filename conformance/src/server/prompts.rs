//! Prompts: plain, with arguments, with a resource, with an image, and one that asks first.

use turnbuckle::{Ask, Failure, Form, Image, PromptMessage, prompt};

use super::content::{PNG, embedded};

/// A prompt without arguments.
#[prompt]
pub(crate) async fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// A prompt with two arguments.
#[prompt]
pub(crate) async fn test_prompt_with_arguments(
    /** The first argument. */
    #[complete(words)]
    arg1: String,
    /** The second argument. */
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

async fn words(partial: String) -> Vec<&'static str> {
    ["paris", "park", "party"]
        .into_iter()
        .filter(|word| word.starts_with(&partial))
        .collect()
}

/// A prompt with a resource in it.
#[prompt]
pub(crate) async fn test_prompt_with_embedded_resource(
    /** The resource's URI. */
    #[arg(rename = "resourceUri")]
    resource_uri: String,
) -> Vec<PromptMessage> {
    let resource = embedded(&resource_uri, "text/plain", "Embedded resource content.");
    vec![
        PromptMessage::user(resource),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

/// A prompt with an image in it.
#[prompt]
pub(crate) async fn test_prompt_with_image() -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(Image::new("image/png", PNG)),
        PromptMessage::user("Please analyze the image above."),
    ]
}

/// What the prompt is about.
#[derive(Form)]
struct Context {
    /// The context.
    context: String,
}

/// A prompt that needs to know more first.
#[prompt]
pub(crate) async fn test_input_required_result_prompt(Ask(ask): Ask) -> Result<String, Failure> {
    let answer = ask
        .form::<Context>("user_context", "What context should the prompt use?")
        .await?;
    Ok(format!("Use this context: {}", answer.accepted()?.context))
}
