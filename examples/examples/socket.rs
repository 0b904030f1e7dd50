//! Any pair of byte streams can carry the protocol: here TCP connections, with one message in each line.
//!
//! A plain socket is neither encrypted nor authenticated: bind it to this machine only.
//!
//! ```text
//! cargo run -p examples --example socket -- 127.0.0.1:7000
//! nc 127.0.0.1 7000
//! ```

use tokio::net::TcpListener;
use turnbuckle::{Caller, Streams, prelude::*};

/// Tells the caller its address.
#[tool(read_only)]
async fn whoami(#[extract] caller: Caller) -> String {
    caller.id().unwrap_or("nobody").to_owned()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:7000".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);

    // The server is built once, and serves each connection.
    let server = turnbuckle::server!().tool(whoami).build()?;
    loop {
        let (stream, address) = listener.accept().await?;
        let (read, write) = stream.into_split();
        let streams = Streams::new(read, write).caller(Caller::new(address.to_string()));
        let server = server.clone();
        tokio::spawn(async move {
            if let Err(error) = server.serve(streams).await {
                eprintln!("{address}: {error}");
            }
        });
    }
}
