//! A build that takes long, as a task.
//!
//! The handler is an ordinary one: a client that knows tasks gets an id and comes back for the
//! result, any other waits. What is said of the progress is the status of the task; a mistake in the
//! arguments is answered before there is a task at all.
//!
//! ```text
//! cargo run -p examples --example long_build
//! ```

use std::time::Duration;

use turnbuckle::{Background, TaskSettings, prelude::*};

/// What can be built.
const PARTS: [&str; 3] = ["parser", "planner", "printer"];

/// Builds a part of the program, or all of it.
#[tool(task)]
async fn build(
    #[extract] background: Background,
    #[extract] progress: Progress,
    part: Option<String>,
) -> Result<String, ToolError> {
    let parts: Vec<&str> = match &part {
        None => PARTS.to_vec(),
        Some(part) => vec![part],
    };
    if let Some(unknown) = parts.iter().find(|part| !PARTS.contains(part)) {
        return Err(ToolError::new(format!("there is no part `{unknown}`")));
    }
    // From here on the client need not keep a connection open.
    background.begin().await;
    for (number, part) in (1..).zip(&parts) {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let total = u32::try_from(parts.len())?;
        progress
            .of(number, total)
            .say(format!("built {part}"))
            .await;
    }
    Ok(format!("built {}", parts.join(", ")))
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!()
        .tool(build)
        .tasks(
            TaskSettings::default()
                .ttl(Duration::from_hours(8))
                .poll_interval(Duration::from_millis(20)),
        )
        .serve(Stdio)
        .await
}
