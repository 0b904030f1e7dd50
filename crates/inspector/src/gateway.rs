//! Requests of the page to the gateway that it is shown with.

use std::sync::Arc;

use http::StatusCode;

/// A request of the page to a gateway.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum GatewayAsk<'a> {
    /// The overview, with statistics of a period: `15m`, `1h` or `24h`.
    Overview(&'a str),
    /// The newest requests after a number.
    Exchanges {
        /// The number after which requests are returned.
        after: u64,
        /// How many requests to return at most.
        limit: usize,
    },
    /// One request, with its messages between client and gateway and between gateway and server.
    Exchange(u64),
    /// Restart a server.
    Restart(&'a str),
    /// Read the config files again.
    Reload,
    /// Approve changes of a server: one entry, or all of them.
    Approve {
        /// The server; `None` for all servers.
        server: Option<&'a str>,
        /// `tool`, `prompt` or `instructions`; `None` for all kinds.
        kind: Option<&'a str>,
        /// The tool or prompt; `None` for all.
        name: Option<&'a str>,
    },
}

/// Answers the page with a JSON text, or with a status and a message.
pub type GatewayPage =
    Arc<dyn Fn(GatewayAsk<'_>) -> Result<String, (StatusCode, String)> + Send + Sync>;
