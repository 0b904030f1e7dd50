//! `Receive`: the trait that takes the messages of a connection.

use std::task::{Context, Poll};

/// Takes the messages of one connection, in order, on the connection's own task or thread.
///
/// The methods run inside the runtime's context, so they may spawn. They must not block: while
/// one runs, nothing else is read from this connection. Answers that are ready at once are
/// pushed to the connection's [`Outbox`](crate::Outbox) from inside [`receive`](Self::receive);
/// all those of one batch leave with one write.
pub trait Receive: Send {
    /// Takes one message, without its line end. It is never blank; it may be anything else that a
    /// peer can put on a line, UTF-8 or not.
    fn receive(&mut self, message: &[u8]);

    /// Ready when another message may be handed over. Until then nothing is read: a receiver that
    /// cannot hold another message lets its peer wait here. Ready by itself unless implemented.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let _ = context;
        Poll::Ready(())
    }

    /// Called for a line that is not a message. The connection goes on.
    fn receive_fault(&mut self, fault: LineFault<'_>);

    /// The peer will send nothing more. Called once, last; not at all if the connection is dropped
    /// or given up before its input ends.
    ///
    /// Answers of work still running may be queued for [`Limits::linger`](crate::Limits::linger)
    /// longer; closing the outbox when that work is done ends the connection sooner.
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

/// A line that cannot be handed over as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineFault<'a> {
    /// The line is longer than the limit. It is reported as soon as that is certain, once, and
    /// skipped up to its end.
    #[error("a message is longer than the limit of {limit} bytes; send less at once, or raise it")]
    TooLong {
        /// What had arrived of the line, enough to find out which request it was.
        head: &'a [u8],
        /// The limit, in bytes.
        limit: usize,
    },
    /// The input ended inside a line. `rest` is a whole message if the peer only left out the
    /// last line end, and a torn one if it died while writing.
    #[error("the input ended inside a message, after {} bytes", .rest.len())]
    Unterminated {
        /// The bytes after the last line end.
        rest: &'a [u8],
    },
}
