//! Notifications of extensions, from a server to the client of a call.

use std::{fmt, sync::Arc};

use turnbuckle_protocol::method::NotificationMethod;

use super::Extract;
use crate::{Call, Failure, client::Peer};

/// Sends notifications of an extension to the client, on the stream of this call.
///
/// Progress, log messages and changes have their own extractors. Check with
/// [`Declared`](crate::Declared) that the client supports the extension.
#[derive(Clone)]
pub struct Notify(Arc<Peer>);

impl Notify {
    /// Sends a notification, and waits while too many messages for the client are queued. If the
    /// call has been answered, or the client has disconnected, the notification is dropped.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn send<N: NotificationMethod>(&self, params: &N::Params) {
        self.0.notify(N::NAME, params).await;
    }
}

impl Extract for Notify {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self(Arc::clone(&call.origin.peer)))
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}
