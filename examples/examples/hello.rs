//! The smallest server: one typed tool over stdio.
//!
//! ```text
//! cargo run -p examples --example hello
//! ```

use turnbuckle::prelude::*;

/// Greets somebody.
#[tool(read_only)]
async fn greet(
    /// Whom to greet.
    name: String,
) -> String {
    format!("Hello, {name}!")
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!().tool(greet).serve(Stdio).await
}
