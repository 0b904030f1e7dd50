//! `Wire`: the only place where messages are sent.
//!
//! A wire accepts whole, serialised messages, and passes the server's messages to the connection's
//! receiver. The code above it is independent of the transport.

use std::sync::Arc;

use serde_json::Error;
use turnbuckle_transport::{Closed, Limits, Outbox};

use crate::http::Http;

/// A connection to a server that reads one line for each message. Over HTTP, it only queues
/// notifications and answers.
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

    /// Creates a wire over HTTP.
    #[cfg(feature = "http")]
    pub(super) fn over_http(limits: Limits, http: Arc<Http>) -> Self {
        Self {
            http: Some(http),
            ..Self::new(limits)
        }
    }

    /// The HTTP transport; `None` for a pipe.
    pub(crate) fn http(&self) -> Option<&Arc<Http>> {
        self.http.as_ref()
    }

    /// The full URL, if the transport is HTTP. It may contain secrets and must not be shown.
    pub(crate) fn url(&self) -> Option<String> {
        self.http.as_ref().map(|http| http.url())
    }

    /// Whether the transport is HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.http.is_some()
    }

    /// Whether a request is cancelled by closing its stream, without a notification.
    pub(super) fn cancels_by_closing(&self, is_modern: bool) -> bool {
        // streamable-http: in the modern era, closing the stream cancels the request.
        is_modern && self.is_http()
    }

    /// Releases what keeps the connection open, when the last handle to it is gone.
    pub(super) fn release(&self) {
        if let Some(http) = &self.http {
            http.detach();
        }
    }

    /// Sends a request. It only waits if the server does not read.
    ///
    /// # Cancel safety
    /// When the future is ready the whole message is queued; if it is dropped before, no part of the
    /// message is sent.
    pub(crate) async fn send(&self, message: &[u8]) -> Result<(), Closed> {
        self.outbox.send(message).await
    }

    /// Sends an answer or a notification without waiting. These messages are few and small. While the
    /// limit on their number is exceeded, nothing more is read from the server.
    pub(super) fn push(&self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) {
        if let Err(error) = self.outbox.push_with(write) {
            tracing::debug!(%error, "could not write a message, so it was not sent");
        }
    }

    /// Sends the queued messages, and then nothing more.
    pub(crate) fn close(&self) {
        self.outbox.close();
    }

    /// Whether nothing more can be sent.
    pub(crate) fn is_closed(&self) -> bool {
        self.outbox.is_closed()
    }

    /// The queue of messages, which the driver of the connection sends.
    pub(crate) fn outbox(&self) -> Outbox {
        self.outbox.clone()
    }
}
