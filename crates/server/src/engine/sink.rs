//! The destination of messages: the queue of a connection, or a buffer.

use std::convert::Infallible;

use bytes::Bytes;
use turnbuckle_protocol::{IdRef, envelope};
use turnbuckle_transport::Outbox;

use crate::quota::Share;

/// The kind of response that was written, for transports that need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    /// A result.
    Result,
    /// An error with this code.
    Error(i64),
}

/// A destination of messages, which takes one at a time.
pub(crate) trait Sink {
    /// Appends one message, which `write` produces. `write` must not wait, and must not send
    /// anything itself.
    fn put(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote);

    /// Appends a result; `write` cannot fail.
    fn put_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.put(|out| {
            write(out);
            Wrote::Result
        });
    }

    /// Appends a result that is already JSON, with the end of its message.
    fn put_result(&mut self, id: &IdRef<'_>, result: &Bytes) {
        self.put(|out| {
            // A large result needs only one allocation.
            out.reserve(result.len() + ENVELOPE_BYTES);
            envelope::write_result_head(out, id);
            out.extend_from_slice(result);
            Wrote::Result
        });
    }
}

/// The size of an envelope with an id of usual length, in bytes.
const ENVELOPE_BYTES: usize = 64;

/// 512 bytes: most answers fit into this, so the buffer need not grow.
const USUAL_BYTES: usize = 512;

impl Sink for Outbox {
    fn put(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote) {
        let written: Result<(), Infallible> = self.push_with(|queue| {
            write(queue);
            Ok(())
        });
        let Ok(()) = written;
    }
}

/// One response as a message of its own.
#[derive(Debug)]
pub(crate) struct Response {
    head: Vec<u8>,
    /// The end of the message, if it is shared with other responses.
    tail: Option<Bytes>,
    pub(crate) wrote: Wrote,
    /// The share of the quota that is taken for the head until it is sent.
    pub(crate) paid: Option<Box<Share>>,
}

impl Response {
    /// Returns the whole message.
    pub(crate) fn into_message(self) -> Vec<u8> {
        let mut message = self.head;
        message.extend_from_slice(&self.tail.unwrap_or_default());
        message
    }

    /// Returns the message in two parts, of which the second is shared with other messages, and the
    /// share of the quota for the first part.
    #[cfg(feature = "http")]
    pub(crate) fn into_parts(self) -> (Vec<u8>, Option<Bytes>, Option<Box<Share>>) {
        (self.head, self.tail, self.paid)
    }

    /// The number of bytes that are not shared with other messages.
    pub(crate) fn own_bytes(&self) -> usize {
        self.head.len()
    }

    /// The number of bytes of the whole message.
    #[cfg(feature = "http")]
    pub(crate) fn bytes(&self) -> usize {
        self.head.len() + self.tail.as_ref().map_or(0, Bytes::len)
    }

    /// Queues the message. Its share of the quota is kept until it is sent.
    pub(crate) fn push_to(mut self, outbox: &Outbox) {
        match self.paid.take() {
            Some(paid) => outbox.push_holding(&self.into_message(), paid),
            None => outbox.push(&self.into_message()),
        }
    }

    /// Appends the message to another sink.
    pub(crate) fn put_into(self, out: &mut impl Sink) {
        let wrote = self.wrote;
        out.put(|out| {
            out.extend_from_slice(&self.into_message());
            wrote
        });
    }

    /// Whether nothing has been written.
    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }
}

impl Default for Response {
    fn default() -> Self {
        Self {
            head: Vec::new(),
            tail: None,
            wrote: Wrote::Result,
            paid: None,
        }
    }
}

impl Sink for Response {
    fn put(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Wrote) {
        self.head.reserve(USUAL_BYTES);
        self.wrote = write(&mut self.head);
    }

    fn put_result(&mut self, id: &IdRef<'_>, result: &Bytes) {
        self.head.reserve(ENVELOPE_BYTES);
        envelope::write_result_head(&mut self.head, id);
        self.tail = Some(result.clone());
        self.wrote = Wrote::Result;
    }
}
