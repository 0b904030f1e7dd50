//! Notifications of a server: changed lists, updated resources, log messages.
//!
//! Each listener has its own bounded queue. A listener that does not keep up loses the oldest items and
//! is told how many; the connection never waits for it.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll, Waker},
};

use futures_core::Stream;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{
    LoggingLevel, LoggingMessageNotificationParams, Meta, envelope::Members, lenient,
    method::NotificationMethod,
};

/// How many notifications are queued for one listener. Log messages come in bursts; a thousand of them
/// take some hundred kilobytes.
const MAX_WAITING_NEWS: usize = 1024;

const UPDATED: &str = "notifications/resources/updated";

/// A notification of a server, from [`Connection::notifications`](crate::Connection::notifications).
/// For changes of lists and resources, [`Connection::listen`](crate::Connection::listen) is better,
/// because it also subscribes if the server's revision requires that.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerNotification {
    /// The list of tools has changed. List the tools again.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// A resource that was subscribed to, or a part of it, has changed. Read it again.
    #[non_exhaustive]
    ResourceUpdated {
        /// The URI of the resource.
        uri: Arc<str>,
        /// The whole params, unparsed: some servers also send a `title`.
        /// [`notification`](Self::notification) parses them.
        params: Arc<RawValue>,
    },
    /// The user is done at a URL. Only servers of 2025-11-25 report it, and only for visits that they
    /// requested.
    Visited {
        /// The `elicitationId` with which the visit was requested.
        id: Arc<str>,
    },
    /// A log message. [`Connection::logs`](crate::Connection::logs) has only these.
    Log(Arc<LoggingMessageNotificationParams>),
    /// Any other notification, unparsed, such as one of an extension. See
    /// [`notification`](Self::notification).
    Other {
        /// The method of the notification.
        method: Arc<str>,
        /// The params; an empty object if the notification had none.
        params: Arc<RawValue>,
    },
    /// This many notifications were lost, because more than 1024 were waiting for this listener.
    Missed(u64),
}

impl ServerNotification {
    /// Parses the params of an updated resource, or of a notification of an extension. Returns `None`
    /// if this is another notification, or if its params cannot be parsed.
    ///
    /// ```
    /// use turnbuckle_client::{ServerNotification, protocol::method::ResourcesUpdated};
    ///
    /// fn title(notification: &ServerNotification) -> Option<String> {
    ///     let updated = notification.notification::<ResourcesUpdated>()?;
    ///     Some(updated.other.get("title")?.as_str()?.to_owned())
    /// }
    /// ```
    pub fn notification<N: NotificationMethod>(&self) -> Option<N::Params> {
        let (method, params) = match self {
            Self::Other { method, params } => (&**method, params),
            Self::ResourceUpdated { params, .. } => (UPDATED, params),
            _ => return None,
        };
        if method != N::NAME {
            return None;
        }
        serde_json::from_str(params.get()).ok()
    }

    pub(crate) fn read(method: &str, params: &Members<'_>) -> Self {
        match method {
            "notifications/tools/list_changed" => return Self::ToolsChanged,
            "notifications/prompts/list_changed" => return Self::PromptsChanged,
            "notifications/resources/list_changed" => return Self::ResourcesChanged,
            UPDATED => {
                if let Some(uri) = updated_uri(params) {
                    return Self::ResourceUpdated {
                        uri: uri.into(),
                        params: params.to_raw().into(),
                    };
                }
            }
            "notifications/message" => {
                if let Some(message) = log_message(params) {
                    return Self::Log(Arc::new(message));
                }
            }
            _ => {}
        }
        Self::Other {
            method: method.into(),
            params: params.to_raw().into(),
        }
    }
}

/// The URI of an updated resource, even if other members are invalid.
fn updated_uri(params: &Members<'_>) -> Option<String> {
    serde_json::from_str(params.get("uri")?.get()).ok()
}

/// A log message whose members may be invalid.
#[derive(Deserialize)]
struct OddLog {
    #[serde(default)]
    level: Value,
    logger: Option<String>,
    data: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

/// Reads a log message without its invalid members. An unknown level becomes `info`, and data that
/// cannot be parsed is replaced by the beginning of its text.
fn log_message(params: &Members<'_>) -> Option<LoggingMessageNotificationParams> {
    if let Ok(message) = params.parse() {
        return Some(message);
    }
    let (odd, warnings) = lenient::mend::<OddLog>("notifications/message", params.to_raw().get())?;
    let level = LoggingLevel::deserialize(odd.level).unwrap_or(LoggingLevel::Info);
    let data = odd.data.or_else(|| {
        let left_out = warnings.into_iter().find(|it| it.pointer == "/data");
        left_out.map(|it| it.value)
    });
    let mut message = LoggingMessageNotificationParams::new(level, data.unwrap_or_default());
    message.logger = odd.logger;
    message.meta = odd.meta;
    Some(message)
}

/// A stream of the notifications of a server, beginning when it was made by
/// [`Connection::notifications`](crate::Connection::notifications). It ends with the connection.
///
/// Dropping the stream has no other effect.
#[derive(Debug)]
pub struct NotificationStream {
    queue: Arc<Mutex<NewsQueue>>,
}

#[derive(Debug, Default)]
struct NewsQueue {
    interest: Interest,
    waiting: VecDeque<ServerNotification>,
    missed: u64,
    is_closed: bool,
    waker: Option<Waker>,
}

/// The notifications that a listener wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Interest {
    #[default]
    Everything,
    Logs,
}

/// All listeners of a connection.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    queues: Mutex<NewsQueues>,
}

#[derive(Debug, Default)]
struct NewsQueues {
    queues: Vec<Weak<Mutex<NewsQueue>>>,
    is_closed: bool,
}

impl Feed {
    /// Opens a stream of the notifications that are published from now on.
    pub(crate) fn listen(&self, interest: Interest) -> NotificationStream {
        let mut listening = self.queues.lock();
        let is_closed = listening.is_closed;
        let queue = Arc::new(Mutex::new(NewsQueue {
            interest,
            is_closed,
            ..NewsQueue::default()
        }));
        listening
            .queues
            .retain(|listener| listener.strong_count() > 0);
        listening.queues.push(Arc::downgrade(&queue));
        NotificationStream { queue }
    }

    /// Passes a notification to every listener.
    pub(crate) fn publish(&self, news: &ServerNotification) {
        let is_log = matches!(news, ServerNotification::Log(_));
        self.each(|queue| {
            if queue.interest == Interest::Logs && !is_log {
                return;
            }
            if queue.waiting.len() == MAX_WAITING_NEWS {
                queue.waiting.pop_front();
                queue.missed += 1;
            }
            queue.waiting.push_back(news.clone());
        });
    }

    /// Ends every stream.
    pub(crate) fn close(&self) {
        self.queues.lock().is_closed = true;
        self.each(|queue| queue.is_closed = true);
    }

    fn each(&self, change: impl Fn(&mut NewsQueue)) {
        let mut wakers = Vec::new();
        self.queues.lock().queues.retain(|listener| {
            let Some(queue) = listener.upgrade() else {
                return false;
            };
            let mut queue = queue.lock();
            change(&mut queue);
            wakers.extend(queue.waker.take());
            true
        });
        for waker in wakers {
            waker.wake();
        }
    }
}

impl NotificationStream {
    /// Returns the next notification; `None` when the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<ServerNotification> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    pub(crate) fn poll(&mut self, context: &Context<'_>) -> Poll<Option<ServerNotification>> {
        let mut queue = self.queue.lock();
        // The lost notifications are older than those in the queue.
        if queue.missed > 0 {
            return Poll::Ready(Some(ServerNotification::Missed(std::mem::take(
                &mut queue.missed,
            ))));
        }
        if let Some(news) = queue.waiting.pop_front() {
            return Poll::Ready(Some(news));
        }
        if queue.is_closed {
            return Poll::Ready(None);
        }
        match &mut queue.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl Stream for NotificationStream {
    type Item = ServerNotification;

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<ServerNotification>> {
        self.get_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waker() -> Context<'static> {
        Context::from_waker(Waker::noop())
    }

    #[test]
    fn a_slow_listener_is_told_what_it_missed() {
        let feed = Feed::default();
        let mut stream = feed.listen(Interest::Everything);
        for _ in 0..MAX_WAITING_NEWS + 3 {
            feed.publish(&ServerNotification::ToolsChanged);
        }
        let Poll::Ready(Some(ServerNotification::Missed(3))) = stream.poll(&waker()) else {
            panic!("3 are lost")
        };
        for _ in 0..MAX_WAITING_NEWS {
            assert!(matches!(
                stream.poll(&waker()),
                Poll::Ready(Some(ServerNotification::ToolsChanged))
            ));
        }
        assert!(stream.poll(&waker()).is_pending());
        feed.close();
        assert!(matches!(stream.poll(&waker()), Poll::Ready(None)));
        let mut late = feed.listen(Interest::Everything);
        assert!(matches!(late.poll(&waker()), Poll::Ready(None)));
    }

    #[test]
    fn a_dropped_listener_costs_nothing_more() {
        let feed = Feed::default();
        drop(feed.listen(Interest::Everything));
        feed.publish(&ServerNotification::PromptsChanged);
        assert!(feed.queues.lock().queues.is_empty());
    }
}
