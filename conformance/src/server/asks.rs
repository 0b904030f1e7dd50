//! Tools that ask the client: by requests in sessions, by rounds without them. The source is one.

use serde::Serialize;
use serde_json::json;
use turnbuckle::{
    Answer, Ask, AskFailed, Asker, ClientInfo, Form, ToolError,
    protocol::{
        CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams, SamplingMessage,
    },
    tool,
};

/// Has the client's model answer a prompt.
#[tool(read_only)]
pub(crate) async fn test_sampling(
    Ask(ask): Ask,
    /** What to ask the model. */
    prompt: String,
) -> Result<String, AskFailed> {
    let answer = ask.sample("answer", question(&prompt)).await?;
    Ok(format!("LLM response: {}", answer.text()))
}

/// Details of a person.
#[derive(Serialize, Form)]
struct Person {
    /// The user's name.
    username: String,
    /// The user's email address.
    email: String,
}

/// Has the user fill in a form.
#[tool(read_only)]
pub(crate) async fn test_elicitation(
    Ask(ask): Ask,
    /** What the form says. */
    message: String,
) -> Result<String, AskFailed> {
    Ok(match ask.form::<Person>("person", message).await? {
        Answer::Accepted(person) => {
            format!("User response: action accept, content {}", json!(person))
        }
        Answer::Declined => "User response: action decline".to_owned(),
        Answer::Cancelled => "User response: action cancel".to_owned(),
    })
}

/// Shows a form with a default for every kind of field.
#[tool(read_only)]
pub(crate) async fn test_elicitation_sep1034_defaults(Ask(ask): Ask) -> Result<String, ToolError> {
    let properties = json!({
        "name": {"type": "string", "description": "Your name", "default": "John Doe"},
        "age": {"type": "integer", "description": "Your age", "default": 30},
        "score": {"type": "number", "description": "Your score", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Verified or not", "default": true}
    });
    form_of(&ask, "Please review these defaults.", properties).await
}

/// Shows a form with every kind of choice.
#[tool(read_only)]
pub(crate) async fn test_elicitation_sep1330_enums(Ask(ask): Ask) -> Result<String, ToolError> {
    let values = json!(["option1", "option2", "option3"]);
    let titled = json!([
        {"const": "value1", "title": "First"},
        {"const": "value2", "title": "Second"},
        {"const": "value3", "title": "Third"}
    ]);
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": values},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["First", "Second", "Third"]
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": values}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}}
    });
    form_of(&ask, "Please choose.", properties).await
}

/// Needs a model.
#[tool(read_only)]
pub(crate) async fn test_missing_capability(Ask(ask): Ask) -> Result<String, AskFailed> {
    let answer = ask.sample("answer", question("Are you there?")).await?;
    Ok(answer.text())
}

/// A single name.
#[derive(Form)]
struct Name {
    /// Your name.
    name: String,
}

/// Asks for a name.
#[tool(read_only)]
pub(crate) async fn test_streaming_elicitation(Ask(ask): Ask) -> Result<String, ToolError> {
    hello(&ask).await
}

/// Asks for a name, and greets.
#[tool(read_only)]
pub(crate) async fn test_input_required_result_elicitation(
    Ask(ask): Ask,
) -> Result<String, ToolError> {
    hello(&ask).await
}

/// Asks a model.
#[tool(read_only)]
pub(crate) async fn test_input_required_result_sampling(
    Ask(ask): Ask,
) -> Result<String, AskFailed> {
    let answer = capital(&ask).await?;
    Ok(answer.text())
}

/// Asks for the roots.
#[tool(read_only)]
pub(crate) async fn test_input_required_result_list_roots(
    Ask(ask): Ask,
) -> Result<String, AskFailed> {
    let roots = ask.roots("client_roots").await?;
    Ok(format!("{} roots", roots.len()))
}

/// A yes or a no.
#[derive(Form)]
struct Confirmation {
    /// Whether it is right.
    ok: bool,
}

/// Asks to confirm, and keeps state meanwhile.
#[tool(read_only)]
pub(crate) async fn test_input_required_result_request_state(
    Ask(ask): Ask,
) -> Result<String, ToolError> {
    confirm(&ask).await.map(|ok| format!("state-ok: {ok}"))
}

/// Asks to confirm, and keeps state that cannot be tampered with.
#[tool(read_only)]
pub(crate) async fn test_input_required_result_tampered_state(
    Ask(ask): Ask,
) -> Result<String, ToolError> {
    confirm(&ask).await.map(|ok| format!("state-ok: {ok}"))
}

/// Asks for a name, a model's answer and the roots, all at once.
#[tool(read_only)]
pub(crate) async fn test_input_required_result_multiple_inputs(
    Ask(ask): Ask,
) -> Result<String, ToolError> {
    let name = ask.form::<Name>("user_name", "What is your name?");
    let (name, answer, roots) = tokio::join!(name, capital(&ask), ask.roots("client_roots"));
    let (name, answer, roots) = (name?.accepted()?.name, answer?, roots?);
    Ok(format!("{name}: {}, {} roots", answer.text(), roots.len()))
}

/// A colour.
#[derive(Form)]
struct Colour {
    /// Your favourite colour.
    color: String,
}

/// Asks one question after the other.
#[tool(read_only)]
pub(crate) async fn test_input_required_result_multi_round(
    Ask(ask): Ask,
) -> Result<String, ToolError> {
    let first = ask.form::<Name>("step1", "What is your name?").await?;
    let name = first.accepted()?.name;
    let second = ask.form::<Colour>("step2", "What is your favourite colour?");
    let colour = second.await?.accepted()?.color;
    Ok(format!("{name} likes {colour}"))
}

/// Asks only for what the client can give.
#[tool(read_only)]
pub(crate) async fn test_input_required_result_capabilities(
    Ask(ask): Ask,
    #[extract] client: ClientInfo,
) -> Result<String, ToolError> {
    if client.capabilities.elicitation.is_some() {
        return hello(&ask).await;
    }
    Ok(capital(&ask).await?.text())
}

async fn hello(ask: &Asker) -> Result<String, ToolError> {
    let answer = ask.form::<Name>("user_name", "What is your name?").await?;
    Ok(format!("Hello, {}!", answer.accepted()?.name))
}

async fn confirm(ask: &Asker) -> Result<bool, ToolError> {
    let answer = ask.form::<Confirmation>("confirm", "Is it right?").await?;
    Ok(answer.accepted()?.ok)
}

async fn capital(ask: &Asker) -> Result<CreateMessageResult, AskFailed> {
    let request = question("What is the capital of France?");
    ask.sample("capital_question", request).await
}

async fn form_of(
    ask: &Asker,
    message: &str,
    properties: serde_json::Value,
) -> Result<String, ToolError> {
    let schema = serde_json::from_value(json!({"type": "object", "properties": properties}))?;
    let form = ElicitRequestFormParams::new(message, schema);
    let result = ask.form_of("form", form).await?;
    Ok(format!("Elicitation completed: {}", json!(result)))
}

fn question(text: &str) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::user(text)], 100)
}
