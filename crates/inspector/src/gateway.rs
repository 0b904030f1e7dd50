//! Questions of the page to the gateway that it is shown with.

use std::sync::Arc;

use http::StatusCode;

/// What the page asks a gateway for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum GatewayAsk<'a> {
    /// All that there is to see, with figures of a period: `15m`, `1h` or `24h`.
    Overview(&'a str),
    /// The requests after a number, at most so many of the newest.
    Exchanges {
        /// The number.
        after: u64,
        /// How many at the most.
        limit: usize,
    },
    /// One request with the messages of both hops.
    Exchange(u64),
    /// Restart a server.
    Restart(&'a str),
    /// Read the config files again.
    Reload,
    /// Approve what a server changed: one entry, or all of them.
    Approve {
        /// The server; all of them if there is no name.
        server: Option<&'a str>,
        /// `tool`, `prompt` or `instructions`; all of them if there is no kind.
        kind: Option<&'a str>,
        /// The tool or prompt; all of them if there is no name.
        name: Option<&'a str>,
    },
}

/// Answers the page with a JSON text, or with a status and the reason in words.
pub type GatewayPage =
    Arc<dyn Fn(GatewayAsk<'_>) -> Result<String, (StatusCode, String)> + Send + Sync>;
