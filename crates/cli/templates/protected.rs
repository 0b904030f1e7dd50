//! An MCP server at an HTTP endpoint that only callers with a token may use.

use std::{env, error::Error};

use turnbuckle::{
    Http,
    auth::server::{Guard, GuardError, Identity, LiveGuard},
    prelude::*,
    transport::http::Listener,
};

/// Where the server listens, unless the environment variable `LISTEN` says otherwise.
const LISTEN: &str = "127.0.0.1:7250";

/// Greets the caller.
#[tool(read_only)]
async fn greet(#[extract] identity: Identity) -> String {
    format!("Hello, {}!", identity.subject())
}

/// The server and everything it offers.
fn server() -> Server {
    turnbuckle::server!().tool(greet)
}

/// Lets in callers with a token of `issuer` that was issued for `public_url`.
fn guard(public_url: &str, issuer: &str) -> Result<LiveGuard, GuardError> {
    Guard::new(public_url).issuer(issuer).build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let setting =
        |name: &str| env::var(name).map_err(|_| format!("set the environment variable {name}"));
    // The URL by which clients know this server, and that of the authorization server.
    let guard = guard(&setting("PUBLIC_URL")?, &setting("ISSUER")?)?;
    let listen = env::var("LISTEN").unwrap_or_else(|_| LISTEN.to_owned());
    let listener = Listener::bind(&listen).await?;
    eprintln!("serving at http://{listen}/mcp");
    server()
        .serve(Http::listener(listener).protect(guard))
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use turnbuckle::{ConnectError, client::Client};

    use super::*;

    #[tokio::test]
    async fn a_client_without_a_token_is_refused() {
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_address().unwrap();
        let url = format!("http://{address}/mcp");
        let guard = guard(&url, "https://login.example.com").unwrap();
        tokio::spawn(server().serve(Http::listener(listener).protect(guard)));
        let refused = Client::new("test", "1.0.0").connect(url.as_str()).await;
        assert!(matches!(
            refused,
            Err(ConnectError::Unauthorized { status: 401, .. })
        ));
    }
}
