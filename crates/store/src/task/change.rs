//! Changes of a task.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use turnbuckle_protocol::{ErrorObject, InputRequests};

use super::RunChange;
use crate::bus::NodeId;

/// Answers to what a task asked, unread, under the keys of the questions.
pub type Answers = BTreeMap<String, Box<RawValue>>;

/// Something that happens to a task. Nothing happens to one that has ended.
#[derive(Clone, Debug)]
pub enum TaskChange {
    /// The task reports progress with this message.
    Say(String),
    /// These are now all the questions without an answer. Those that were answered before stay
    /// answered. With none left, the task works again.
    Ask(InputRequests),
    /// Answers arrive. Answers without an open question are ignored.
    Answer(Answers),
    /// The task ends.
    End(TaskEnd),
    /// The replica that runs it writes something down. Only of a task with a
    /// [`Restart`](super::Restart), and only in the turn of that replica.
    Run(RunChange),
    /// The replica that runs it ends in order, and leaves the task to another one.
    HandOver {
        /// The turn of that replica.
        turn: u32,
    },
    /// Another replica goes on with it. Of several that try, one succeeds.
    TakeOver {
        /// The turn that is over.
        turn: u32,
        /// The replica that goes on with it.
        node: NodeId,
    },
}

impl TaskChange {
    /// The end that this is, or that a replica writes in its turn.
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
    /// With a result.
    Completed {
        /// The result, as it would have been without a task.
        result: Box<RawValue>,
        /// Whether the result itself says that the work failed, which some revisions count as a
        /// failure of the task.
        is_error: bool,
        /// A line about it, for people.
        message: Option<String>,
    },
    /// With an error of the protocol. Its text is the line for people.
    Failed(ErrorObject),
    /// The task was cancelled.
    Cancelled {
        /// Why, for people.
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
    /// The task had ended, or it is the turn of another replica.
    Over,
}
