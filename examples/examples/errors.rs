//! The kinds of errors: for the model, for the peer's program, for the log, and unexpected ones.
//!
//! ```text
//! cargo run -p examples --example errors
//! ```

use anyhow::Context as _;
use turnbuckle::{Fault, Reject, prelude::*};

/// Divides. A model that divides by zero reads why it cannot.
#[tool(read_only)]
async fn divide(dividend: i64, divisor: i64) -> Result<i64, ToolError> {
    dividend
        .checked_div(divisor)
        .ok_or_else(|| ToolError::new("the divisor must not be zero"))
}

/// Reads a number. The model may read what is wrong with it.
#[tool(read_only)]
async fn parse(text: String) -> Result<i64, ToolError> {
    text.trim().parse().map_err(ToolError::shown)
}

/// Says how many seats are left. A text is for the model, too.
#[tool(read_only)]
async fn seats(row: u32) -> Result<u32, String> {
    if row > 40 {
        return Err(format!("there is no row {row}: rows go up to 40"));
    }
    Ok(6)
}

/// Saves a note. What goes wrong with `?` was not expected: the model reads a number, and the log
/// has the error under it. `Server::show_errors` would show it.
#[tool]
async fn save(title: String) -> anyhow::Result<String> {
    let path = std::path::Path::new("/no/such/folder").join(&title);
    std::fs::write(&path, "").with_context(|| format!("{title} cannot be saved"))?;
    Ok("saved".into())
}

/// Refuses the request itself: a JSON-RPC error, with data for programs.
#[tool(read_only)]
async fn secret() -> Result<String, Reject> {
    Err(Reject::new(-31_403, "this is classified").with_data(serde_json::json!({ "level": "top" })))
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
        .tool(seats)
        .tool(save)
        .tool(secret)
        .tool(load)
        .serve(Stdio)
        .await
}
