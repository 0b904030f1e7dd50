//! An MCP server on stdin and stdout.

use turnbuckle::prelude::*;

/// Greets a person by name.
#[tool(read_only)]
async fn greet(
    /// The person to greet.
    name: String,
) -> String {
    format!("Hello, {name}!")
}

/// The server and everything it offers.
fn server() -> Server {
    turnbuckle::server!().tool(greet)
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    server().serve(Stdio).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use turnbuckle::{client::Client, transport::duplex};

    use super::*;

    #[tokio::test]
    async fn a_client_can_call_the_tool() {
        let (near, far) = duplex();
        tokio::spawn(server().serve(far));
        let client = Client::new("test", "1.0.0").connect(near).await.unwrap();
        let greeting = client
            .call("greet", json!({ "name": "Ada" }))
            .await
            .unwrap();
        assert_eq!(greeting.text(), "Hello, Ada!");
    }
}
