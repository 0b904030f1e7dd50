//! Waiters of this process for changes of tasks.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::watch;
use turnbuckle_base::lock::Mutex;

/// Who waits for which task.
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

/// A waiting caller, until it is dropped.
pub(super) struct Waiter {
    woken: watch::Receiver<()>,
    id: Box<str>,
    waiting: Arc<Waiting>,
}

impl Waiter {
    /// Ready when there was word of the task since the last time.
    pub(super) async fn woken(&mut self) {
        // The sender lives as long as this place.
        let _ = self.woken.changed().await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut table = self.waiting.0.lock();
        // The last one out; itself is still counted.
        if table
            .get(&self.id)
            .is_some_and(|sender| sender.receiver_count() <= 1)
        {
            table.remove(&self.id);
        }
    }
}
