//! Tools that report progress, log, hang up, and change the lists.

use std::time::Duration;

use turnbuckle::{Catalog, Detach, Log, Progress, Prompt, SetupError, Tool, tool};

/// How far apart the suite wants messages to be.
const PAUSE: Duration = Duration::from_millis(50);

/// Reports progress three times.
#[tool(read_only)]
pub(crate) async fn test_tool_with_progress(#[extract] progress: Progress) -> &'static str {
    for done in [0, 50, 100] {
        progress.of(done, 100).await;
        tokio::time::sleep(PAUSE).await;
    }
    "Tool with progress executed."
}

/// Sends three log messages.
#[tool(read_only)]
pub(crate) async fn test_tool_with_logging(#[extract] log: Log) -> &'static str {
    for said in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        log.info(said);
        tokio::time::sleep(PAUSE).await;
    }
    "Tool with logging executed."
}

/// Sends log messages to clients that ask for them.
#[tool(read_only)]
pub(crate) async fn test_logging_tool(#[extract] log: Log) -> &'static str {
    log.info("a message that nobody may have asked for");
    "logged"
}

/// Hangs up, and has the client come back for the result.
#[tool(read_only)]
pub(crate) async fn test_reconnection(#[extract] detach: Detach) -> &'static str {
    detach.now().await;
    tokio::time::sleep(PAUSE).await;
    "Reconnection test completed."
}

/// Takes an argument that HTTP clients send as a header too.
#[tool(read_only)]
pub(crate) async fn test_x_mcp_header(
    /** Where. */
    #[arg(header = "Region")]
    region: String,
) -> String {
    format!("region: {region}")
}

/// Changes the list of tools.
#[tool(additive)]
pub(crate) async fn test_trigger_tool_change(
    #[extract] catalog: Catalog,
) -> Result<&'static str, SetupError> {
    let tool = Tool::new("test_temporary_tool", || async { "here for a moment" });
    catalog.add_tool(tool.about("Comes and goes."))?;
    catalog.remove_tool("test_temporary_tool");
    Ok("the list of tools changed")
}

/// Changes the list of prompts.
#[tool(additive)]
pub(crate) async fn test_trigger_prompt_change(
    #[extract] catalog: Catalog,
) -> Result<&'static str, SetupError> {
    let prompt = Prompt::new("test_temporary_prompt", || async { "here for a moment" });
    catalog.add_prompt(prompt.about("Comes and goes."))?;
    catalog.remove_prompt("test_temporary_prompt");
    Ok("the list of prompts changed")
}
