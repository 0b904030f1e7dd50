//! An MCP server at an HTTP endpoint.

use turnbuckle::{Http, prelude::*, transport::http::Listener};

/// Where the server listens, unless the environment variable `LISTEN` says otherwise.
const LISTEN: &str = "127.0.0.1:7250";

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
    let listen = std::env::var("LISTEN").unwrap_or_else(|_| LISTEN.to_owned());
    let listener = Listener::bind(&listen).await?;
    eprintln!("serving at http://{listen}/mcp");
    server().serve(Http::listener(listener)).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use turnbuckle::client::Client;

    use super::*;

    #[tokio::test]
    async fn a_client_can_call_the_tool() {
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_address().unwrap();
        tokio::spawn(server().serve(Http::listener(listener)));
        let url = format!("http://{address}/mcp");
        let client = Client::new("test", "1.0.0")
            .connect(url.as_str())
            .await
            .unwrap();
        let greeting = client
            .call("greet", json!({ "name": "Ada" }))
            .await
            .unwrap();
        assert_eq!(greeting.text(), "Hello, Ada!");
    }
}
