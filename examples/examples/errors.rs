//! Three ways to fail: for the model to read, for the peer to handle, and for the log alone.
//!
//! ```text
//! cargo run -p examples --example errors
//! ```

use turnbuckle::{Fault, Reject, prelude::*};

/// Divides. A model that divides by zero reads why it cannot.
#[tool(read_only)]
async fn divide(dividend: i64, divisor: i64) -> Result<i64, ToolError> {
    dividend
        .checked_div(divisor)
        .ok_or_else(|| ToolError::new("the divisor must not be zero"))
}

/// Reads a number. With `?` any error becomes what the model reads.
#[tool(read_only)]
async fn parse(text: String) -> Result<i64, ToolError> {
    Ok(text.trim().parse()?)
}

/// Refuses the request itself: a JSON-RPC error, with data for programs.
#[tool(read_only)]
async fn secret() -> Result<String, Reject> {
    Err(Reject::new(-31_403, "nobody may know").with_data(serde_json::json!({ "level": "top" })))
}

/// Breaks. What went wrong is ours to know: the peer gets a number, the log the story.
#[tool(read_only)]
async fn load() -> Result<String, Fault> {
    std::fs::read_to_string("/no/such/file").map_err(Fault::new)
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!()
        .tool(divide)
        .tool(parse)
        .tool(secret)
        .tool(load)
        .serve(Stdio)
        .await
}
