//! A server that requires tokens, and a client that gets them.
//!
//! The authorization server is a demo on this machine. For your own, pass its URL to `Guard::issuer`;
//! `docs/authorization.md` has the settings of common ones.

use turnbuckle::{
    auth::{
        client::{OAuth, Registered},
        server::{Guard, Identity},
    },
    client::{Client, HttpTarget},
    prelude::*,
    transport::http::Listener,
};
use turnbuckle_test_authorization::AuthorizationServer;

/// Says who calls.
#[tool(read_only)]
async fn whoami(#[extract] identity: Identity) -> String {
    identity.subject().to_owned()
}

/// Takes a note. Needs more than reading does.
#[tool(additive, scopes = ["notes:write"])]
async fn note(#[extract] identity: Identity, text: String) -> String {
    format!("{} noted: {text}", identity.subject())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let issuer = AuthorizationServer::new().client("robot", "s3cret", [""; 0]);
    let issuer = issuer.start().await?;

    // The guard must know the URL that clients use, because tokens must be issued for this URL.
    let listener = Listener::bind("127.0.0.1:0").await?;
    let address = listener.local_address().ok_or("no address")?;
    let url = format!("http://{address}/mcp");
    let guard = Guard::new(&url)
        .issuer(issuer.url())
        .scopes(["notes:read"])
        .implies("notes:write", ["notes:read"])
        .build()?;
    let server = Server::new("notes", "1.0.0").tool(whoami).tool(note);
    tokio::spawn(server.serve(turnbuckle::Http::listener(listener).protect(guard)));

    // A client without a token is told where to get one, and with which scopes.
    let refused = Client::new("stranger", "1.0.0").connect(url.as_str()).await;
    println!(
        "stranger: {}",
        if refused.is_err() {
            "refused"
        } else {
            "let in"
        }
    );

    let robot = Registered::new("robot")
        .with_secret("s3cret")
        .at_issuer(issuer.url());
    let oauth = OAuth::new("robot").client_credentials(robot);
    let notes = Client::new("robot", "1.0.0")
        .connect(HttpTarget::new(&url).authorize(oauth))
        .await?;
    println!("{}", notes.call("whoami", ()).await?.ok()?.text());
    // This tool needs another scope: the client requests it and calls again.
    let text = serde_json::json!({ "text": "buy milk" });
    println!("{}", notes.call("note", text).await?.ok()?.text());
    Ok(())
}
