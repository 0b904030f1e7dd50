//! The log messages of a server.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use turnbuckle_protocol::LoggingMessageNotificationParams;

use super::{Feed, Interest, NotificationStream, ServerNotification};

/// An item of a [`LogStream`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Logged {
    /// A log message of the server: its level, its logger and its data.
    Message(Arc<LoggingMessageNotificationParams>),
    /// This many messages were lost, because more than 1024 were waiting to be read.
    Missed(u64),
}

/// A stream of the log messages of a server. Made by [`Connection::logs`](crate::Connection::logs).
/// It ends with the connection.
///
/// Dropping it does not change what the server sends.
#[derive(Debug)]
pub struct LogStream(NotificationStream);

impl LogStream {
    pub(crate) fn new(feed: &Feed) -> Self {
        Self(feed.listen(Interest::Logs))
    }

    /// Returns the next item; `None` when the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Logged> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Option<Logged>> {
        loop {
            return Poll::Ready(match ready!(self.0.poll(context)) {
                Some(ServerNotification::Log(message)) => Some(Logged::Message(message)),
                Some(ServerNotification::Missed(count)) => Some(Logged::Missed(count)),
                // This stream contains no other notifications.
                Some(_) => continue,
                None => None,
            });
        }
    }
}

impl Stream for LogStream {
    type Item = Logged;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Logged>> {
        self.get_mut().poll(context)
    }
}
