//! Our client, which calls `echo` a given number of times, one call after another.
//!
//! ```text
//! bench-client legacy|modern CALLS URL
//! bench-client legacy|modern CALLS COMMAND [ARGUMENT…]
//! ```

use std::error::Error;

use serde_json::json;
use turnbuckle::{
    client::{Client, Target},
    protocol::{ContentBlock, Revision},
    transport::Command,
};

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
        return Err("usage: bench-client legacy|modern CALLS URL|COMMAND [ARGUMENT…]".into());
    };
    let revision = if era == "modern" {
        Revision::V2026_07_28
    } else {
        Revision::V2025_11_25
    };
    let target = if place.starts_with("http://") {
        Target::from(place)
    } else {
        Target::from(Command::new(place).args(arguments))
    };
    let client = Client::new("bench-client", "0.1.0").only(revision);
    let server = client.connect(target).await?;
    let text = "x".repeat(TEXT);
    for _ in 0..calls.parse::<u32>()? {
        let result = server.call("echo", json!({ "text": text })).await?;
        let said = match result.content.first() {
            Some(ContentBlock::Text(said)) => &said.text,
            _ => return Err("the answer is no text".into()),
        };
        if *said != text {
            return Err("the answer is another text".into());
        }
    }
    server.close().await;
    Ok(())
}
