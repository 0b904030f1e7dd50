//! An MCP server inside a web application: an axum router, with CORS for pages of one origin.
//!
//! ```text
//! cargo run -p examples --example web_app -- 127.0.0.1:8080
//! ```

use std::net::SocketAddr;

use axum::{Router, extract::ConnectInfo, routing::get};
use turnbuckle::{CorsRules, HttpSettings, prelude::*};

/// Adds two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("usage: web_app ADDRESS")?;

    // Pages of this origin may call the server and read its answers.
    let settings = HttpSettings::default()
        .allow_origin("https://app.example.com")
        .cors_with(CorsRules::new())
        // Rates and quotas are counted by address.
        .address_from(|request| Some(request.extensions.get::<ConnectInfo<SocketAddr>>()?.0));
    let server = turnbuckle::server!().tool(add).build()?;
    let mcp = server.http_with(settings).mounted_at("/api/mcp");

    let app = Router::new()
        .route("/", get(async || "the site"))
        .nest_service("/api/mcp", mcp.clone());

    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}/api/mcp", listener.local_addr()?);
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            let _ = tokio::signal::ctrl_c().await;
            // Ends the streams that would otherwise keep connections open.
            mcp.begin_shutdown();
        })
        .await?;
    Ok(())
}
