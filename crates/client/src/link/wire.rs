//! The one place where messages leave.
//!
//! A wire takes whole messages, serialised, and brings what the server says to the connection's
//! receiver. Everything above it neither knows nor cares what carries them.

use serde_json::Error;
use turnbuckle_transport::{Closed, Limits, Outbox};

/// A wire to a server that reads one line for each message.
#[derive(Debug)]
pub(crate) struct Wire {
    outbox: Outbox,
}

impl Wire {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            outbox: Outbox::new(limits),
        }
    }

    /// Sends a request. A server that does not read makes it wait; nothing else does.
    ///
    /// # Cancel safety
    /// Once it is ready the message is on its way whole; before, nothing of it is.
    pub(crate) async fn send(&self, message: &[u8]) -> Result<(), Closed> {
        self.outbox.send(message).await
    }

    /// Sends something that must not wait: an answer, or a notification. These are few and small;
    /// while more of them are unsent than the limit allows, nothing more is read from the server.
    pub(super) fn push(&self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) {
        if let Err(error) = self.outbox.push_with(write) {
            tracing::debug!(%error, "a message could not be written, and was not sent");
        }
    }

    /// Sends what is queued, and then nothing more.
    pub(crate) fn close(&self) {
        self.outbox.close();
    }

    /// Whether nothing more can be sent.
    pub(crate) fn is_closed(&self) -> bool {
        self.outbox.is_closed()
    }

    /// What the driver of the connection empties.
    pub(super) fn outbox(&self) -> Outbox {
        self.outbox.clone()
    }
}
