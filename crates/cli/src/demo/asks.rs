//! Tools that ask the client in the middle of a call: with a form, for a visit to a URL, its model
//! and its roots.

use turnbuckle::{
    Answer, Ask, Choice, Form, ToolError,
    protocol::{CreateMessageRequestParams, SamplingContent, SamplingMessage},
    tool,
};

/// The longest text that the client's model is asked for, in tokens: a few sentences.
const MAX_TOKENS: u64 = 200;

/// A person's details.
#[derive(Form)]
pub(super) struct GreetedPerson {
    /// What to call you.
    #[form(title = "Name", min_length = 1, max_length = 80)]
    name: String,
    /// How to say hello.
    #[form(title = "Tone", default = Tone::Plain)]
    tone: Tone,
}

/// A manner of greeting.
#[derive(Choice)]
#[form(rename_all = "lowercase")]
pub(super) enum Tone {
    /// A plain hello
    Plain,
    /// With a bow
    Formal,
}

/// Asks for a name with a form, and greets.
#[tool(read_only)]
pub(super) async fn greet(Ask(ask): Ask) -> Result<String, ToolError> {
    let answer = ask
        .form::<GreetedPerson>("person", "Whom may I greet?")
        .await?;
    Ok(match answer {
        Answer::Accepted(GreetedPerson { name, tone }) => match tone {
            Tone::Plain => format!("Hello, {name}!"),
            Tone::Formal => format!("A very good day to you, {name}."),
        },
        Answer::Declined => "Hello, stranger!".to_owned(),
        Answer::Cancelled => "Another time, then.".to_owned(),
    })
}

/// The confirmation before a deployment.
#[derive(Form)]
pub(super) struct Confirmation {
    #[form(title = "Really?")]
    confirm: bool,
    #[form(min_length = 3)]
    reason: String,
}

/// Deploys (nothing, in truth) once the user has confirmed it.
#[tool(destructive)]
pub(super) async fn deploy(
    Ask(ask): Ask,
    /** Where to. */
    env: String,
) -> Result<String, ToolError> {
    let question = format!("Deploy to {env}?");
    let answer = ask.form::<Confirmation>("confirm", question).await?;
    match answer {
        Answer::Accepted(Confirmation {
            confirm: true,
            reason,
        }) => {
            tracing::info!(env, reason, "deployed");
            Ok(format!("deployed {env}"))
        }
        _ => Err(ToolError::new(format!("nothing was deployed to {env}"))),
    }
}

/// Sends the person to a page, as for a payment or a sign-in, and says whether they went.
#[tool(read_only, open_world)]
pub(super) async fn visit(Ask(ask): Ask) -> Result<String, ToolError> {
    let answer = ask
        .url(
            "page",
            "Nothing is bought there: this is a demo.",
            "https://example.com/",
        )
        .await?;
    Ok(match answer {
        Answer::Accepted(()) => "The page may be opened.",
        Answer::Declined => "The page stays closed.",
        Answer::Cancelled => "No decision was made.",
    }
    .to_owned())
}

/// Has the client's model write about something.
#[tool(read_only)]
pub(super) async fn write(
    Ask(ask): Ask,
    /** What to write about. */
    about: String,
) -> Result<String, ToolError> {
    let request = CreateMessageRequestParams::new(
        vec![SamplingMessage::user(format!(
            "Write a line about {about}."
        ))],
        MAX_TOKENS,
    );
    let written = ask.sample("line", request).await?;
    let text = written.content.iter().filter_map(SamplingContent::as_text);
    Ok(format!("{} ({})", text.collect::<String>(), written.model))
}

/// Tells the roots of the client: the folders that a server should stay in.
#[tool(read_only)]
pub(super) async fn roots(Ask(ask): Ask) -> Result<String, ToolError> {
    let roots = ask.roots("roots").await?;
    let uris: Vec<&str> = roots.iter().map(|root| &*root.uri).collect();
    Ok(uris.join("\n"))
}
