//! The sender side of the outbox: push without waiting, send with waiting, close.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, Semaphore};
use turnbuckle_base::lock::{Mutex, MutexGuard};

use super::budget::{Account, OutboxBudget};
use super::queue::{Phase, Queue};
use crate::error::{Closed, TrySendError};
use crate::limits::Limits;

/// A bounded queue of outgoing messages; clones share it.
///
/// Create one for each connection, give a clone to everything that sends messages, and pass it to
/// [`run`](crate::run) or [`serve_stdio`](crate::serve_stdio), which write the queued messages. When
/// that future ends or is dropped, the outbox is closed.
///
/// ```
/// use turnbuckle_transport::{Limits, Outbox};
///
/// let outbox = Outbox::new(Limits::default());
/// outbox.push(b"{}");
/// assert_eq!(outbox.pending_bytes(), 3); // the message and its line end
/// ```
#[derive(Clone)]
pub struct Outbox {
    pub(super) shared: Arc<SharedQueue>,
}

pub(super) struct SharedQueue {
    queue: Mutex<Queue>,
    /// A copy of [`Queue::backlog`], checked after every message.
    pub(super) backlog: AtomicUsize,
    pub(super) high_water: usize,
    /// The budget for messages that are not answers.
    account: Option<Account>,
    /// One permit: waiting senders queue here and only the first of them waits for space, so that
    /// senders are served in order.
    turn: Semaphore,
    /// Wakes the sender that has the permit.
    pub(super) room: Notify,
    /// Wakes tasks that wait for the outbox to be closed.
    closing: Notify,
    /// The number of senders that wait for the permit or for space.
    waiting: AtomicUsize,
}

impl Outbox {
    /// Creates an empty outbox that holds about `limits.outbox_high_water_bytes`.
    pub fn new(limits: Limits) -> Self {
        Self::with_account(limits, None)
    }

    /// The same, for one of many outboxes that share a memory budget. Messages that are not answers
    /// wait, or are not queued, if the budget is too small for the messages in the queue; a few KiB are
    /// free.
    pub fn with_budget(limits: Limits, budget: Arc<dyn OutboxBudget>, payer: u64) -> Self {
        Self::with_account(limits, Some(Account { budget, payer }))
    }

    fn with_account(limits: Limits, account: Option<Account>) -> Self {
        let shared = SharedQueue {
            queue: Mutex::new(Queue::new()),
            backlog: AtomicUsize::new(0),
            high_water: limits.outbox_high_water_bytes.max(1),
            account,
            turn: Semaphore::new(1),
            room: Notify::new(),
            closing: Notify::new(),
            waiting: AtomicUsize::new(0),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Queues one message without waiting, like [`push_with`](Self::push_with), from existing bytes.
    pub fn push(&self, message: &[u8]) {
        let Ok(()) = self.push_with::<Infallible>(|line| {
            line.extend_from_slice(message);
            Ok(())
        });
    }

    /// Queues one message without waiting. Use it for answers to received messages: the connection
    /// limits their number by reading nothing more while they exceed the high-water mark.
    ///
    /// `write` appends the message, without a line end, directly to the queue; it must not change the
    /// existing bytes. Nothing is queued if it fails, panics or appends nothing. It runs under the
    /// outbox's lock and must not use the outbox. A message that is pushed inside
    /// [`receive`](crate::Receive::receive) is written at the end of the batch. On a closed outbox
    /// `write` is not called, which is not an error.
    pub fn push_with<E>(&self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        self.push_and(write, |_, _| ())
    }

    fn push_and<E>(
        &self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
        and: impl FnOnce(&mut Queue, usize),
    ) -> Result<(), E> {
        let mut queue = self.lock();
        if queue.phase != Phase::Open {
            return Ok(());
        }
        let count = queue.append(write)?;
        queue.pushed += count;
        and(&mut queue, count);
        self.publish(&queue);
        wake_after(queue);
        Ok(())
    }

    /// Queues one message without waiting, as [`push`](Self::push) does, and drops `held` when the
    /// message was written, or cannot be written any more.
    pub fn push_holding(&self, message: &[u8], held: impl Send + Sync + 'static) {
        let write = |line: &mut Vec<u8>| {
            line.extend_from_slice(message);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = self.push_and(write, |queue, count| {
            queue.held.add(held);
            queue.paid += count;
        });
    }

    /// Queues one message as soon as the queue has space. Use it for messages that are not answers. If
    /// the peer does not read, senders wait in order, and memory does not grow.
    ///
    /// # Errors
    /// [`Closed`] if the outbox was closed before the message was queued.
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, no part of the message is queued; once it is ready,
    /// the whole message is queued.
    pub async fn send(&self, message: &[u8]) -> Result<(), Closed> {
        self.when_there_is_room(|queue| {
            let Ok(_) = queue.append::<Infallible>(|line| {
                // Includes the line end, so that a large message need not be moved for it.
                line.reserve(message.len() + 1);
                line.extend_from_slice(message);
                Ok(())
            });
        })
        .await
    }

    /// Queues one message now, or not at all. Use it for messages that are not answers, from senders
    /// that must not wait. `write` is the same as for [`push_with`](Self::push_with), but cannot fail.
    ///
    /// # Errors
    /// [`TrySendError`] says why nothing was queued.
    pub fn try_send_with(&self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), TrySendError> {
        let mut queue = self.lock();
        if queue.phase != Phase::Open {
            return Err(TrySendError::Closed);
        }
        // Waiting senders come first.
        if self.has_waiting_senders() || !self.has_room(&mut queue) {
            return Err(TrySendError::Full);
        }
        let Ok(count) = queue.append::<Infallible>(|line| {
            write(line);
            Ok(())
        });
        if !self.settle(&mut queue) {
            queue.take_back(count);
            return Err(TrySendError::Full);
        }
        wake_after(queue);
        Ok(())
    }

    /// Waits until the queue is below its high-water mark. Use it in a task that then pushes an answer
    /// of its own with [`push_with`](Self::push_with).
    ///
    /// # Errors
    /// [`Closed`] if the outbox was closed.
    ///
    /// # Cancel safety
    /// Dropping the future only gives up its place among the waiting senders.
    pub async fn ready(&self) -> Result<(), Closed> {
        self.when_there_is_room(|_| ()).await
    }

    /// Accepts no more messages. Queued messages are still written, then the write side of the
    /// connection is closed.
    pub fn close(&self) {
        let mut queue = self.lock();
        if queue.phase == Phase::Open {
            queue.phase = Phase::Closing;
        }
        let drainer = queue.drainer.take();
        drop(queue);
        self.turn_everyone_away();
        if let Some(drainer) = drainer {
            drainer.wake();
        }
    }

    /// Whether messages are refused: after [`close`](Self::close), and after the connection ended.
    pub fn is_closed(&self) -> bool {
        self.lock().phase != Phase::Open
    }

    /// Waits until messages are refused.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn closed(&self) {
        let mut closing = std::pin::pin!(self.shared.closing.notified());
        closing.as_mut().enable();
        if !self.is_closed() {
            closing.await;
        }
    }

    /// Returns how many bytes are queued or being written.
    pub fn pending_bytes(&self) -> usize {
        self.lock().pending()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic under the lock can only come from a `write` closure, whose bytes are removed.
        self.shared.queue.lock()
    }

    /// Publishes the backlog for the reader, which checks it without the lock.
    pub(super) fn publish(&self, queue: &Queue) {
        self.shared
            .backlog
            .store(queue.backlog(), Ordering::Relaxed);
    }

    pub(super) fn turn_everyone_away(&self) {
        self.shared.turn.close();
        self.shared.room.notify_one();
        self.shared.closing.notify_waiters();
    }

    pub(super) fn has_waiting_senders(&self) -> bool {
        self.shared.waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether one more message may be queued. An empty queue always has room, so that a sender only
    /// waits for the peer.
    fn has_room(&self, queue: &mut Queue) -> bool {
        queue.pending() < self.shared.high_water && self.settle(queue)
    }

    /// Takes memory from the budget for the queued messages.
    fn settle(&self, queue: &mut Queue) -> bool {
        let account = self.shared.account.as_ref();
        account.is_none_or(|account| account.settle(queue))
    }

    async fn when_there_is_room<T>(
        &self,
        enter: impl FnOnce(&mut Queue) -> T,
    ) -> Result<T, Closed> {
        {
            let mut queue = self.lock();
            if queue.phase != Phase::Open {
                return Err(Closed);
            }
            if !self.has_waiting_senders() && self.has_room(&mut queue) {
                return Ok(entered(queue, enter));
            }
            // Counted under the lock, so that a drainer that frees space from now on sees it.
            self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        }
        let _waiting = Waiting(&self.shared);
        let _turn = self.shared.turn.acquire().await.map_err(|_| Closed)?;
        loop {
            {
                let mut queue = self.lock();
                if queue.phase != Phase::Open {
                    return Err(Closed);
                }
                if self.has_room(&mut queue) {
                    return Ok(entered(queue, enter));
                }
            }
            self.shared.room.notified().await;
        }
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.lock();
        formatter
            .debug_struct("Outbox")
            .field("pending_bytes", &queue.pending())
            .field("phase", &queue.phase)
            .finish()
    }
}

/// Counts a sender as waiting until it is dropped.
struct Waiting<'a>(&'a SharedQueue);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn entered<T>(mut queue: MutexGuard<'_, Queue>, enter: impl FnOnce(&mut Queue) -> T) -> T {
    let value = enter(&mut queue);
    wake_after(queue);
    value
}

/// Wakes the drainer for the appended message, outside of the lock.
fn wake_after(mut queue: MutexGuard<'_, Queue>) {
    let drainer = if queue.pending() > queue.taken {
        queue.drainer_to_wake()
    } else {
        None
    };
    drop(queue);
    if let Some(drainer) = drainer {
        drainer.wake();
    }
}
