//! A task at a server.

use std::{fmt, sync::Arc};

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{InputRequests, InputResponses, ProgressNotificationParams, Task};

use super::{list::learn_promises, tools_call::read_output};
use crate::{
    connection::Connection,
    error::CallError,
    link::LateProgress,
    task::{self, LookState, TaskStatuses, TaskTicket},
    tool::ToolOutput,
};

/// A task at a server. Dropping the handle does not affect the task; keep its [`ticket`](Self::ticket)
/// to return to the task later.
#[derive(Debug)]
pub struct TaskHandle {
    connection: Connection,
    ticket: TaskTicket,
    progress: Option<TaskProgress>,
}

/// A progress listener that a call shares with the task that it becomes.
pub(super) type SharedListener = Arc<Mutex<dyn FnMut(ProgressNotificationParams) + Send>>;

/// Receives progress reports of a task, and passes them on to its listener.
pub(super) struct TaskProgress {
    late: Box<LateProgress>,
    listener: SharedListener,
}

impl TaskProgress {
    pub(super) fn new((late, listener): (Box<LateProgress>, SharedListener)) -> Self {
        Self { late, listener }
    }
}

impl fmt::Debug for TaskProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskProgress")
    }
}

impl Connection {
    /// Returns a handle to a task of this server. The task may have been started on another connection
    /// or in another process by the same user.
    pub fn task(&self, ticket: TaskTicket) -> TaskHandle {
        TaskHandle {
            connection: self.clone(),
            ticket,
            progress: None,
        }
    }
}

impl TaskHandle {
    pub(super) fn hearing(mut self, progress: Option<TaskProgress>) -> Self {
        self.progress = progress;
        self
    }

    /// Returns the id that the server gave the task. Store the [`ticket`](Self::ticket), not the id, to
    /// return to the task later.
    pub fn id(&self) -> &str {
        &self.ticket.task_id
    }

    /// Returns the ticket of the task, which can be serialised and stored, and passed to
    /// [`Connection::task`] later. It changes when questions are answered, so store it again after
    /// [`answer`](Self::answer).
    pub fn ticket(&self) -> &TaskTicket {
        &self.ticket
    }

    /// Fetches the status of the task.
    ///
    /// # Errors
    /// [`CallError::Rejected`] if the server does not know the task any more.
    pub async fn status(&mut self) -> Result<Task, CallError> {
        let look = task::look(&self.connection, &mut self.ticket).await?;
        Ok(look.task)
    }

    /// Returns the status of the task, now and whenever it changes, until the task has ended. It does
    /// not answer questions of the task.
    ///
    /// ```no_run
    /// # async fn run(task: turnbuckle_client::TaskHandle) -> Result<(), turnbuckle_client::CallError> {
    /// let mut statuses = task.statuses();
    /// while let Some(task) = statuses.next().await {
    ///     println!("{:?}", task?.status);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn statuses(&self) -> TaskStatuses {
        TaskStatuses::new(self.connection.clone(), self.ticket.clone())
    }

    /// Waits for the result, and answers questions of the task with the client's handlers.
    ///
    /// # Errors
    /// The error that the call itself would have returned, and [`CallError::InputRequired`] if there is
    /// no handler for a question of the task: then [`answer`](Self::answer) it, and wait again.
    ///
    /// # Cancel safety
    /// Dropping the future does not affect the task: wait again, or [`cancel`](Self::cancel) it.
    pub async fn result(&mut self) -> Result<ToolOutput, CallError> {
        let following = task::follow(&self.connection, &mut self.ticket);
        let raw = match &self.progress {
            None => following.await?,
            Some(TaskProgress { late, listener }) => {
                let mut hear = |report| (listener.lock())(report);
                late.listen(following, &mut hear).await?
            }
        };
        learn_promises(self.connection.link(), &raw, None).await;
        read_output(self.connection.link(), &self.ticket.tool, &raw)
    }

    /// Returns the open questions of the task, for applications that answer them without handlers. In a
    /// session, questions come while the result is awaited, so this is always empty.
    ///
    /// # Errors
    /// Fails as [`status`](Self::status) does.
    pub async fn asks(&mut self) -> Result<InputRequests, CallError> {
        let look = task::look(&self.connection, &mut self.ticket).await?;
        Ok(match look.state {
            LookState::Asks(asked) => asked,
            _ => InputRequests::new(),
        })
    }

    /// Answers questions of the task. Use the keys of the questions for the answers.
    ///
    /// # Errors
    /// [`CallError::Rejected`] if an answer does not fit its question.
    pub async fn answer(&mut self, responses: InputResponses) -> Result<(), CallError> {
        task::update(&self.connection, &mut self.ticket, responses).await
    }

    /// Cancels the task. It is not an error if the task has ended in the meantime.
    ///
    /// # Errors
    /// Fails if the request cannot be sent, or if the server refuses to cancel a task that still runs.
    pub async fn cancel(&mut self) -> Result<(), CallError> {
        let cancelled = task::cancel(&self.connection, self.id()).await;
        match cancelled {
            Ok(()) => Ok(()),
            // tasks: a session must not cancel a task that has ended. If the task still exists, check
            // its status.
            Err(error @ CallError::Rejected { .. }) => match self.status().await {
                Ok(task) if task.status.is_terminal() => Ok(()),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }
}
