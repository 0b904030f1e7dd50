//! Notifications of changed lists, sent to clients once for each change.
//!
//! One change is heard of in each session with a server, and again when the lists have been read anew.
//! Clients list once more each time they are told, so what comes together is told together.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::{runtime::Handle, time};
use turnbuckle_base::lock::Mutex;
use turnbuckle_server::Changes;

/// How long news are collected. The sessions of a server tell of a change within it, and lists of
/// ordinary length are read within it.
const COLLECT: Duration = Duration::from_millis(150);

/// A list that clients are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChangedList {
    Tools,
    Prompts,
    Resources,
}

/// Collects news of changed lists.
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

    /// Tells clients of it soon, once however often it is said until then.
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
            // It ends by itself, in a moment.
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
