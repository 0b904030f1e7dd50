//! Tools that run as tasks.

use turnbuckle_protocol::TaskSupport;

use super::{linked, runner};
use crate::Tool;

impl Tool {
    /// The tool takes long enough to run as a task, where the client knows tasks: it is answered
    /// with the task's id, and goes on when the client is gone. Where the client knows none, it is
    /// an ordinary call. A handler that takes [`Background`](crate::Background) chooses the moment.
    pub fn task(self) -> Self {
        self.runs_as_task(TaskSupport::Optional)
    }

    /// The tool runs as a task and in no other way. A client that knows no tasks is told so.
    pub fn task_only(self) -> Self {
        self.runs_as_task(TaskSupport::Required)
    }

    fn runs_as_task(mut self, support: TaskSupport) -> Self {
        self.wire = self.wire.with_task_support(support);
        runner::link(linked::open);
        self
    }
}
