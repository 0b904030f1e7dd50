//! Messages to other replicas, and what they answer.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout_at},
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_store::bus::{Delivery, NodeId, Recipient};

use super::{
    Message, Outcome, Replicas,
    letter::{Content, Letter},
    replicas::now_ms,
};

/// The pause before a node that does not listen is tried again.
const AGAIN: Duration = Duration::from_millis(50);

/// How long a message is kept that is not waited for yet.
const TOLD: Duration = Duration::from_secs(30);

/// Calls to other replicas that have no answer yet.
#[derive(Default)]
pub(super) struct Calls {
    next: AtomicU64,
    open: Mutex<HashMap<u64, AwaitedAnswers>>,
}

/// Who waits for answers.
struct AwaitedAnswers {
    /// The nodes that have not answered.
    missing: HashSet<NodeId>,
    /// Gets the last answer.
    done: oneshot::Sender<Outcome>,
}

/// Why another replica did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallFailed {
    #[error("the replica has ended")]
    NoSuchNode,
    #[error("the replica did not answer in time, or cannot be reached")]
    Late,
}

impl Calls {
    pub(super) fn answered(&self, from: NodeId, call: Option<u64>, outcome: Outcome) {
        let Some(call) = call else { return };
        let mut open = self.open.lock();
        let Some(waiting) = open.get_mut(&call) else {
            return;
        };
        waiting.missing.remove(&from);
        if !waiting.missing.is_empty() {
            return;
        }
        let waiting = open.remove(&call);
        drop(open);
        if let Some(waiting) = waiting {
            // Who waited may be gone.
            let _ = waiting.done.send(outcome);
        }
    }

    /// Begins to wait for the answers of these nodes.
    fn enter(&self, missing: HashSet<NodeId>) -> (u64, oneshot::Receiver<Outcome>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (done, receiver) = oneshot::channel();
        self.open
            .lock()
            .insert(number, AwaitedAnswers { missing, done });
        (number, receiver)
    }
}

/// A call that waits, and is forgotten when it is not waited for any more.
struct OpenCall<'a> {
    calls: &'a Calls,
    number: u64,
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.calls.open.lock().remove(&self.number);
    }
}

impl Replicas {
    /// Asks another replica, and waits for its answer.
    ///
    /// # Cancel safety
    /// Dropping the future forgets the answer; the message may have been sent.
    pub(crate) async fn call(
        &self,
        node: NodeId,
        message: Message,
        within: Duration,
    ) -> Result<Outcome, CallFailed> {
        if node == self.node {
            return Ok(self.handle(&message).await);
        }
        let deadline = Instant::now() + within;
        let until_ms = now_ms().saturating_add(u64::try_from(within.as_millis()).unwrap_or(0));
        let (number, answer) = self.calls.enter(HashSet::from([node]));
        let _waiting = OpenCall {
            calls: &self.calls,
            number,
        };
        let content = Content::Message(message);
        let letter = Letter::new(self.node, Some(number), until_ms, content);
        let sealed = self.seal(&letter).ok_or(CallFailed::Late)?;
        loop {
            let sending = self.bus.send(Recipient::Node(node), sealed.clone());
            match timeout_at(deadline, sending).await {
                Ok(Ok(Delivery::Sent)) => break,
                Ok(Ok(Delivery::NoSuchNode)) => return Err(CallFailed::NoSuchNode),
                // Its connection may be back in a moment, or its lease may end.
                Ok(Ok(Delivery::Deaf)) => sleep(AGAIN).await,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "another replica cannot be reached");
                    return Err(CallFailed::Late);
                }
                Err(_) => return Err(CallFailed::Late),
            }
        }
        match timeout_at(deadline, answer).await {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(_)) | Err(_) => Err(CallFailed::Late),
        }
    }

    /// Tells all others, and waits until each one that is there has taken the message, but no longer
    /// than this. One that is late takes it later.
    ///
    /// # Cancel safety
    /// Dropping the future ends the waiting; the message may have been sent.
    pub(crate) async fn tell_all(&self, message: Message, within: Duration) {
        let deadline = Instant::now() + within;
        let mut others: HashSet<_> = self.bus.nodes().into_iter().collect();
        others.remove(&self.node);
        if others.is_empty() {
            return self.send_message(Recipient::All, message).await;
        }
        let (number, answers) = self.calls.enter(others);
        let _waiting = OpenCall {
            calls: &self.calls,
            number,
        };
        let content = Content::Message(message);
        let letter = Letter::new(self.node, Some(number), told_until(), content);
        if self.send(Recipient::All, &letter).await && timeout_at(deadline, answers).await.is_err()
        {
            tracing::warn!("another replica is late: a change of a session is known there later");
        }
    }

    /// Tells others, without waiting for anything. Must be called inside a runtime.
    pub(crate) fn tell(self: &Arc<Self>, to: Recipient, message: Message) {
        let replicas = Arc::clone(self);
        // Ends when the message is sent, or could not be.
        let runtime = self.runtime.clone();
        runtime.spawn(async move { replicas.send_message(to, message).await });
    }

    /// Tells others; when it returns, the message is on its way.
    pub(crate) async fn send_message(&self, to: Recipient, message: Message) {
        let letter = Letter::new(self.node, None, told_until(), Content::Message(message));
        self.send(to, &letter).await;
    }

    /// Tells others that this replica has left tasks to them.
    pub(crate) async fn tell_of_tasks(&self) {
        let node = self.node.to_string();
        let left = Message::TasksLeft { node };
        self.send_message(Recipient::All, left).await;
    }

    /// Sends an answer. The connection of the one who waits may be broken for a moment, as ours may be;
    /// so it is sent again until nobody waits any more.
    pub(super) async fn send_answer(&self, to: NodeId, letter: &Letter) {
        let Some(sealed) = self.seal(letter) else {
            return;
        };
        loop {
            let sent = self.bus.send(Recipient::Node(to), sealed.clone()).await;
            if let Ok(Delivery::Sent | Delivery::NoSuchNode) = sent {
                return;
            }
            if now_ms() >= letter.until_ms {
                tracing::warn!("an answer to another replica was lost");
                return;
            }
            sleep(AGAIN).await;
        }
    }

    /// Sends a letter. False if it was lost.
    pub(super) async fn send(&self, to: Recipient, letter: &Letter) -> bool {
        let Some(sealed) = self.seal(letter) else {
            return false;
        };
        let sent = self.bus.send(to, sealed).await;
        if let Err(error) = &sent {
            tracing::warn!(%error, "a message to other replicas was lost");
        }
        sent.is_ok()
    }
}

fn told_until() -> u64 {
    now_ms().saturating_add(u64::try_from(TOLD.as_millis()).unwrap_or(0))
}
