//! Tools that run as tasks.

use turnbuckle_protocol::TaskSupport;

use super::{linked, runner};
use crate::Tool;

impl Tool {
    /// Runs the tool as a task if the client supports tasks: the client gets the task's id
    /// immediately, and the tool continues even if the client disconnects. For other clients it is
    /// an ordinary call. A handler that takes [`Background`](crate::Background) chooses the moment
    /// at which the call becomes a task.
    pub fn task(self) -> Self {
        self.runs_as_task(TaskSupport::Optional)
    }

    /// Runs the tool only as a task. A client that does not support tasks gets an error that says
    /// so.
    pub fn task_only(self) -> Self {
        self.runs_as_task(TaskSupport::Required)
    }

    /// Lets another replica continue a task of this tool if the process that runs it ends: the
    /// handler runs there again, from the start, and the task keeps its id. Without this, such a
    /// task fails, and the client has to call again. It requires [`task`](Self::task) or
    /// [`task_only`](Self::task_only), and [`Server::replicas`](crate::Server::replicas).
    ///
    /// A question that was answered is not asked again, and a value that a
    /// [`memo`](crate::Asker::memo) has stored is not computed again. All other code of the handler
    /// runs once more, so it must be safe to repeat. The other replica knows the id and the scopes
    /// of the caller, but not its attributes and not the HTTP request.
    ///
    /// ```
    /// use turnbuckle_server::{Ask, Tool, ToolError};
    /// # async fn order() -> Result<u64, ToolError> { Ok(7) }
    /// # async fn deliver(_: u64) {}
    ///
    /// async fn buy(Ask(ask): Ask) -> Result<String, ToolError> {
    ///     // Happens once, on whichever replica.
    ///     let number = ask.memo("order", order()).await?;
    ///     deliver(number).await; // begins again on another replica
    ///     Ok(format!("order {number} is there"))
    /// }
    ///
    /// let tool = Tool::new("buy", buy).task().restartable();
    /// ```
    pub fn restartable(mut self) -> Self {
        self.is_restartable = true;
        self
    }

    fn runs_as_task(mut self, support: TaskSupport) -> Self {
        self.wire = self.wire.with_task_support(support);
        runner::link(linked::open);
        self
    }
}
