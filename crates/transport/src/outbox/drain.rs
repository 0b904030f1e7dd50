//! Removes queued messages from the outbox, for the connection that writes them.

use std::io;
use std::mem;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::thread;

use super::queue::{Phase, Queue};
use super::send::Outbox;
use crate::error::TransportError;
use crate::limits::RETAINED_BUFFER_BYTES;

/// Lines that were removed from the outbox to be written.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    head: usize,
}

impl Chunk {
    /// The bytes that are still to be written.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.head..]
    }
}

/// The result of [`Outbox::poll_take`].
#[derive(Debug)]
pub(crate) enum Taken {
    /// The chunk has bytes to write.
    Lines,
    /// The outbox is closed and everything was written.
    Finished,
    /// A write failed.
    Failed(io::Error),
}

/// Makes a connection the owner of its outbox, and shuts the outbox when the connection ends.
#[derive(Debug)]
pub(crate) struct Attached(Outbox);

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.shut();
    }
}

impl Outbox {
    pub(crate) fn attach(&self) -> Result<Attached, TransportError> {
        let mut queue = self.lock();
        if mem::replace(&mut queue.is_attached, true) {
            return Err(TransportError::OutboxInUse);
        }
        drop(queue);
        Ok(Attached(self.clone()))
    }

    /// Messages that this thread pushes from now on are flushed at the end of the batch.
    pub(crate) fn begin_batch(&self) {
        self.lock().batch = Some(thread::current().id());
    }

    pub(crate) fn end_batch(&self) {
        Self::without_batch(&mut self.lock());
    }

    /// Whether there are so many unsent answers that reading should pause.
    pub(crate) fn is_backlogged(&self) -> bool {
        self.shared.backlog.load(Ordering::Relaxed) >= self.shared.high_water
    }

    /// Ready when the queue can accept more answers, or when waiting is useless.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.lock();
        if queue.backlog() < self.shared.high_water || queue.phase == Phase::Shut {
            return Poll::Ready(());
        }
        queue.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Moves the queued messages to `chunk`, which must be written. Otherwise registers the task.
    pub(crate) fn poll_take(&self, cx: &mut Context<'_>, chunk: &mut Chunk) -> Poll<Taken> {
        let mut queue = self.lock();
        if let Some(error) = queue.failure.take() {
            return Poll::Ready(Taken::Failed(error));
        }
        if queue.phase == Phase::Shut {
            return Poll::Ready(Taken::Finished);
        }
        if (queue.batch.is_none() || queue.is_urgent) && take(&mut queue, chunk) {
            return Poll::Ready(Taken::Lines);
        }
        if queue.phase == Phase::Closing && queue.pending() == 0 {
            return Poll::Ready(Taken::Finished);
        }
        register(&mut queue, cx);
        Poll::Pending
    }

    /// Ready when a message is queued, or when no more will be. Otherwise registers the task.
    pub fn poll_queued(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.lock();
        if queue.pending() > 0 || queue.phase != Phase::Open {
            return Poll::Ready(());
        }
        register(&mut queue, cx);
        Poll::Pending
    }

    /// Registers the task to be woken when the outbox is closed, while it waits to write a chunk.
    pub(crate) fn watch(&self, cx: &mut Context<'_>) {
        register(&mut self.lock(), cx);
    }

    /// Ends the batch and takes the queued messages, unless another thread is writing: that thread then
    /// writes them after its current chunk.
    pub(crate) fn end_batch_and_take(&self, chunk: &mut Chunk) -> bool {
        let mut queue = self.lock();
        Self::without_batch(&mut queue);
        queue.phase != Phase::Shut && take(&mut queue, chunk)
    }

    /// Records that `count` bytes of the chunk were written.
    pub(crate) fn wrote(&self, chunk: &mut Chunk, count: usize) {
        chunk.head = (chunk.head + count).min(chunk.bytes.len());
        let mut queue = self.lock();
        queue.taken = chunk.rest().len();
        queue.taken_pushed = queue.taken_pushed.min(queue.taken);
        if queue.taken == 0 {
            chunk.recycle();
        }
        let held = queue.released();
        self.released(queue);
        // Dropped outside of the lock, because these are values of the senders.
        drop(held);
    }

    /// Returns the bytes that a writer could not write without blocking to the queue, for another
    /// writer.
    pub(crate) fn give_back(&self, chunk: &mut Chunk) {
        let mut queue = self.lock();
        if queue.phase == Phase::Shut {
            chunk.recycle();
        } else {
            // Usually the queue is empty, so nothing is copied.
            chunk.bytes.append(&mut queue.bytes);
            mem::swap(&mut queue.bytes, &mut chunk.bytes);
            queue.head = mem::take(&mut chunk.head);
        }
        queue.pushed += mem::take(&mut queue.taken_pushed);
        queue.taken = 0;
        self.released(queue);
    }

    /// Closes the outbox because writing failed. The drainer gets the error.
    pub(crate) fn fail(&self, error: io::Error) {
        let mut queue = self.lock();
        if queue.phase != Phase::Shut {
            queue.failure = Some(error);
        }
        drop(queue);
        self.shut();
    }

    /// Closes the outbox: queued messages are dropped, and all waiting tasks are notified.
    pub(crate) fn shut(&self) {
        let mut queue = self.lock();
        queue.shut();
        (queue.taken, queue.taken_pushed) = (0, 0);
        let held = queue.released();
        self.released(queue);
        drop(held);
        self.turn_everyone_away();
    }

    fn without_batch(queue: &mut Queue) {
        queue.batch = None;
        queue.is_urgent = false;
    }

    /// Wakes the tasks that can continue now that bytes have left the queue.
    fn released(&self, mut queue: MutexGuard<'_, Queue>) {
        self.publish(&queue);
        let has_room = queue.pending() < self.shared.high_water;
        let is_over = queue.phase == Phase::Shut;
        let may_read = queue.backlog() < self.shared.high_water || is_over;
        let is_left = queue.taken == 0 && (queue.pending() > 0 || queue.phase == Phase::Closing);
        let reader = if may_read { queue.reader.take() } else { None };
        let drainer = if is_left || is_over {
            queue.drainer.take()
        } else {
            None
        };
        drop(queue);
        if has_room && self.has_waiting_senders() {
            self.shared.room.notify_one();
        }
        for waker in [reader, drainer].into_iter().flatten() {
            waker.wake();
        }
    }
}

impl Chunk {
    fn recycle(&mut self) {
        self.head = 0;
        if self.bytes.capacity() > RETAINED_BUFFER_BYTES {
            self.bytes = Vec::new();
        } else {
            self.bytes.clear();
        }
    }
}

fn register(queue: &mut Queue, cx: &mut Context<'_>) {
    match &mut queue.drainer {
        Some(waker) => waker.clone_from(cx.waker()),
        empty => *empty = Some(cx.waker().clone()),
    }
}

fn take(queue: &mut Queue, chunk: &mut Chunk) -> bool {
    if queue.taken > 0 || queue.bytes.len() == queue.head {
        return false;
    }
    mem::swap(&mut queue.bytes, &mut chunk.bytes);
    chunk.head = mem::take(&mut queue.head);
    queue.taken = chunk.rest().len();
    queue.taken_pushed = mem::take(&mut queue.pushed);
    queue.is_urgent = false;
    true
}
