//! The channel between a running call and the driver of its task.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{ErrorObject, RelatedTask};

use crate::AskFailed;

/// The channel of a call that is or may become a task.
#[derive(Default)]
pub(crate) struct TaskChannel {
    /// Whether the call is a task from its start.
    is_immediate: bool,
    /// The task, once it has begun.
    task: OnceLock<RelatedTask>,
    /// Whether the call asks to become a task.
    wants_to_begin: AtomicBool,
    /// The last progress of the call, until it is stored.
    words: Mutex<Option<String>>,
    /// Questions that the client answered with an error.
    refused: Mutex<BTreeMap<String, ErrorObject>>,
    /// How much of the journal is stored, if another replica may continue the call.
    journal: Mutex<StoredJournal>,
    /// Notifies the driver.
    changed: Notify,
    /// Notifies the call.
    news: Notify,
}

/// How much of a call's journal is stored.
#[derive(Default)]
struct StoredJournal {
    /// Whether the journal is stored at all.
    is_kept: bool,
    /// How many times something was added that must be stored before the call continues.
    added: u64,
    /// How many of these additions are stored.
    stored: u64,
}

impl TaskChannel {
    /// Creates the channel of a call that becomes a task when it asks for it.
    pub(crate) fn later() -> Self {
        Self::default()
    }

    /// Creates the channel of a call that is a task from its start.
    pub(crate) fn immediate() -> Self {
        Self {
            is_immediate: true,
            ..Self::default()
        }
    }

    /// Creates the channel of a call that continues a task of another replica.
    pub(crate) fn of_task(task_id: &str) -> Self {
        let channel = Self::immediate();
        channel.keep_journal();
        channel.begin(task_id);
        channel
    }

    /// Stores the journal from now on: the call waits after each memo until it is stored.
    pub(crate) fn keep_journal(&self) {
        self.journal.lock().is_kept = true;
    }

    /// Stops storing the journal. Then no other replica can continue the call.
    pub(crate) fn give_up_journal(&self) {
        let mut journal = self.journal.lock();
        journal.is_kept = false;
        journal.stored = journal.added;
        drop(journal);
        self.news.notify_waiters();
    }

    /// Whether the journal is stored.
    pub(crate) fn keeps_journal(&self) -> bool {
        self.journal.lock().is_kept
    }

    /// Waits until the latest addition to the journal is stored, if it has to be.
    pub(crate) async fn stored(&self) {
        // Everything that is added before the task begins is stored with the task.
        if self.task.get().is_none() {
            return;
        }
        let added = {
            let mut journal = self.journal.lock();
            if !journal.is_kept {
                return;
            }
            journal.added += 1;
            journal.added
        };
        self.changed.notify_one();
        loop {
            let mut news = pin!(self.news.notified());
            news.as_mut().enable();
            if self.journal.lock().stored >= added {
                return;
            }
            news.await;
        }
    }

    /// Returns a number for [`mark_stored`](Self::mark_stored) if additions to the journal have to
    /// be stored.
    pub(crate) fn unstored(&self) -> Option<u64> {
        let journal = self.journal.lock();
        (journal.added > journal.stored).then_some(journal.added)
    }

    /// Marks additions to the journal up to this number as stored.
    pub(crate) fn mark_stored(&self, added: u64) {
        let mut journal = self.journal.lock();
        journal.stored = journal.stored.max(added);
        drop(journal);
        self.news.notify_waiters();
    }

    /// Whether questions are stored on the task instead of sent.
    pub(crate) fn takes_questions(&self) -> bool {
        self.is_immediate || self.task.get().is_some()
    }

    /// The task, if it has begun.
    pub(crate) fn task(&self) -> Option<&RelatedTask> {
        self.task.get()
    }

    pub(crate) fn begin(&self, task_id: &str) {
        let _ = self.task.set(RelatedTask::new(task_id));
        self.news.notify_waiters();
    }

    /// Asks the driver to make the call a task, and waits until it is a task.
    pub(crate) async fn ask_to_begin(&self) {
        loop {
            let mut news = pin!(self.news.notified());
            news.as_mut().enable();
            if self.takes_questions() {
                return;
            }
            self.wants_to_begin.store(true, Ordering::Release);
            self.changed.notify_one();
            news.await;
        }
    }

    pub(crate) fn wants_to_begin(&self) -> bool {
        self.wants_to_begin.load(Ordering::Acquire)
    }

    /// Reports the progress of the call, as text.
    pub(crate) fn say(&self, words: String) {
        *self.words.lock() = Some(words);
        self.changed.notify_one();
    }

    pub(crate) fn take_words(&self) -> Option<String> {
        self.words.lock().take()
    }

    /// Waits until the driver has something to do.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Notes that the client answered a question with an error.
    pub(crate) fn refuse(&self, key: String, error: ErrorObject) {
        let mut refused = self.refused.lock();
        refused.insert(key, error);
    }

    /// Notifies the call that answers have arrived.
    pub(crate) fn answered(&self) {
        self.news.notify_waiters();
    }

    /// Waits until a question that is stored on the task has been answered.
    pub(crate) async fn answer(
        &self,
        key: &str,
        is_answered: impl Fn() -> bool,
    ) -> Result<(), AskFailed> {
        loop {
            let mut news = pin!(self.news.notified());
            news.as_mut().enable();
            if let Some(error) = self.take_refusal(key) {
                return Err(AskFailed::Refused {
                    key: key.to_owned(),
                    code: error.code,
                    message: error.message,
                });
            }
            if is_answered() {
                return Ok(());
            }
            news.await;
        }
    }

    fn take_refusal(&self, key: &str) -> Option<ErrorObject> {
        let mut refused = self.refused.lock();
        refused.remove(key)
    }
}
