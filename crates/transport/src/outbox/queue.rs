//! The queue of an outbox: its bytes, counters, and waiting tasks.

use std::io;
use std::mem;
use std::task::Waker;
use std::thread::{self, ThreadId};

use memchr::memchr2;

use super::held::Held;

/// The phase of an outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Accepts messages.
    Open,
    /// Accepts no more messages; queued ones are still written.
    Closing,
    /// The connection has ended; nothing is written any more.
    Shut,
}

/// The state under the outbox's lock.
#[derive(Debug)]
pub(super) struct Queue {
    /// Complete lines; the bytes before `head` were already written.
    pub(super) bytes: Vec<u8>,
    pub(super) head: usize,
    /// How many of `bytes` were pushed rather than sent; only these pause reading.
    pub(super) pushed: usize,
    /// How many bytes a drainer is writing now, and how many of them were pushed.
    pub(super) taken: usize,
    pub(super) taken_pushed: usize,
    pub(super) phase: Phase,
    pub(super) is_attached: bool,
    /// The error of a failed write, until the drainer takes it.
    pub(super) failure: Option<io::Error>,
    /// The thread that is passing on a batch of messages and flushes at its end.
    pub(super) batch: Option<ThreadId>,
    /// Whether another thread queued a message during the batch, which must not wait for the end of the
    /// batch.
    pub(super) is_urgent: bool,
    /// Waits for messages to write.
    pub(super) drainer: Option<Waker>,
    /// Waits for answers to be written before it continues to read.
    pub(super) reader: Option<Waker>,
    /// Values that are dropped when their messages were written.
    pub(super) held: Held,
    /// How many bytes the outbox has taken from its budget.
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

    /// The number of bytes that were not written yet, including those being written now.
    pub(super) fn pending(&self) -> usize {
        self.bytes.len() - self.head + self.taken
    }

    /// The number of bytes of pushed answers that were not written yet.
    pub(super) fn backlog(&self) -> usize {
        self.pushed + self.taken_pushed
    }

    /// Appends one message as a line and returns the number of bytes. Nothing is appended if `write`
    /// fails, panics or writes nothing.
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

    /// Returns the task to wake for a message that was just appended. A thread that passes on a batch
    /// flushes at its end, and a drainer that is writing checks the queue again afterwards.
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

    /// Returns the held values if all messages were written. Drop them outside of the lock.
    pub(super) fn released(&mut self) -> Held {
        if self.held.is_empty() || self.pending() > 0 {
            return Held::default();
        }
        self.let_go()
    }

    /// Returns the held values, to be dropped by the caller when the messages are written.
    pub(super) fn let_go(&mut self) -> Held {
        self.paid = 0;
        mem::take(&mut self.held)
    }

    /// Removes the bytes that were appended last.
    pub(super) fn take_back(&mut self, count: usize) {
        self.bytes.truncate(self.bytes.len() - count);
    }

    /// Drops the queued messages and accepts no more.
    pub(super) fn shut(&mut self) {
        self.phase = Phase::Shut;
        self.bytes = Vec::new();
        (self.head, self.pushed) = (0, 0);
    }
}

/// A message that is being appended. It is removed unless it is completed.
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

    /// Replaces line ends inside a message, which would split it. In JSON a line end can only be
    /// between tokens, where a space has the same meaning. (stdio: messages MUST NOT contain embedded
    /// newlines; CR too, because many peers split at either.)
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
