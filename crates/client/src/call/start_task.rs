//! Starting a call as a task.

use std::{future::IntoFuture, time::Duration};

use futures_core::future::BoxFuture;

use super::{Call, TaskHandle, begun::Begun};
use crate::{error::CallError, task::TaskTicket, tool::ToolOutput};

/// What came of a call that may become a task.
#[derive(Debug)]
pub enum Started {
    /// The server answered at once: it has no tasks, or the tool was quick.
    Done(ToolOutput),
    /// It goes on as a task.
    Task(TaskHandle),
}

impl Started {
    /// The result, now or when the task has it.
    ///
    /// # Errors
    /// Those of [`TaskHandle::result`].
    pub async fn result(self) -> Result<ToolOutput, CallError> {
        match self {
            Self::Done(output) => Ok(output),
            Self::Task(mut task) => task.result().await,
        }
    }
}

/// A call that is to become a task, sent when it is awaited.
#[must_use = "nothing is sent before it is awaited"]
pub struct StartTask<'a> {
    call: Call<'a, ToolOutput>,
    ttl: Option<Duration>,
}

impl<'a> Call<'a, ToolOutput> {
    /// Gives the task instead of the result, if the call becomes one.
    ///
    /// A session asks for a task where the server has them; a modern server decides by itself. A
    /// server without tasks answers as it always does.
    ///
    /// ```no_run
    /// use turnbuckle_client::Started;
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// match server.call("build", ()).task().await? {
    ///     Started::Done(output) => println!("{}", output.text()),
    ///     Started::Task(mut task) => {
    ///         // `task.ticket()` is all that another process needs to come back.
    ///         println!("{}", task.result().await?.text());
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn task(self) -> StartTask<'a> {
        StartTask {
            call: self,
            ttl: None,
        }
    }
}

impl StartTask<'_> {
    /// Asks that the task be kept for this long from its beginning. Only sessions can ask; the
    /// server has the last word.
    pub fn keep(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    async fn start(self) -> Result<Started, CallError> {
        let connection = self.call.connection();
        match self.call.begin_as_task(self.ttl).await? {
            Begun::Done(output) => Ok(Started::Done(output)),
            Begun::Task(tool, task) => {
                let ticket = TaskTicket::new(&tool, &task);
                let connection = connection.expect("calls of tools know their connection");
                Ok(Started::Task(connection.task(ticket)))
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
