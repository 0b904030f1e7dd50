//! Observing the messages on the wire.

use std::{fmt, sync::Arc};

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the server.
    Out,
    /// From the server.
    In,
}

/// A message that was sent or received, for [`Client::on_wire`](crate::Client::on_wire). It borrows the
/// message; copy what you keep.
#[derive(Clone, Copy, Debug)]
pub struct WireMessage<'a> {
    /// Whether the message was sent or received.
    pub direction: Direction,
    /// The name of the server, as [`Peer::name`](crate::Peer::name) returns it once it is known.
    pub server: &'a str,
    /// The message as it is on the wire, without framing. A received message may be invalid JSON.
    pub message: &'a [u8],
}

/// The application's listener for all messages of a connection.
#[derive(Clone)]
pub(crate) struct Tap(Arc<dyn Fn(WireMessage<'_>) + Send + Sync>);

impl Tap {
    pub(crate) fn new(show: impl Fn(WireMessage<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }

    pub(crate) fn show(&self, passing: WireMessage<'_>) {
        (self.0)(passing);
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}
