//! The status of a task, as a stream.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use turnbuckle_protocol::Task;

use super::{TaskTicket, poll};
use crate::{connection::Connection, error::CallError};

/// The status of a task, now and whenever it changes. It is polled at the interval that the server asks
/// for. Made by [`TaskHandle::statuses`](crate::TaskHandle::statuses).
///
/// The stream ends after the final status of the task, or after an error.
///
/// # Cancel safety
/// Dropping the stream does not affect the task.
#[must_use = "no status is requested before it is polled"]
pub struct TaskStatuses {
    next: Option<BoxFuture<'static, (StatusWatch, Result<Task, CallError>)>>,
}

struct StatusWatch {
    connection: Connection,
    ticket: TaskTicket,
    last: Option<Task>,
}

impl TaskStatuses {
    pub(crate) fn new(connection: Connection, ticket: TaskTicket) -> Self {
        let watch = StatusWatch {
            connection,
            ticket,
            last: None,
        };
        Self {
            next: Some(Box::pin(watch.next())),
        }
    }

    /// Returns the next status; `None` when the task has ended, or after an error.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Task, CallError>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl StatusWatch {
    /// Polls the task until its status has changed.
    async fn next(mut self) -> (Self, Result<Task, CallError>) {
        loop {
            if self.last.is_some() {
                tokio::time::sleep(self.ticket.poll_interval()).await;
            }
            let look = poll::look_patiently(&self.connection, &mut self.ticket).await;
            match look {
                Err(error) => return (self, Err(error)),
                Ok(look) if self.is_news(&look.task) => {
                    self.last = Some(look.task.clone());
                    return (self, Ok(look.task));
                }
                Ok(_) => {}
            }
        }
    }

    fn is_news(&self, task: &Task) -> bool {
        self.last.as_ref().is_none_or(|last| {
            last.status != task.status || last.status_message != task.status_message
        })
    }
}

impl Stream for TaskStatuses {
    type Item = Result<Task, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(next) = &mut self.next else {
            return Poll::Ready(None);
        };
        let (watch, item) = ready!(next.as_mut().poll(context));
        let is_over = item.as_ref().map_or(true, |task| task.status.is_terminal());
        self.next = (!is_over).then(|| -> BoxFuture<'static, _> { Box::pin(watch.next()) });
        Poll::Ready(Some(item))
    }
}

impl fmt::Debug for TaskStatuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskStatuses").finish_non_exhaustive()
    }
}
