//! `Detach`: closes the connection of a long call early.

use std::sync::Arc;

use super::Extract;
use crate::{Call, Failure, client::Peer};

/// Lets the client of a long call disconnect and fetch the answer later.
///
/// In 2025-11-25 over HTTP a server may close the connection of a call that still runs; the client
/// reconnects after a while. That frees the connection, and the resources of proxies. With other
/// revisions and transports it does nothing.
///
/// ```
/// # use turnbuckle_server::Detach;
/// # async fn press() {}
/// async fn print(detach: Detach) -> &'static str {
///     detach.now().await;
///     press().await; // takes an hour
///     "printed"
/// }
/// ```
#[derive(Clone)]
pub struct Detach(Option<Arc<Peer>>);

impl Detach {
    /// Whether this client supports disconnecting. It need not be checked, because
    /// [`now`](Self::now) does nothing otherwise.
    pub fn is_possible(&self) -> bool {
        self.0.is_some()
    }

    /// Closes the connection after everything that was sent so far. The call continues, and its
    /// messages are stored until the client fetches them.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready leaves the connection open.
    pub async fn now(&self) {
        if let Some(peer) = &self.0 {
            peer.detach().await;
        }
    }
}

impl Extract for Detach {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let peer = call
            .origin
            .peer
            .is_detachable()
            .then(|| Arc::clone(&call.origin.peer));
        Ok(Self(peer))
    }
}
