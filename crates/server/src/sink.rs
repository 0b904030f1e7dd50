//! Where whole messages are written: straight into the queue of a connection, or into a buffer.

use std::convert::Infallible;

use turnbuckle_transport::Outbox;

/// What kind of response was written, for transports that say it twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    /// A result.
    Result,
    /// An error with this code.
    Error(i64),
}

/// Takes messages, one at a time.
pub(crate) trait Sink {
    /// Has one message appended. The writer must not wait, and must not send anything itself.
    fn put(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote);
}

impl Sink for Outbox {
    fn put(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote) {
        let written: Result<(), Infallible> = self.push_with(|queue| {
            write(queue);
            Ok(())
        });
        let Ok(()) = written;
    }
}

/// One response on its own.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) message: Vec<u8>,
    pub(crate) wrote: Wrote,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            message: Vec::new(),
            wrote: Wrote::Result,
        }
    }
}

impl Sink for Response {
    fn put(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote) {
        self.wrote = write(&mut self.message);
    }
}
