//! A memory budget that many outboxes share.

use std::sync::Arc;

use super::held::Held;
use super::queue::Queue;

/// 8 KiB: how much may wait in an outbox without using the budget.
const FREE_BYTES: usize = 8 * 1024;

/// 32 KiB: the minimum amount to request from the budget, so that small messages need not request each.
const STEP_BYTES: usize = 32 * 1024;

/// A memory budget for the messages that wait in outboxes.
pub trait OutboxBudget: Send + Sync {
    /// Takes this many bytes from the budget for a payer, until the returned value is dropped. Returns
    /// `None` if there are not enough bytes left.
    fn pay(self: Arc<Self>, payer: u64, bytes: usize) -> Option<Held>;
}

/// The budget of an outbox, and its payer.
pub(super) struct Account {
    pub(super) budget: Arc<dyn OutboxBudget>,
    pub(super) payer: u64,
}

impl Account {
    /// Takes memory from the budget for the queued messages. Returns false if there is not enough.
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
