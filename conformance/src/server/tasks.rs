//! Tools that run as tasks.

use std::time::Duration;

use turnbuckle::{Background, prelude::*};

#[derive(Form)]
struct Confirmation {
    /// Whether to go on.
    confirm: bool,
}

#[derive(Form)]
struct Name {
    /// A name.
    name: String,
}

/// Greets a person, at once.
#[tool]
pub async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Computes for a while.
#[tool(task)]
pub async fn slow_compute(seconds: f64, label: Option<String>) -> String {
    tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 60.0))).await;
    format!("computed {}", label.unwrap_or_default())
}

/// Fails after a second.
#[tool(task_only)]
pub async fn failing_job() -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(ToolError::new("the job failed"))
}

/// Breaks.
#[tool(task_only)]
pub async fn protocol_error_job() -> Result<String, ToolError> {
    Err(turnbuckle::Reject::new(-32_603, "the job broke").into())
}

/// Deletes a file, if the user confirms it.
#[tool(task)]
pub async fn confirm_delete(Ask(ask): Ask, filename: String) -> Result<String, ToolError> {
    let answer: Answer<Confirmation> = ask.form("confirm", format!("Delete {filename}?")).await?;
    match answer {
        Answer::Accepted(Confirmation { confirm: true }) => Ok(format!("{filename} is deleted")),
        _ => Ok(format!("{filename} is kept")),
    }
}

/// Wants to know two things at once.
#[tool(task)]
pub async fn multi_input(Ask(ask): Ask) -> Result<String, ToolError> {
    let (first, second) = tokio::join!(
        ask.form::<Name>("first", "The first name?"),
        ask.form::<Name>("second", "The second name?")
    );
    let said = |answer: Answer<Name>| match answer {
        Answer::Accepted(answer) => answer.name,
        _ => "nobody".into(),
    };
    Ok(format!("{} and {}", said(first?), said(second?)))
}

/// Asks for a name first, and greets it as a task.
#[tool(task_only)]
pub async fn test_tool_with_task(
    Ask(ask): Ask,
    #[extract] background: Background,
) -> Result<String, ToolError> {
    let answer: Answer<Name> = ask.form("user_name", "What is your name?").await?;
    background.begin().await;
    match answer {
        Answer::Accepted(Name { name }) => Ok(format!("Hello, {name}!")),
        _ => Ok("Hello, stranger!".into()),
    }
}
