//! Changes of tasks that a relay follows, for a `subscriptions/listen` that names them.

use std::task::{Context, Poll};

use futures_core::stream::BoxStream;
use turnbuckle_protocol::{
    Id,
    envelope::{self, Edit, RawText},
};

use super::TaskNews;

/// The task notifications of a relay.
pub(crate) struct RelayedTasks {
    /// `None` after the stream has ended.
    news: Option<BoxStream<'static, RawText>>,
    subscription: Id,
}

impl RelayedTasks {
    pub(crate) fn new(news: BoxStream<'static, RawText>, subscription: Id) -> Self {
        Self {
            news: Some(news),
            subscription,
        }
    }

    /// Makes the notification for the subscription; `None` if the params are not an object.
    fn message(&self, params: &RawText) -> Option<Vec<u8>> {
        let subscription = serde_json::to_string(&self.subscription).ok()?;
        let path = ["_meta", "io.modelcontextprotocol/subscriptionId"];
        let params = Edit::new(params.raw()).set(&path, subscription);
        let params = params.finish().ok()?;
        let mut message = Vec::new();
        envelope::write_raw_notification(&mut message, "notifications/tasks", Some(params.raw()));
        Some(message)
    }
}

impl TaskNews for RelayedTasks {
    fn poll(&mut self, context: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) {
        while let Some(news) = &mut self.news {
            match news.as_mut().poll_next(context) {
                Poll::Ready(Some(params)) => {
                    if let Some(message) = self.message(&params) {
                        take(&message);
                    }
                }
                Poll::Ready(None) => self.news = None,
                Poll::Pending => return,
            }
        }
    }
}
