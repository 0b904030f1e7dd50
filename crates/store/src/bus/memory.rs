//! A bus within one process.

use std::{collections::BTreeMap, sync::Arc};

use turnbuckle_base::lock::Mutex;

use super::{Bus, Delivery, Inbox, NodeId, Recipient};
use crate::{BoxFuture, JoinGuard, StoreError};

/// A bus for several servers in one process, as used in tests. Clones refer to the same bus.
#[derive(Clone, Default)]
pub struct MemoryBus(Arc<Mutex<BTreeMap<NodeId, Inbox>>>);

impl Bus for MemoryBus {
    fn join(&self, node: NodeId, inbox: Inbox) -> JoinGuard {
        self.0.lock().insert(node, inbox);
        JoinGuard::new(BusMembership {
            bus: self.clone(),
            node,
        })
    }

    fn ready(&self, _: NodeId) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn left(&self, _: NodeId) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn send(&self, to: Recipient, message: Vec<u8>) -> BoxFuture<'_, Result<Delivery, StoreError>> {
        let inboxes: Vec<_> = match to {
            Recipient::All => self.0.lock().values().cloned().collect(),
            Recipient::Node(node) => self.0.lock().get(&node).cloned().into_iter().collect(),
        };
        // Call the inboxes without the lock, because a recipient may send messages too.
        for inbox in &inboxes {
            inbox(message.clone());
        }
        let delivery = if inboxes.is_empty() {
            Delivery::NoSuchNode
        } else {
            Delivery::Sent
        };
        Box::pin(std::future::ready(Ok(delivery)))
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.0.lock().keys().copied().collect()
    }

    fn is_gone(&self, node: NodeId) -> bool {
        !self.0.lock().contains_key(&node)
    }
}

struct BusMembership {
    bus: MemoryBus,
    node: NodeId,
}

impl Drop for BusMembership {
    fn drop(&mut self) {
        self.bus.0.lock().remove(&self.node);
    }
}
