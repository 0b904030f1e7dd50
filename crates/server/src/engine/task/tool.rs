//! Tools that run as tasks.

use turnbuckle_protocol::TaskSupport;

use super::{linked, runner};
use crate::Tool;

impl Tool {
    /// Runs the tool as a task where the client supports tasks: the client gets the task's id at
    /// once, and the tool goes on when the client is gone. For other clients it is an ordinary
    /// call. A handler that takes [`Background`](crate::Background) chooses the moment at which it
    /// becomes a task.
    pub fn task(self) -> Self {
        self.runs_as_task(TaskSupport::Optional)
    }

    /// Runs the tool as a task and in no other way. A client that does not support tasks gets an
    /// error that says so.
    pub fn task_only(self) -> Self {
        self.runs_as_task(TaskSupport::Required)
    }

    fn runs_as_task(mut self, support: TaskSupport) -> Self {
        self.wire = self.wire.with_task_support(support);
        runner::link(linked::open);
        self
    }
}
