//! A client: connects to any server, lists its tools, and calls one.
//!
//! ```text
//! cargo run -p examples --example list_and_call -- TOOL ARGUMENTS COMMAND…
//! cargo run -p examples --example list_and_call -- echo '{"message":"hi"}' npx -y @modelcontextprotocol/server-everything
//! ```

use serde_json::Value;
use turnbuckle::{client::Client, transport::Command};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(tool), Some(input), Some(program)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: list_and_call TOOL ARGUMENTS COMMAND…".into());
    };
    let input: Value = serde_json::from_str(&input)?;

    let client = Client::new("list-and-call", "1.0.0");
    let server = client
        .connect(Command::new(program).args(arguments))
        .await?;
    println!(
        "{} speaks {}",
        server.server().name(),
        server.server().revision()
    );
    for tool in server.tools().await? {
        println!("- {}: {}", tool.name, tool.description.unwrap_or_default());
    }

    // The tool's result: its structured content, or its text parsed as JSON.
    let output: Value = server.call(tool, input).await?.parse()?;
    println!("{output:#}");
    server.close().await;
    Ok(())
}
