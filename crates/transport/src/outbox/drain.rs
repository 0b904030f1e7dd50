//! Takes queued messages out of the outbox, for the connection that writes them.

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

/// Lines taken out of the outbox to be written.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    head: usize,
}

impl Chunk {
    /// What is still to be written.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.head..]
    }
}

/// What a drainer finds.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The chunk has bytes to write.
    Lines,
    /// The outbox is closed and everything is written.
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

    /// Messages pushed by this thread from now on wait for the flush that ends the batch.
    pub(crate) fn begin_batch(&self) {
        self.lock().batch = Some(thread::current().id());
    }

    pub(crate) fn end_batch(&self) {
        Self::without_batch(&mut self.lock());
    }

    /// Whether so many answers are unsent that nothing more should be read.
    pub(crate) fn is_backlogged(&self) -> bool {
        self.shared.backlog.load(Ordering::Relaxed) >= self.shared.high_water
    }

    /// Ready when the queue can take more answers, or when waiting is useless.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.lock();
        if queue.backlog() < self.shared.high_water || queue.phase == Phase::Shut {
            return Poll::Ready(());
        }
        queue.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Takes what is queued into `chunk`, which must be written out. Registers the task otherwise.
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

    /// Ready when something is queued, or nothing more will be. Registers the task otherwise.
    pub fn poll_queued(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.lock();
        if queue.pending() > 0 || queue.phase != Phase::Open {
            return Poll::Ready(());
        }
        register(&mut queue, cx);
        Poll::Pending
    }

    /// Has the task woken when the outbox is closed, while it waits to write a chunk.
    pub(crate) fn watch(&self, cx: &mut Context<'_>) {
        register(&mut self.lock(), cx);
    }

    /// Ends the batch and takes what is queued, unless another thread is writing: that one goes on
    /// with whatever it finds when it is through.
    pub(crate) fn end_batch_and_take(&self, chunk: &mut Chunk) -> bool {
        let mut queue = self.lock();
        Self::without_batch(&mut queue);
        queue.phase != Phase::Shut && take(&mut queue, chunk)
    }

    /// Says that `count` bytes of the chunk are on the wire.
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
        // Outside of the lock: what is dropped here is not ours.
        drop(held);
    }

    /// Puts back what a writer that must not wait could not write, for one that may.
    pub(crate) fn give_back(&self, chunk: &mut Chunk) {
        let mut queue = self.lock();
        if queue.phase == Phase::Shut {
            chunk.recycle();
        } else {
            // Nothing to copy in the usual case: the queue is empty.
            chunk.bytes.append(&mut queue.bytes);
            mem::swap(&mut queue.bytes, &mut chunk.bytes);
            queue.head = mem::take(&mut chunk.head);
        }
        queue.pushed += mem::take(&mut queue.taken_pushed);
        queue.taken = 0;
        self.released(queue);
    }

    /// Ends the outbox because writing failed; the drainer is told why.
    pub(crate) fn fail(&self, error: io::Error) {
        let mut queue = self.lock();
        if queue.phase != Phase::Shut {
            queue.failure = Some(error);
        }
        drop(queue);
        self.shut();
    }

    /// Ends the outbox: what is queued is forgotten and everyone who waits is told.
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

    /// Wakes the tasks that can go on now that bytes have left the queue.
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
