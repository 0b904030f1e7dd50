//! Calls that became tasks.

use std::time::Duration;

use turnbuckle_protocol::{
    CreateTaskResult, TaskMetadata,
    error::code,
    method::{self, available},
};

use super::{
    ClientCall,
    builder::{Body, Subject},
    list::learn_promises,
};
use crate::{connection::Connection, error::CallError, link::Link, task};

/// The first answer to a call: the result, or a task.
pub(super) enum Begun<R> {
    /// The result of the call.
    Done(R),
    /// A task, and the name of its tool.
    Task(String, Box<CreateTaskResult>),
}

impl<'a, R> ClientCall<'a, R> {
    /// Runs the call, and waits for its task if it becomes one. If the future is dropped, or the
    /// deadline is over, the task is given up.
    pub(super) async fn run_to_the_end(mut self, subject: &Subject) -> Result<R, CallError> {
        let (tool, begun) = match self.run_rounds(subject, None).await? {
            Begun::Done(result) => return Ok(result),
            Begun::Task(tool, begun) => (tool, begun),
        };
        // tasks: only a tool call can become a task.
        let Some(connection) = self.connection else {
            return Err(self
                .reader(subject)
                .malformed("the result is a task, but this method cannot become a task"));
        };
        let waiting = task::wait(connection, &tool, &begun, self.options.deadline);
        let raw = match (&self.options.late_progress, &mut self.options.progress) {
            // tasks: the progress token of the call stays valid for its task, until the task has ended.
            (Some(late), Some(listener)) => late.listen(waiting, listener).await?,
            _ => waiting.await?,
        };
        learn_promises(connection.link(), &raw, self.options.deadline).await;
        let reader = self.reader(subject);
        (self.read)(&reader, raw)?.done(&reader)
    }

    /// Starts the call, as a task if the server supports that.
    pub(super) async fn begin_as_task(
        &mut self,
        ttl: Option<Duration>,
    ) -> Result<Begun<R>, CallError> {
        let body = self.prepare().await?;
        let whole = |ttl: Duration| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let task = has_tasks(self.link).then(|| {
            let mut task = TaskMetadata::new();
            task.ttl = ttl.map(whole);
            task
        });
        match body {
            Body::Subject(subject) => self.begin_or_call(&subject, task).await,
            Body::Plain(_) => Err(self
                .link
                .not_offered(&self.method, "only tool calls can become tasks")),
        }
    }

    /// If the server says that the tool does not support tasks, the tool is called without one.
    async fn begin_or_call(
        &mut self,
        subject: &Subject,
        task: Option<TaskMetadata>,
    ) -> Result<Begun<R>, CallError> {
        let is_asked = task.is_some();
        match self.run_rounds(subject, task).await {
            Err(error) if is_asked && is_not_found(&error) => self.run_rounds(subject, None).await,
            begun => begun,
        }
    }

    /// Whether a server of a session answered that the tool runs only as a task.
    pub(super) fn is_only_a_task(&self, error: &CallError) -> bool {
        self.connection.is_some() && is_not_found(error) && has_tasks(self.link)
    }

    /// The connection on which the call was made.
    pub(super) fn connection(&self) -> Option<&'a Connection> {
        self.connection
    }
}

/// tasks: -32601 is the error for a call that does not fit the tool's support for tasks.
fn is_not_found(error: &CallError) -> bool {
    error
        .rejection()
        .is_some_and(|error| error.code == code::METHOD_NOT_FOUND)
}

/// Whether a session may ask this server to run tool calls as tasks.
fn has_tasks(link: &Link) -> bool {
    let Some(peer) = link.peer() else {
        return false;
    };
    let tasks = peer.capabilities().and_then(|server| server.tasks.as_ref());
    let tools = tasks.and_then(|tasks| tasks.requests.as_ref()?.tools.as_ref());
    available("tasks/result", peer.revision(), method::Direction::ToServer)
        && tools.is_some_and(|tools| tools.call.is_some())
}
