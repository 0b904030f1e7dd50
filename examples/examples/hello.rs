//! The smallest server: one typed tool over stdio.
//!
//! ```text
//! cargo run -p examples --example hello
//! ```

use turnbuckle::prelude::*;

/// Greets a person by name.
#[tool(read_only)]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!().tool(greet).serve(Stdio).await
}
