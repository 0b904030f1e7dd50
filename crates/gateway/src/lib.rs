//! A gateway: every server at one endpoint, for clients of every revision.
//!
//! A [`Gateway`] is a server whose tools, prompts and resources are those of other servers. Any
//! client can use any of these servers, whatever revision and transport each of them uses: a
//! server's question during a call reaches the client in the form of the client's revision.
//!
//! ```no_run
//! use turnbuckle_gateway::Gateway;
//! use turnbuckle_host::ServerSpec;
//! use turnbuckle_server::Stdio;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let gateway = Gateway::new("tools", "1.0.0")
//!     .server("git", ServerSpec::command("uvx", ["mcp-server-git"]))
//!     .server("files", ServerSpec::command("npx", ["-y", "server-files"]))
//!     .open()?;
//! gateway.server().serve(Stdio).await?;
//! # Ok(())
//! # }
//! ```

mod core;
mod exchange;
mod gateway;
mod gateways;
pub mod lock;
pub mod observe;
pub mod operation;
mod overview;
pub mod personal;
mod routes;
mod seal;
mod settings;
mod spelling;
mod translate;
mod upstream;

pub use gateway::{Gateway, LiveGateway, Mount};
pub use settings::{Isolation, Naming, ToolSettings, UpstreamSettings};
