//! Changes of a task.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use turnbuckle_protocol::{ErrorObject, InputRequests};

use super::RunChange;
use crate::bus::NodeId;

/// Answers to a task's questions, unparsed, by the keys of the questions.
pub type Answers = BTreeMap<String, Box<RawValue>>;

/// A change of a task. A task that has ended does not change any more.
#[derive(Clone, Debug)]
pub enum TaskChange {
    /// The task reports progress with this message.
    Say(String),
    /// Sets the questions without an answer. Answers to earlier questions are kept. If the set is
    /// empty, the task works again.
    Ask(InputRequests),
    /// Answers arrive. Answers without an open question are ignored.
    Answer(Answers),
    /// The task ends.
    End(TaskEnd),
    /// The replica that runs the task stores a change. It is valid only for a task with a
    /// [`Restart`](super::Restart), and only in the turn of that replica.
    Run(RunChange),
    /// The replica that runs the task shuts down regularly, and leaves the task to another one.
    HandOver {
        /// The turn of that replica.
        turn: u32,
    },
    /// Another replica continues the task. If several try, one succeeds.
    TakeOver {
        /// The turn that has ended.
        turn: u32,
        /// The replica that continues the task.
        node: NodeId,
    },
}

impl TaskChange {
    /// The end in this change, including one that a replica writes in its turn.
    pub(crate) fn end(&self) -> Option<&Self> {
        match self {
            Self::End(_) => Some(self),
            Self::Run(run) => run.change.as_deref()?.end(),
            _ => None,
        }
    }
}

/// How a task ends.
#[derive(Clone, Debug)]
pub enum TaskEnd {
    /// The task has completed with a result.
    Completed {
        /// The result that the call would have had without a task.
        result: Box<RawValue>,
        /// Whether the result itself reports a failure of the work, which some revisions treat as a
        /// failure of the task.
        is_error: bool,
        /// A status message for people.
        message: Option<String>,
    },
    /// The task has failed with a protocol error, whose text is the status message.
    Failed(ErrorObject),
    /// The task was cancelled.
    Cancelled {
        /// The reason, for people.
        reason: Option<String>,
    },
}

/// The result of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The task was changed.
    Changed,
    /// The task was already in this state.
    Unchanged,
    /// The task had already ended, or it is the turn of another replica.
    Over,
}
