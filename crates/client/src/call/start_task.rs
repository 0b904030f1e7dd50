//! Starting a call as a task.

use std::{future::IntoFuture, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::ProgressNotificationParams;

use super::{
    ClientCall, TaskHandle,
    begun::Begun,
    exchange::unless_cancelled,
    task_handle::{SharedListener, TaskProgress},
};
use crate::{error::CallError, task::TaskTicket, tool::ToolOutput};

/// The result of a call that may become a task, from [`ClientCall::task`].
#[derive(Debug)]
pub enum Started {
    /// The server has no tasks, or answered at once. There is no task.
    Done(ToolOutput),
    /// The call continues as a task at the server. Use the handle to wait for the task, to ask for its
    /// status, or to cancel it.
    Task(TaskHandle),
}

impl Started {
    /// Returns the result at once, or waits until the task has ended.
    ///
    /// # Errors
    /// Fails as [`TaskHandle::result`] does.
    pub async fn result(self) -> Result<ToolOutput, CallError> {
        match self {
            Self::Done(output) => Ok(output),
            Self::Task(mut task) => task.result().await,
        }
    }
}

/// A call that may become a task, made by [`ClientCall::task`]. It is sent when it is awaited, and
/// returns [`Started`].
///
/// # Cancel safety
/// Dropping the future before the server has answered cancels the call.
#[must_use = "nothing is sent before it is awaited"]
pub struct StartTask<'a> {
    call: ClientCall<'a, ToolOutput>,
    ttl: Option<Duration>,
    listener: Option<SharedListener>,
}

impl<'a> ClientCall<'a, ToolOutput> {
    /// Returns a task instead of the result, if the call becomes a task.
    ///
    /// In a session the client asks for a task if the server supports tasks; a modern server decides by
    /// itself. A server without tasks returns the result.
    ///
    /// The listener of [`progress`](ClientCall::progress) is called until the task has begun; the
    /// listener of [`StartTask::progress`] is also called while the task runs.
    ///
    /// ```no_run
    /// use turnbuckle_client::Started;
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// match server.call("build", ()).task().await? {
    ///     Started::Done(output) => println!("{}", output.ok()?.text()),
    ///     Started::Task(mut task) => {
    ///         // With `task.ticket()` another process can return to the task.
    ///         println!("{}", task.result().await?.ok()?.text());
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn task(self) -> StartTask<'a> {
        StartTask {
            call: self,
            ttl: None,
            listener: None,
        }
    }
}

impl StartTask<'_> {
    /// Asks the server to keep the task for this long after it was created. This is only possible in
    /// sessions, and the server decides.
    pub fn keep(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Asks for progress notifications, and calls `listener` with each: for the call, and for its task
    /// while [`TaskHandle::result`] is awaited. Only sessions report the progress of tasks.
    pub fn progress(
        mut self,
        listener: impl FnMut(ProgressNotificationParams) + Send + 'static,
    ) -> Self {
        let listener: SharedListener = Arc::new(Mutex::new(listener));
        self.listener = Some(Arc::clone(&listener));
        self.call = self.call.progress(move |report| (listener.lock())(report));
        self
    }

    async fn start(mut self) -> Result<Started, CallError> {
        let connection = self.call.connection();
        let canceller = self.call.options.canceller.clone();
        let (link, method) = (self.call.link, self.call.method.clone());
        let beginning = self.call.begin_as_task(self.ttl);
        match unless_cancelled(canceller, link, &method, beginning).await? {
            Begun::Done(output) => Ok(Started::Done(output)),
            Begun::Task(tool, task) => {
                let ticket = TaskTicket::new(&tool, &task);
                let connection = connection.expect("calls of tools know their connection");
                let late = self.call.options.late_progress.take();
                let progress = late.zip(self.listener).map(TaskProgress::new);
                Ok(Started::Task(connection.task(ticket).hearing(progress)))
            }
        }
    }
}

impl<'a> IntoFuture for StartTask<'a> {
    type Output = Result<Started, CallError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.start())
    }
}
