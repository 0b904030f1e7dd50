//! Errors of a connection.
//!
//! A peer that closes the connection is not an error: that is how connections end.

use std::io;
use std::time::Duration;

/// The outbox accepts no more messages: it was closed, or its connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed; nothing more can be sent on it")]
pub struct Closed;

/// Why a message was not queued at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrySendError {
    /// The queue is full: the peer does not read, or other senders are waiting.
    #[error("the outgoing queue is full")]
    Full,
    /// The outbox was closed, or its connection has ended.
    #[error("the connection is closed; nothing more can be sent on it")]
    Closed,
}

/// Why a connection failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The input could not be read.
    #[error("reading from the peer failed")]
    Read(#[source] io::Error),
    /// The output could not be written.
    #[error("writing to the peer failed")]
    Write(#[source] io::Error),
    /// The input had ended, or the outbox was closed, and the peer did not read the remaining bytes.
    #[error("the peer did not read the last {bytes} bytes within {linger:?}")]
    Undelivered {
        /// The number of bytes that were queued but not written.
        bytes: usize,
        /// The time that the peer had.
        linger: Duration,
    },
    /// The outbox already belongs to another connection.
    #[error("the outbox already belongs to a connection; make a new one for each")]
    OutboxInUse,
    /// Standard input and output are already served, or the reader of a dropped `serve_stdio` still
    /// waits for input.
    #[error("standard input and output are in use; serve them once in a process")]
    StdioInUse,
    /// Standard input and output could not be reserved for the protocol.
    #[error("standard input and output could not be claimed for the protocol")]
    Claim(#[source] io::Error),
    /// A thread of the transport could not be started.
    #[error("a transport thread could not be started; check the limit on threads")]
    Thread(#[source] io::Error),
}

/// Whether an error only means that the peer has closed the connection.
pub(crate) fn is_hang_up(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected
    )
}

/// The outcome of writing after this error.
pub(crate) fn write_outcome(error: io::Error) -> Result<(), TransportError> {
    if is_hang_up(&error) {
        Ok(())
    } else {
        Err(TransportError::Write(error))
    }
}

/// The outcome of reading after this error.
pub(crate) fn read_outcome(error: io::Error) -> Result<(), TransportError> {
    if is_hang_up(&error) {
        Ok(())
    } else {
        Err(TransportError::Read(error))
    }
}
