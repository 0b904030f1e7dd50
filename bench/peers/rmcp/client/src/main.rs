//! A client built on rmcp that calls `echo` a given number of times, one call after another.
//!
//! ```text
//! rmcp-client legacy|modern CALLS URL
//! rmcp-client legacy|modern CALLS COMMAND [ARGUMENT…]
//! ```

use std::error::Error;

use rmcp::{
    ClientServiceExt, RoleClient,
    model::{CallToolRequestParams, ProtocolVersion},
    service::{ClientLifecycleMode, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};

/// Bytes of text in each call.
const TEXT: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(era), Some(calls), Some(place)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: rmcp-client legacy|modern CALLS URL|COMMAND [ARGUMENT…]".into());
    };
    let client = connect(&era, place, arguments).await?;
    let text = "x".repeat(TEXT);
    for _ in 0..calls.parse::<u32>()? {
        let Value::Object(arguments) = json!({ "text": text }) else {
            unreachable!("it is written as an object");
        };
        let call = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = client.call_tool(call).await?;
        let said = result.content.first().and_then(|it| it.as_text());
        if said.is_none_or(|it| it.text != text) {
            return Err("the answer is another text".into());
        }
    }
    client.cancel().await?;
    Ok(())
}

async fn connect(
    era: &str,
    place: String,
    arguments: impl Iterator<Item = String>,
) -> Result<RunningService<RoleClient, ()>, Box<dyn Error>> {
    let lifecycle = if era == "modern" {
        ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        }
    } else {
        ClientLifecycleMode::Initialize
    };
    if place.starts_with("http://") {
        let transport = StreamableHttpClientTransport::from_uri(place);
        return Ok(().serve_with_lifecycle(transport, lifecycle).await?);
    }
    let mut command = tokio::process::Command::new(place);
    command.args(arguments);
    let transport = TokioChildProcess::new(command)?;
    Ok(().serve_with_lifecycle(transport, lifecycle).await?)
}
