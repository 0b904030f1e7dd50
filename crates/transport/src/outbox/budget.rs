//! Memory that many outboxes share.

use std::sync::Arc;

use super::held::Held;
use super::queue::Queue;

/// 8 KiB: what may wait in an outbox without being paid for.
const FREE_BYTES: usize = 8 * 1024;

/// 32 KiB: what is paid for at least, so that small messages do not pay each.
const STEP_BYTES: usize = 32 * 1024;

/// Pays for the messages that wait in outboxes.
pub trait OutboxBudget: Send + Sync {
    /// Takes so many bytes for a payer, until what this gives is dropped. `None` if there are not so
    /// many left.
    fn pay(self: Arc<Self>, payer: u64, bytes: usize) -> Option<Held>;
}

/// Who pays for an outbox.
pub(super) struct Account {
    pub(super) budget: Arc<dyn OutboxBudget>,
    pub(super) payer: u64,
}

impl Account {
    /// Pays for what waits in the queue; false if it cannot.
    pub(super) fn settle(&self, queue: &mut Queue) -> bool {
        let owed = queue.pending().saturating_sub(FREE_BYTES + queue.paid);
        if owed == 0 {
            return true;
        }
        let bytes = owed.max(STEP_BYTES);
        match Arc::clone(&self.budget).pay(self.payer, bytes) {
            Some(mut paid) => {
                queue.held.append(&mut paid);
                queue.paid += bytes;
                true
            }
            None => false,
        }
    }
}
