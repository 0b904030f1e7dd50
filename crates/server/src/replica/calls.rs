//! Messages to other replicas, and their answers.

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
    time::{Instant, sleep, timeout, timeout_at},
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_store::bus::{Delivery, NodeId, Recipient};

use super::{
    Message, Outcome, Replicas,
    letter::{Content, Letter},
    replicas::now_ms,
};

/// The pause before a message is sent again to a node that does not listen.
const AGAIN: Duration = Duration::from_millis(50);

/// How long to wait for an answer before checking whether the other replica still runs.
const LOOK: Duration = Duration::from_secs(1);

/// How long to wait for an answer before the message is sent again. It doubles each time.
const SEND_AGAIN: Duration = Duration::from_secs(1);

/// How long a message to all replicas is valid and is sent again.
const TOLD: Duration = Duration::from_secs(30);

/// How long replicas have at first to acknowledge a message to all before it is sent again.
const TAKEN_WITHIN: Duration = Duration::from_secs(1);

/// The pause before a message to all is sent again.
const TELL_AGAIN: Duration = Duration::from_millis(200);

/// How many messages to all may be sent again at a time. They are small; a further message is sent
/// only once.
pub(super) const MAX_TELLING: usize = 4096;

/// Calls to other replicas that have no answer yet.
#[derive(Default)]
pub(super) struct Calls {
    next: AtomicU64,
    open: Mutex<HashMap<u64, AwaitedAnswers>>,
}

/// A call that waits for answers.
struct AwaitedAnswers {
    /// The nodes that have not answered.
    missing: HashSet<NodeId>,
    /// Receives the last answer.
    done: oneshot::Sender<Outcome>,
    /// Whether the other replica has reported that it works on the message.
    is_taken: bool,
}

/// The reason why another replica did not answer.
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
            // The future that waits may have been dropped.
            let _ = waiting.done.send(outcome);
        }
    }

    /// Notes that the other replica has received a message and works on it.
    pub(super) fn taken(&self, call: Option<u64>) {
        let Some(call) = call else { return };
        if let Some(waiting) = self.open.lock().get_mut(&call) {
            waiting.is_taken = true;
        }
    }

    fn is_taken(&self, call: u64) -> bool {
        let open = self.open.lock();
        open.get(&call).is_some_and(|waiting| waiting.is_taken)
    }

    /// The nodes that have not answered.
    fn missing(&self, call: u64) -> HashSet<NodeId> {
        let open = self.open.lock();
        let waiting = open.get(&call);
        waiting.map_or_else(HashSet::new, |waiting| waiting.missing.clone())
    }

    /// Starts to wait for the answers of these nodes.
    fn enter(&self, missing: HashSet<NodeId>) -> (u64, oneshot::Receiver<Outcome>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (done, receiver) = oneshot::channel();
        let waiting = AwaitedAnswers {
            missing,
            done,
            is_taken: false,
        };
        self.open.lock().insert(number, waiting);
        (number, receiver)
    }
}

/// A message to all replicas, which is sent until all of them have it.
struct MessageForAll {
    message: Message,
    /// The nodes that have it.
    taken: HashSet<NodeId>,
    /// Whether it was sent at least once.
    is_sent: bool,
    /// How long the other replicas have to acknowledge it.
    within: Duration,
}

impl MessageForAll {
    fn new(message: Message) -> Self {
        Self {
            message,
            taken: HashSet::new(),
            is_sent: false,
            within: TAKEN_WITHIN,
        }
    }
}

/// A call that waits for an answer. Dropping it ends the wait.
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
    /// Sends a message to another replica, and waits for its answer.
    ///
    /// # Cancel safety
    /// Dropping the future discards the answer; the message may have been sent already.
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
                Ok(Ok(Delivery::Deaf)) if Instant::now() >= deadline => {
                    return Err(CallFailed::Late);
                }
                // The node may be connected again in a moment, or its lease may end.
                Ok(Ok(Delivery::Deaf)) => sleep(AGAIN).await,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "another replica cannot be reached");
                    return Err(CallFailed::Late);
                }
                Err(_) => return Err(CallFailed::Late),
            }
        }
        let mut answer = answer;
        let mut pause = SEND_AGAIN;
        let mut send_at = Instant::now() + pause;
        loop {
            let look = deadline.min(Instant::now() + LOOK);
            match timeout_at(look, &mut answer).await {
                Ok(Ok(outcome)) => return Ok(outcome),
                Ok(Err(_)) => return Err(CallFailed::Late),
                Err(_) if look == deadline => return Err(CallFailed::Late),
                Err(_) => {}
            }
            if self.bus.is_gone(node) {
                return Err(CallFailed::NoSuchNode);
            }
            let message = if !self.calls.is_taken(number) && Instant::now() >= send_at {
                pause *= 2;
                send_at = Instant::now() + pause;
                // The message may have been lost. If the replica has it, it reports that, and does
                // not handle it twice.
                Some(sealed.clone())
            } else if self.bus.nodes().contains(&node) {
                None
            } else {
                // If the replica has ended, sending this message shows it.
                self.probe(until_ms)
            };
            let Some(message) = message else { continue };
            let sending = self.bus.send(Recipient::Node(node), message);
            if let Ok(Ok(Delivery::NoSuchNode)) = timeout_at(deadline, sending).await {
                return Err(CallFailed::NoSuchNode);
            }
        }
    }

    /// A short message that is not answered.
    fn probe(&self, until_ms: u64) -> Option<Vec<u8>> {
        let content = Content::Message(Message::Unknown);
        self.seal(&Letter::new(self.node, None, until_ms, content))
    }

    /// Sends a message to all replicas, and waits until each one that is known to run has received
    /// it, but at most for this time. A late replica receives it later, see
    /// [`Self::tell_until_taken`].
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait, but the message is still sent.
    pub(crate) async fn tell_all(self: &Arc<Self>, message: Message, within: Duration) {
        let taken = self.tell_until_taken(message);
        if !matches!(timeout(within, taken).await, Ok(Ok(()))) {
            tracing::warn!(
                "a replica did not confirm a message in time; the message is sent again"
            );
        }
    }

    /// Sends a message to all replicas, again and again until each one has received it. The
    /// connection of another replica, or of this one, may be interrupted for a moment, and after
    /// that it is not known at once which replicas run. The returned receiver is ready when all
    /// known replicas have the message; it may be dropped. Must be called inside a runtime.
    pub(crate) fn tell_until_taken(self: &Arc<Self>, message: Message) -> oneshot::Receiver<()> {
        let permit = Arc::clone(&self.telling).try_acquire_owned();
        let replicas = Arc::downgrade(self);
        let (sender, taken) = oneshot::channel();
        // This task ends when all replicas have the message, when this replica leaves, or when the
        // time is over.
        self.runtime.spawn(async move {
            let deadline = Instant::now() + TOLD;
            let mut sender = Some(sender);
            let mut telling = MessageForAll::new(message);
            while let Some(replicas) = replicas.upgrade() {
                if replicas.has_left() {
                    return;
                }
                if replicas.is_taken(&mut telling).await {
                    if let Some(sender) = sender.take() {
                        // The receiver may have been dropped.
                        let _ = sender.send(());
                    }
                    if replicas.bus.knows_all() {
                        return;
                    }
                }
                if permit.is_err() || Instant::now() >= deadline {
                    tracing::warn!("a message may not have reached all replicas");
                    return;
                }
                drop(replicas);
                sleep(TELL_AGAIN).await;
            }
        });
        taken
    }

    /// Sends a message to all replicas, or to those that are not known to have it. Returns whether
    /// all of them have it after that.
    async fn is_taken(&self, telling: &mut MessageForAll) -> bool {
        let there = self.bus.nodes().into_iter();
        let others = there.filter(|node| *node != self.node && !telling.taken.contains(node));
        let others: HashSet<_> = others.collect();
        let content = Content::Message(telling.message.clone());
        if others.is_empty() {
            if !telling.is_sent {
                let letter = Letter::new(self.node, None, told_until(), content);
                telling.is_sent = self.send(Recipient::All, &letter).await;
            }
            return telling.is_sent;
        }
        let (number, answers) = self.calls.enter(others.clone());
        let _waiting = OpenCall {
            calls: &self.calls,
            number,
        };
        let letter = Letter::new(self.node, Some(number), told_until(), content);
        if telling.is_sent {
            // The other replicas have it already.
            for node in &others {
                self.send(Recipient::Node(*node), &letter).await;
            }
        } else if !self.send(Recipient::All, &letter).await {
            return false;
        }
        telling.is_sent = true;
        let is_taken = matches!(timeout(telling.within, answers).await, Ok(Ok(_)));
        let missing = self.calls.missing(number);
        telling.taken.extend(others.difference(&missing));
        if !is_taken {
            // A late replica is busy, so wait longer before sending again.
            telling.within = TOLD.min(telling.within * 2);
        }
        is_taken
    }

    /// Sends a message without waiting for anything. Must be called inside a runtime.
    pub(crate) fn tell(self: &Arc<Self>, to: Recipient, message: Message) {
        let replicas = Arc::clone(self);
        // This task ends when the message has been sent, or could not be sent.
        let runtime = self.runtime.clone();
        runtime.spawn(async move { replicas.send_message(to, message).await });
    }

    /// Sends a message. When it returns, the message is on its way.
    pub(crate) async fn send_message(&self, to: Recipient, message: Message) {
        let letter = Letter::new(self.node, None, told_until(), Content::Message(message));
        self.send(to, &letter).await;
    }

    /// Reports to all replicas that this replica has left tasks to them.
    pub(crate) async fn tell_of_tasks(&self) {
        let node = self.node.to_string();
        let left = Message::TasksLeft { node };
        self.send_message(Recipient::All, left).await;
    }

    /// Sends an answer. The connection of the caller, or of this replica, may be interrupted for a
    /// moment, so the answer is sent again until the caller no longer waits for it.
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

    /// Sends a letter. Returns `false` if it was lost.
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

#[cfg(all(test, feature = "replicas"))]
mod tests;
