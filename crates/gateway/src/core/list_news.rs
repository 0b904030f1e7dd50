//! Notifies clients of changed lists, once for each change.
//!
//! A change is reported by each session with a server, and again when the lists have been read.
//! Clients read the lists after each notification, so notifications that belong together are
//! combined.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::{runtime::Handle, time};
use turnbuckle_base::lock::Mutex;
use turnbuckle_server::Changes;

/// How long changes are collected. Within this time all sessions of a server report a change, and
/// lists of ordinary length are read.
const COLLECT: Duration = Duration::from_millis(150);

/// A list whose change is announced to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChangedList {
    Tools,
    Prompts,
    Resources,
}

/// Collects changes of lists.
pub(super) struct ListNews {
    changes: Arc<OnceLock<Changes>>,
    waiting: Arc<Mutex<BTreeSet<ChangedList>>>,
}

impl ListNews {
    pub(super) fn new(changes: Arc<OnceLock<Changes>>) -> Self {
        Self {
            changes,
            waiting: Arc::default(),
        }
    }

    /// Notifies clients soon, and only once for all changes until then.
    pub(super) fn tell(&self, list: ChangedList) {
        let Some(changes) = self.changes.get() else {
            return;
        };
        let Ok(runtime) = Handle::try_current() else {
            return tell(changes, list);
        };
        let is_first = {
            let mut waiting = self.waiting.lock();
            let is_first = waiting.is_empty();
            waiting.insert(list);
            is_first
        };
        if is_first {
            let (changes, waiting) = (changes.clone(), Arc::clone(&self.waiting));
            // The task ends by itself after a moment.
            runtime.spawn(async move {
                time::sleep(COLLECT).await;
                let lists = std::mem::take(&mut *waiting.lock());
                for list in lists {
                    tell(&changes, list);
                }
            });
        }
    }
}

fn tell(changes: &Changes, list: ChangedList) {
    match list {
        ChangedList::Tools => changes.tools(),
        ChangedList::Prompts => changes.prompts(),
        ChangedList::Resources => changes.resources(),
    }
}
