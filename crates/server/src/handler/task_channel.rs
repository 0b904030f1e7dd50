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
    /// There is something for the driver to do.
    changed: Notify,
    /// There is something for the call to know.
    news: Notify,
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
