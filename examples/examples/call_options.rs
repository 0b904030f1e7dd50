//! A client that follows the progress of a call, sets its deadline, and cancels it.
//!
//! It calls the tool `boil` of the `progress` example:
//!
//! ```text
//! cargo build -p examples --examples
//! cargo run -p examples --example call_options -- target/debug/examples/progress
//! ```

use std::time::Duration;

use serde_json::json;
use turnbuckle::{
    client::{CallError, Client},
    transport::Command,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("usage: call_options COMMAND…")?;
    let client = Client::new("call-options", "1.0.0");
    let kitchen = client
        .connect(Command::new(program).args(arguments))
        .await?;

    let boiled = kitchen
        .call("boil", json!({ "eggs": 3 }))
        .progress(|report| println!("{} of {}", report.progress, report.total.unwrap_or(0.0)))
        .await?;
    println!("{}", boiled.ok()?.text());

    // Without progress the deadline is not extended; then the call fails, and the server is told to stop.
    let late = kitchen
        .call("boil", json!({ "eggs": 1000 }))
        .deadline(Duration::from_millis(100));
    match late.await {
        Err(error @ CallError::Deadline { .. }) => println!("{error}"),
        other => println!("unexpected: {other:?}"),
    }

    // Dropping the future cancels the call: here, because a timer ends first.
    let call = kitchen.call("boil", json!({ "eggs": 1000 }));
    if tokio::time::timeout(Duration::from_millis(100), call)
        .await
        .is_err()
    {
        println!("never mind the eggs");
    }
    kitchen.close().await;
    Ok(())
}
