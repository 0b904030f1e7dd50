//! `Receive`: the trait for receivers of messages.

use std::task::{Context, Poll};

/// Receives the messages of one connection, in order, on the connection's own task or thread.
///
/// The methods run inside the runtime's context, so they may spawn tasks. They must not block: while
/// one runs, nothing else is read from this connection. Push answers that are ready at once to the
/// connection's [`Outbox`](crate::Outbox) from inside [`receive`](Self::receive); all answers of one
/// batch are written together.
pub trait Receive: Send {
    /// Receives one message, without its line end. It is never blank, but may be anything else that a
    /// peer can send as a line, even invalid UTF-8.
    fn receive(&mut self, message: &[u8]);

    /// Ready when the receiver accepts another message. Until then nothing is read, so a receiver that
    /// cannot hold another message makes its peer wait. The default is always ready.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let _ = context;
        Poll::Ready(())
    }

    /// Called for a line that is not a message. The connection stays open.
    fn receive_fault(&mut self, fault: LineFault<'_>);

    /// Called when the input has ended. It is the last call, and is made once, or not at all if the
    /// connection is dropped or given up before its input ends.
    ///
    /// Answers of running work may be queued for [`Limits::linger`](crate::Limits::linger) longer;
    /// closing the outbox when that work is done ends the connection sooner.
    fn closed(&mut self);
}

impl<T: Receive + ?Sized> Receive for Box<T> {
    fn receive(&mut self, message: &[u8]) {
        (**self).receive(message);
    }

    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        (**self).poll_room(context)
    }

    fn receive_fault(&mut self, fault: LineFault<'_>) {
        (**self).receive_fault(fault);
    }

    fn closed(&mut self) {
        (**self).closed();
    }
}

/// A line that cannot be passed on as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineFault<'a> {
    /// The line is longer than the limit. It is reported once, as soon as that is certain, and skipped
    /// up to its end.
    #[error(
        "a message is longer than the limit of {limit} bytes; send less at once, or raise the limit"
    )]
    TooLong {
        /// The bytes of the line so far, enough to identify the request.
        head: &'a [u8],
        /// The limit, in bytes.
        limit: usize,
    },
    /// The input ended inside a line. `rest` is a complete message if the peer only left out the last
    /// line end, and an incomplete one if the peer exited while writing.
    #[error("the input ended inside a message, after {} bytes", .rest.len())]
    Unterminated {
        /// The bytes after the last line end.
        rest: &'a [u8],
    },
}
