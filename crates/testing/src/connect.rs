//! A client and a server in one process, where every handler that asks is [run again](crate::reenter).

use turnbuckle_client::{Client, ConnectError, Connection};
use turnbuckle_protocol::Revision;
use turnbuckle_server::LiveServer;

use crate::reenter;

/// Connects a plain client to a server. The client detects the revision, as it does over stdio.
///
/// # Errors
/// If the server does not answer as the protocol requires.
pub async fn connect(server: &LiveServer) -> Result<Connection, ConnectError> {
    connect_with(
        server,
        &Client::new("turnbuckle-testing", env!("CARGO_PKG_VERSION")),
    )
    .await
}

/// Connects a plain client that speaks only this revision.
///
/// # Errors
/// If the server does not answer as the protocol requires.
pub async fn connect_at(
    server: &LiveServer,
    revision: Revision,
) -> Result<Connection, ConnectError> {
    connect_with(server, &plain_client(revision)).await
}

/// Connects your own client, with its handlers and settings.
///
/// # Errors
/// If the server does not answer as the protocol requires.
pub async fn connect_with(
    server: &LiveServer,
    client: &Client,
) -> Result<Connection, ConnectError> {
    client.connect(reenter(server).0).await
}

/// A client that speaks only this revision and has no handlers.
pub fn plain_client(revision: Revision) -> Client {
    Client::new("turnbuckle-testing", env!("CARGO_PKG_VERSION")).only(revision)
}
