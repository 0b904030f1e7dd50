//! The data with which another replica continues a task.

use serde::{Deserialize, Serialize};

use crate::bus::NodeId;

/// The data with which another replica continues a task whose handler may run again.
///
/// A store keeps it with the task, and drops it when the task ends. `call` and `journal` are for
/// the server alone, which seals them. They may be large, so a store may leave them empty in the
/// records that it returns; [`Tasks::restart`](super::Tasks::restart) returns them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Restart {
    /// The replica that runs the task; `None` if it handed the task over and no other replica has
    /// taken it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// How often the task has moved from one replica to another. What a replica writes is valid
    /// only in its own turn.
    pub turn: u32,
    /// How often the task may still be taken over from a replica that ended without handing it
    /// over. A task that crashes its process must not go through all replicas.
    pub takeovers_left: u32,
    /// The call that is run again.
    pub call: String,
    /// The recorded history of the call: questions, answers and memos.
    pub journal: String,
    /// Whether no other replica can continue the task, because its journal cannot be stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_given_up: bool,
}

impl Restart {
    /// Makes the data for a new task that may be taken over this many times. The replica's store
    /// sets the node that runs it.
    pub fn new(call: String, journal: String, takeovers: u32) -> Self {
        Self {
            node: None,
            turn: 0,
            takeovers_left: takeovers,
            call,
            journal,
            is_given_up: false,
        }
    }

    /// Whether another replica may take the task over if its replica is gone.
    pub fn may_be_taken_over(&self) -> bool {
        !self.is_given_up && (self.node.is_none() || self.takeovers_left > 0)
    }

    /// Begins the next turn, at this node.
    pub(super) fn take_over(&mut self, node: NodeId) {
        if self.node.is_some() {
            self.takeovers_left = self.takeovers_left.saturating_sub(1);
        }
        self.node = Some(node);
        self.turn = self.turn.saturating_add(1);
    }

    /// Records that no other replica can continue the task. The node that runs it stays known.
    pub(super) fn give_up(&mut self) {
        self.is_given_up = true;
        self.takeovers_left = 0;
        self.call = String::new();
        self.journal = String::new();
    }

    /// An estimate of the memory that it needs, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.call.len() + self.journal.len()
    }
}

/// A change that the replica that runs a task stores.
#[derive(Clone, Debug)]
pub struct RunChange {
    /// The turn of that replica. The change is refused if another replica has taken the task over since.
    pub turn: u32,
    /// The change of the journal.
    pub journal: JournalChange,
    /// Another change of the task, if any.
    pub change: Option<Box<super::TaskChange>>,
}

/// A change of a task's journal.
#[derive(Clone, Debug)]
pub enum JournalChange {
    /// The journal does not change.
    Same,
    /// The new journal.
    Now(String),
    /// The journal cannot be stored, so no other replica can continue the task.
    GiveUp,
}
