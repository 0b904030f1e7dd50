//! A long build that runs as a task.
//!
//! The handler is an ordinary function. A client that supports tasks gets an id and fetches the result
//! later; other clients wait for the result. Progress messages become the status of the task. Invalid
//! arguments are reported before a task is created.
//!
//! ```text
//! cargo run -p examples --example long_build
//! ```

use std::time::Duration;

use turnbuckle::{Background, TaskSettings, prelude::*};

/// The parts that can be built.
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
    // From here on, the client need not keep a connection open.
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
