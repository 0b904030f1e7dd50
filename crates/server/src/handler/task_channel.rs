//! The channel between a running call and its driver about its task.

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

/// The board of a call that is or may become a task.
#[derive(Default)]
pub(crate) struct TaskChannel {
    /// The call is a task from its start.
    is_immediate: bool,
    /// The task, once it has begun.
    task: OnceLock<RelatedTask>,
    /// The call wants to become a task.
    wants_to_begin: AtomicBool,
    /// The last progress of the call, until it is stored.
    words: Mutex<Option<String>>,
    /// Questions that the client answered with an error.
    refused: Mutex<BTreeMap<String, ErrorObject>>,
    /// What is known of the call, where another replica may go on with it.
    journal: Mutex<StoredJournal>,
    /// There is something for the driver to do.
    changed: Notify,
    /// There is something for the call to know.
    news: Notify,
}

/// How far the journal of a call is stored.
#[derive(Default)]
struct StoredJournal {
    /// Whether it is stored at all.
    is_kept: bool,
    /// How often something was added that has to be stored before the call goes on.
    added: u64,
    /// How much of that is stored.
    stored: u64,
}

impl TaskChannel {
    /// The board of a call that becomes a task when it says so.
    pub(crate) fn later() -> Self {
        Self::default()
    }

    /// The board of a call that is a task from its start.
    pub(crate) fn immediate() -> Self {
        Self {
            is_immediate: true,
            ..Self::default()
        }
    }

    /// The board of a call that goes on with a task of another replica.
    pub(crate) fn of_task(task_id: &str) -> Self {
        let channel = Self::immediate();
        channel.keep_journal();
        channel.begin(task_id);
        channel
    }

    /// From now on the call waits at each memo until it is stored.
    pub(crate) fn keep_journal(&self) {
        self.journal.lock().is_kept = true;
    }

    /// The journal is no longer stored: no other replica can go on with the call.
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

    /// Waits until what was added to the journal is stored, where it has to be.
    pub(crate) async fn stored(&self) {
        // What was added before the task begins is stored with the task.
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

    /// What is to be stored of the journal, if anything is: a number for
    /// [`mark_stored`](Self::mark_stored).
    pub(crate) fn unstored(&self) -> Option<u64> {
        let journal = self.journal.lock();
        (journal.added > journal.stored).then_some(journal.added)
    }

    /// Says that the journal is stored up to here.
    pub(crate) fn mark_stored(&self, added: u64) {
        let mut journal = self.journal.lock();
        journal.stored = journal.stored.max(added);
        drop(journal);
        self.news.notify_waiters();
    }

    /// Whether questions are written down here instead of sent.
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

    /// Asks that the call become a task, and waits until it is one.
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

    /// Says how far the work is.
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

    /// The client answered a question with an error.
    pub(crate) fn refuse(&self, key: String, error: ErrorObject) {
        let mut refused = self.refused.lock();
        refused.insert(key, error);
    }

    /// Answers have come.
    pub(crate) fn answered(&self) {
        self.news.notify_waiters();
    }

    /// Waits until a question that is written down on the task has its answer.
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
