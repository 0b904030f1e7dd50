//! `Bus`: the trait for messages between replicas.

use std::sync::Arc;

use super::NodeId;
use crate::{BoxFuture, JoinGuard, StoreError};

/// Takes the messages that come for a node. It must not wait, and must not panic.
pub type Inbox = Arc<dyn Fn(Vec<u8>) + Send + Sync>;

/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// One node.
    Node(NodeId),
    /// Every node, the sender included.
    All,
}

/// The result of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The message was sent. Only an answer of the recipient shows that it arrived.
    Sent,
    /// The node is registered but does not listen now: its connection broke a moment ago, or the
    /// node ended. Send the message again, or wait until it is one or the other.
    Deaf,
    /// There is no such node.
    NoSuchNode,
}

/// Carries messages between replicas, and knows which replicas there are. `contract::bus` tests the
/// guarantees of each method.
///
/// A message may be lost where a connection breaks, and arrives at most twice. Messages from one node
/// to another arrive in the order in which they were sent, except large ones, which may be late.
pub trait Bus: Send + Sync + 'static {
    /// Joins as this node: messages for it and for all are handed to the inbox until what is returned
    /// is dropped. Must be called inside a runtime.
    fn join(&self, node: NodeId, inbox: Inbox) -> JoinGuard;

    /// Waits until messages for this node arrive.
    fn ready(&self, node: NodeId) -> BoxFuture<'_, ()>;

    /// Waits until others know that this node has left, or cannot be told.
    fn left(&self, node: NodeId) -> BoxFuture<'_, ()>;

    /// Sends a message.
    ///
    /// # Errors
    /// If the engine of the bus cannot be reached.
    fn send(&self, to: Recipient, message: Vec<u8>) -> BoxFuture<'_, Result<Delivery, StoreError>>;

    /// The nodes that are there, as far as is known here. One that is not named is not waited for.
    fn nodes(&self) -> Vec<NodeId> {
        Vec::new()
    }

    /// Whether [`nodes`](Self::nodes) names all that are there. Not so after the engine of the bus was
    /// away, until each node has had time to say again that it is there.
    fn knows_all(&self) -> bool {
        true
    }

    /// Whether a node has been silent for so long that its work can be given up. Never true while the
    /// engine of the bus cannot be reached: then it is not known who is silent.
    fn is_gone(&self, node: NodeId) -> bool;
}
