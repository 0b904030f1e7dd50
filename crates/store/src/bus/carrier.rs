//! `Bus`: the trait for messages between replicas.

use std::sync::Arc;

use super::NodeId;
use crate::{BoxFuture, JoinGuard, StoreError};

/// Receives the messages for a node. It must not block and must not panic.
pub type Inbox = Arc<dyn Fn(Vec<u8>) + Send + Sync>;

/// The recipient of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// One node.
    Node(NodeId),
    /// Every node, including the sender.
    All,
}

/// The result of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The message was sent. Only an answer of the recipient shows that it arrived.
    Sent,
    /// The node is registered but not listening at the moment: its connection just broke, or the
    /// node has ended. Send the message again, or wait until this has changed.
    Deaf,
    /// There is no such node.
    NoSuchNode,
}

/// Carries messages between replicas, and knows which replicas exist. `contract::bus` tests the
/// guarantees of each method.
///
/// A message may be lost if a connection breaks, and arrives at most twice. Messages from one node
/// to another arrive in the order in which they were sent, except large ones, which may be late.
pub trait Bus: Send + Sync + 'static {
    /// Joins as this node. Messages for this node and for all nodes are passed to the inbox until
    /// the returned guard is dropped. It must be called within a runtime.
    fn join(&self, node: NodeId, inbox: Inbox) -> JoinGuard;

    /// Waits until messages for this node can arrive.
    fn ready(&self, node: NodeId) -> BoxFuture<'_, ()>;

    /// Waits until the other nodes know that this node has left, or cannot be told.
    fn left(&self, node: NodeId) -> BoxFuture<'_, ()>;

    /// Sends a message to a node or to all nodes.
    ///
    /// # Errors
    /// [`StoreError`] if the engine of the bus cannot be reached.
    fn send(&self, to: Recipient, message: Vec<u8>) -> BoxFuture<'_, Result<Delivery, StoreError>>;

    /// The nodes that are present, as far as this node knows. Callers do not wait for nodes that
    /// are missing here. Defaults to none.
    fn nodes(&self) -> Vec<NodeId> {
        Vec::new()
    }

    /// Whether [`nodes`](Self::nodes) contains all nodes that are present. This is false after the
    /// engine of the bus was unreachable, until each node has had time to report again. Defaults to
    /// true.
    fn knows_all(&self) -> bool {
        true
    }

    /// Whether a node has been silent for so long that its work can be given up. Never true while
    /// the engine of the bus cannot be reached, because then it is unknown which nodes are silent.
    fn is_gone(&self, node: NodeId) -> bool;
}
