//! Questions of a call that runs as a task: they are stored on the task, and answered there.

use std::sync::Arc;

use serde_json::value::RawValue;
use turnbuckle_protocol::InputRequests;
use turnbuckle_session::round::BadAnswer;

use super::Asking;
use crate::handler::TaskChannel;

impl Asking {
    /// Stores questions in this task from now on.
    pub(crate) fn on_task(&self, task: &Arc<TaskChannel>) {
        let _ = self.task.set(Arc::clone(task));
    }

    /// Returns the journal of the call as JSON; `None` if it cannot be serialized.
    pub(crate) fn journal(&self) -> Option<String> {
        serde_json::to_string(self.state().round.journal()).ok()
    }

    /// Whether an effect is running, which must not be dropped.
    pub(crate) fn has_memo_running(&self) -> bool {
        self.state().has_memo_running()
    }

    /// Returns the open questions; `None` if these are the known ones.
    pub(crate) fn open_unless(&self, known: &[String]) -> Option<InputRequests> {
        let state = self.state();
        let open = state.round.open();
        let is_known = open.len() == known.len() && open.keys().eq(known);
        (!is_known).then(|| open.to_requests())
    }

    /// Takes the answer to a question.
    pub(crate) fn take_answer(&self, key: &str, answer: &RawValue) -> Result<(), BadAnswer> {
        self.state().round.merge([(key, answer)])
    }

    pub(super) fn is_answered(&self, key: &str) -> bool {
        self.state().round.journal().answer(key).is_some()
    }
}
