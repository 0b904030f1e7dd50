//! An authorization server for tests and demos. It signs in every user without a password and protects
//! nothing. `authorization_server ADDRESS` prints its issuer and listens until it is stopped.

use turnbuckle_test_authorization::AuthorizationServer;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:0".into());
    let server = AuthorizationServer::new()
        .at(address)
        .subject("ann")
        .scopes(["notes:read", "notes:write"])
        .public_client("app", ["http://127.0.0.1/callback"])
        .client("robot", "s3cret", ["http://127.0.0.1/callback"]);
    let server = server.start().await?;
    println!("listening at {}", server.url());
    std::future::pending().await
}
