//! The queue of an outbox: bytes, counts, and waiting senders.

use std::io;
use std::mem;
use std::task::Waker;
use std::thread::{self, ThreadId};

use memchr::memchr2;

use super::held::Held;

/// How far the outbox is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Takes messages.
    Open,
    /// Takes no more; what is queued is still written.
    Closing,
    /// The connection has ended; nothing is written any more.
    Shut,
}

/// All that changes under the outbox's lock.
#[derive(Debug)]
pub(super) struct Queue {
    /// Whole lines; those before `head` are written already.
    pub(super) bytes: Vec<u8>,
    pub(super) head: usize,
    /// How many of `bytes` were pushed rather than sent; only these hold up reading.
    pub(super) pushed: usize,
    /// Bytes that a drainer is writing now, and how many of them were pushed.
    pub(super) taken: usize,
    pub(super) taken_pushed: usize,
    pub(super) phase: Phase,
    pub(super) is_attached: bool,
    /// Why writing failed, until the drainer asks.
    pub(super) failure: Option<io::Error>,
    /// The thread that is handing over a batch of messages and will flush when it is through.
    pub(super) batch: Option<ThreadId>,
    /// Some other thread queued a message during the batch: it must not wait for its end.
    pub(super) is_urgent: bool,
    /// Waits for something to write.
    pub(super) drainer: Option<Waker>,
    /// Waits for the answers to be written before it reads on.
    pub(super) reader: Option<Waker>,
    /// What senders want to have dropped when their messages are written.
    pub(super) held: Held,
    /// Bytes that the budget of the outbox was paid for.
    pub(super) paid: usize,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            head: 0,
            pushed: 0,
            taken: 0,
            taken_pushed: 0,
            phase: Phase::Open,
            is_attached: false,
            failure: None,
            batch: None,
            is_urgent: false,
            drainer: None,
            reader: None,
            held: Held::default(),
            paid: 0,
        }
    }

    /// Bytes queued and not yet written, with those being written now.
    pub(super) fn pending(&self) -> usize {
        self.bytes.len() - self.head + self.taken
    }

    /// Bytes of pushed answers not yet written.
    pub(super) fn backlog(&self) -> usize {
        self.pushed + self.taken_pushed
    }

    /// Appends one message as a line and says how many bytes that took. Nothing is appended when
    /// `write` fails, panics or writes nothing.
    pub(super) fn append<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let start = self.bytes.len();
        let entry = Entry {
            bytes: &mut self.bytes,
            start,
            is_whole: false,
        };
        entry.fill(write)?;
        Ok(self.bytes.len().saturating_sub(start))
    }

    /// Whom to wake about a message just appended. The thread that hands over a batch flushes
    /// at its end, and a drainer that is writing looks again when it is through.
    pub(super) fn drainer_to_wake(&mut self) -> Option<Waker> {
        if let Some(thread) = self.batch {
            if thread == thread::current().id() {
                return None;
            }
            self.is_urgent = true;
        }
        if self.taken > 0 {
            None
        } else {
            self.drainer.take()
        }
    }

    /// What was held for messages that are all written now. Drop it outside of the lock.
    pub(super) fn released(&mut self) -> Held {
        if self.held.is_empty() || self.pending() > 0 {
            return Held::default();
        }
        self.let_go()
    }

    /// What is held, for somebody else to drop when the messages are written.
    pub(super) fn let_go(&mut self) -> Held {
        self.paid = 0;
        mem::take(&mut self.held)
    }

    /// Takes back what was appended last.
    pub(super) fn take_back(&mut self, count: usize) {
        self.bytes.truncate(self.bytes.len() - count);
    }

    /// Forgets what is queued and takes no more.
    pub(super) fn shut(&mut self) {
        self.phase = Phase::Shut;
        self.bytes = Vec::new();
        (self.head, self.pushed) = (0, 0);
    }
}

/// A message being appended, taken back unless it becomes whole.
struct Entry<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    is_whole: bool,
}

impl Entry<'_> {
    fn fill<E>(mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        write(self.bytes)?;
        if self.bytes.len() > self.start {
            self.straighten();
            self.bytes.push(b'\n');
            self.is_whole = true;
        }
        Ok(())
    }

    /// A line end inside a message would split it in two. In JSON a line end can only be between
    /// tokens, where a space means the same. (stdio: messages MUST NOT contain embedded newlines;
    /// CR too, because many peers split at either.)
    fn straighten(&mut self) {
        let mut from = self.start;
        while let Some(offset) = memchr2(b'\n', b'\r', &self.bytes[from..]) {
            self.bytes[from + offset] = b' ';
            from += offset + 1;
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if !mem::take(&mut self.is_whole) {
            self.bytes.truncate(self.start);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn append(queue: &mut Queue, message: &[u8]) -> usize {
        let write = |line: &mut Vec<u8>| {
            line.extend_from_slice(message);
            Ok::<(), ()>(())
        };
        queue.append(write).expect("this writer does not fail")
    }

    #[test]
    fn a_failed_or_panicking_writer_leaves_nothing_behind() {
        let mut queue = Queue::new();
        append(&mut queue, b"{}");
        let failed = queue.append(|line| {
            line.extend(b"{\"half\":");
            Err("no")
        });
        assert_eq!(failed, Err("no"));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            queue.append::<()>(|line| {
                line.extend(b"{\"half\":");
                panic!("writer")
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(queue.append::<()>(|_| Ok(())), Ok(0));
        assert_eq!(queue.bytes, b"{}\n");
    }

    // rule: S1
    // stdio: messages are delimited by newlines and MUST NOT contain embedded newlines.
    #[test]
    fn a_line_end_inside_a_message_becomes_a_space() {
        let mut queue = Queue::new();
        assert_eq!(append(&mut queue, b"{\r\n  \"a\": 1\n}"), 14);
        assert_eq!(queue.bytes, b"{    \"a\": 1 }\n");
    }
}
