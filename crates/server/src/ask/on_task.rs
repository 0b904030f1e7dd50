//! Asks of a call that is a task: written down on it, and answered there.

use std::sync::Arc;

use serde_json::value::RawValue;
use turnbuckle_protocol::InputRequests;
use turnbuckle_session::round::BadAnswer;

use super::Asking;
use crate::task::Board;

impl Asking {
    /// From now on questions are written down here.
    pub(crate) fn on_task(&self, board: &Arc<Board>) {
        let _ = self.board.set(Arc::clone(board));
    }

    /// The open questions, unless they are those with these keys.
    pub(crate) fn open_unless(&self, known: &[String]) -> Option<InputRequests> {
        let books = self.books();
        let open = books.round.open();
        let is_known = open.len() == known.len() && open.keys().eq(known);
        (!is_known).then(|| open.to_requests())
    }

    /// Takes the answer to a question.
    pub(crate) fn take_answer(&self, key: &str, answer: &RawValue) -> Result<(), BadAnswer> {
        self.books().round.merge([(key, answer)])
    }

    pub(super) fn is_answered(&self, key: &str) -> bool {
        self.books().round.journal().answer(key).is_some()
    }
}
