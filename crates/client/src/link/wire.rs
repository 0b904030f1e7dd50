//! The one place where messages are sent.
//!
//! A wire takes whole messages, serialised, and brings what the server says to the connection's
//! receiver. Everything above it neither knows nor cares what carries them.

use std::sync::Arc;

use serde_json::Error;
use turnbuckle_transport::{Closed, Limits, Outbox};

use crate::http::Http;

/// A wire to a server that reads one line for each message; or, over HTTP, what is to be said
/// without waiting for an answer.
#[derive(Debug)]
pub(crate) struct Wire {
    outbox: Outbox,
    http: Option<Arc<Http>>,
}

impl Wire {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            outbox: Outbox::new(limits),
            http: None,
        }
    }

    /// A wire over HTTP.
    #[cfg(feature = "http")]
    pub(super) fn over_http(limits: Limits, http: Arc<Http>) -> Self {
        Self {
            http: Some(http),
            ..Self::new(limits)
        }
    }

    /// The HTTP transport, if it is one.
    pub(crate) fn http(&self) -> Option<&Arc<Http>> {
        self.http.as_ref()
    }

    /// Where that is, if it is HTTP: all of it, which is not to be shown.
    pub(crate) fn url(&self) -> Option<String> {
        self.http.as_ref().map(|http| http.url())
    }

    /// Whether that is HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.http.is_some()
    }

    /// Whether a request is given up by closing its stream, and nothing is said.
    pub(super) fn cancels_by_closing(&self, is_modern: bool) -> bool {
        // streamable-http: closing the stream is the cancellation, in the modern era.
        is_modern && self.is_http()
    }

    /// Releases what keeps the connection open, once no handle to it is left.
    pub(super) fn release(&self) {
        if let Some(http) = &self.http {
            http.detach();
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

    /// The queue that the driver of the connection empties.
    pub(crate) fn outbox(&self) -> Outbox {
        self.outbox.clone()
    }
}
