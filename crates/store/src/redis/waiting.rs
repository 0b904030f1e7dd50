//! Callers of this process that wait for changes of tasks.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::watch;
use turnbuckle_base::lock::Mutex;

/// The waiting callers, by task.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<HashMap<Box<str>, watch::Sender<()>>>);

impl Waiting {
    pub(super) fn enter(self: &Arc<Self>, id: &str) -> Waiter {
        let mut table = self.0.lock();
        let sender = table.entry(id.into()).or_default();
        Waiter {
            woken: sender.subscribe(),
            id: id.into(),
            waiting: Arc::clone(self),
        }
    }

    pub(super) fn wake(&self, id: &[u8]) {
        let table = self.0.lock();
        if let Some(sender) = str::from_utf8(id).ok().and_then(|id| table.get(id)) {
            sender.send_replace(());
        }
    }

    pub(super) fn wake_all(&self) {
        for sender in self.0.lock().values() {
            sender.send_replace(());
        }
    }
}

/// A waiting caller. Dropping it ends the wait.
pub(super) struct Waiter {
    woken: watch::Receiver<()>,
    id: Box<str>,
    waiting: Arc<Waiting>,
}

impl Waiter {
    /// Waits until there was a message about the task since the last call.
    pub(super) async fn woken(&mut self) {
        // The sender exists for as long as this waiter.
        let _ = self.woken.changed().await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut table = self.waiting.0.lock();
        // This is the last waiter; it is still counted itself.
        if table
            .get(&self.id)
            .is_some_and(|sender| sender.receiver_count() <= 1)
        {
            table.remove(&self.id);
        }
    }
}
