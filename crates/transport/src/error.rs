//! Errors of a connection.
//!
//! A peer that hangs up is not an error: connections end that way.

use std::io;
use std::time::Duration;

/// The outbox takes no more messages: it was closed, or its connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed; nothing more can be sent on it")]
pub struct Closed;

/// Why a message was not queued at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrySendError {
    /// The queue is full: the peer does not read, or others wait already.
    #[error("the outgoing queue is full")]
    Full,
    /// The outbox was closed, or its connection has ended.
    #[error("the connection is closed; nothing more can be sent on it")]
    Closed,
}

/// Why a connection ended other than by one side hanging up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The input could not be read.
    #[error("reading from the peer failed")]
    Read(#[source] io::Error),
    /// The output could not be written.
    #[error("writing to the peer failed")]
    Write(#[source] io::Error),
    /// The input had ended, or the outbox was closed, and the peer did not read what was left.
    #[error("the peer did not read the last {bytes} bytes within {linger:?}")]
    Undelivered {
        /// Bytes that were queued and not written.
        bytes: usize,
        /// How long the peer was given.
        linger: Duration,
    },
    /// The outbox given is drained by another connection already.
    #[error("the outbox already belongs to a connection; make a new one for each")]
    OutboxInUse,
    /// Standard input and output are served already, or a reader of an earlier, dropped
    /// `serve_stdio` is still waiting for input.
    #[error("standard input and output are in use; serve them once in a process")]
    StdioInUse,
    /// Standard input and output could not be set aside for the protocol.
    #[error("standard input and output could not be claimed for the protocol")]
    Claim(#[source] io::Error),
    /// A thread of the transport could not be started.
    #[error("a transport thread could not be started; check the limit on threads")]
    Thread(#[source] io::Error),
}

/// Whether this error only says that the peer has gone.
pub(crate) fn is_hang_up(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected
    )
}

/// The outcome of a write that ended with `error`.
pub(crate) fn write_outcome(error: io::Error) -> Result<(), TransportError> {
    if is_hang_up(&error) {
        Ok(())
    } else {
        Err(TransportError::Write(error))
    }
}

/// The outcome of a read that ended with `error`.
pub(crate) fn read_outcome(error: io::Error) -> Result<(), TransportError> {
    if is_hang_up(&error) {
        Ok(())
    } else {
        Err(TransportError::Read(error))
    }
}
