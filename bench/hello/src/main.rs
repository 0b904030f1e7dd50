//! One typed tool over stdio.

use turnbuckle::prelude::*;

/// Greets somebody by name.
#[tool]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!().tool(greet).serve(Stdio).await
}
