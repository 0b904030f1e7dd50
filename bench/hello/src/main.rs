//! One typed tool over stdio.

use turnbuckle::prelude::*;

/// Greets a person by name.
#[tool]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!().tool(greet).serve(Stdio).await
}
