//! `Ping`: pings the client of a call.

use std::{fmt, sync::Arc, time::Duration};

use tokio::time::Instant;
use turnbuckle_protocol::RequestParams;

use super::Extract;
use crate::{Call, Failure, client::Peer};

/// Pings the client of a call, for example before an expensive step.
/// [`Server::keep_alive`](crate::Server::keep_alive) pings all clients at an interval instead.
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_server::{Ping, PingError, Server, Tool};
///
/// async fn render(ping: Ping) -> &'static str {
///     match ping.send(Duration::from_secs(5)).await {
///         Err(PingError::Late(_) | PingError::Gone) => "the client does not answer",
///         // A client of 2026-07-28 cannot be pinged.
///         Ok(_) | Err(_) => "a picture",
///     }
/// }
///
/// let server = Server::new("studio", "1.0.0").tool(Tool::new("render", render));
/// # let _ = server;
/// ```
#[derive(Clone)]
pub struct Ping {
    peer: Arc<Peer>,
    is_there: bool,
}

/// The reason why a ping was not answered, from [`Ping::send`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PingError {
    /// The client speaks 2026-07-28 or later, where servers cannot ping. If such a client
    /// disconnects, it closes the stream of its call, which [`Cancelled`](crate::Cancelled)
    /// reports.
    #[error("a client of 2026-07-28 or later cannot be pinged")]
    NotInRevision,
    /// The client did not answer in time. It may be busy.
    #[error("the client did not answer the ping within {0:?}")]
    Late(Duration),
    /// The client disconnected, or its session ended.
    #[error("the client went away before it answered the ping")]
    Gone,
}

impl Ping {
    /// Pings the client, and waits at most `within` for its answer. Returns how long the answer
    /// took. An error from the client counts as an answer, too.
    ///
    /// # Errors
    /// [`PingError`] if the client does not answer in time, disconnects, or cannot be pinged.
    ///
    /// # Cancel safety
    /// Dropping the future tells the client that the answer is no longer needed.
    pub async fn send(&self, within: Duration) -> Result<Duration, PingError> {
        if !self.is_there {
            return Err(PingError::NotInRevision);
        }
        let begun = Instant::now();
        let params = RequestParams::default();
        match tokio::time::timeout(within, self.peer.ask("ping", &params)).await {
            Ok(Some(_)) => Ok(begun.elapsed()),
            Ok(None) => Err(PingError::Gone),
            Err(_) => Err(PingError::Late(within)),
        }
    }
}

impl Extract for Ping {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self {
            peer: Arc::clone(&call.origin.peer),
            is_there: !call.origin.revision.is_modern(),
        })
    }
}

impl fmt::Debug for Ping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ping").finish_non_exhaustive()
    }
}
