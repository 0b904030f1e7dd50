//! One `subscriptions/listen` request: its acknowledgement, then notifications until it ends.

use std::{
    any::Any,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::future::BoxFuture;
use serde::Serialize;
use turnbuckle_protocol::{
    CancelledNotificationParams, Complete, Id, SubscriptionFilter, envelope,
};
use turnbuckle_transport::Outbox;

use super::sink::{Response, Sink as _, Wrote};
use crate::{
    client::{CancelFlag, Peer},
    quota::CallerKey,
    subscription::{Hub, Listener, NoticeOf, TooMany},
};

/// The memory for watching a task: its key, and a future that waits for its next version.
const TASK_BYTES: usize = 1024;

/// An open `subscriptions/listen` request. Dropping it ends the subscription without a message.
pub(crate) struct Subscription {
    listener: Listener,
    id: Id,
    /// The acknowledgement, until it has been sent.
    acknowledgement: Option<Vec<u8>>,
    /// The tasks to which it has subscribed.
    tasks: Option<Box<dyn TaskNews>>,
    /// The value of a relay that is dropped when the subscription ends.
    guard: Option<Box<dyn Any + Send>>,
    /// Completes when the server or the client ends the subscription.
    ended: BoxFuture<'static, ()>,
    #[cfg(feature = "http")]
    is_over: bool,
}

impl Subscription {
    /// Subscribes to everything that the filter names. `ended` is set to end the subscription.
    pub(crate) fn new(
        hub: &Arc<Hub>,
        id: Id,
        accepted: SubscriptionFilter,
        caller: CallerKey,
        notice_of: Option<NoticeOf>,
        ended: CancelFlag,
    ) -> Result<Self, TooMany> {
        let mut listener = Listener::of_request(hub, &id, caller)?;
        listener.decide_notices(notice_of);
        listener.add_all(&accepted)?;
        listener.pay(TASK_BYTES * accepted.tasks().len())?;
        let acknowledged = Tagged::new(
            Acknowledged {
                notifications: accepted,
            },
            &id,
        );
        let mut acknowledgement = Vec::new();
        let method = "notifications/subscriptions/acknowledged";
        envelope::write_notification(&mut acknowledgement, method, &acknowledged)
            .expect("an acknowledgement is plain JSON");
        Ok(Self {
            listener,
            id,
            acknowledgement: Some(acknowledgement),
            tasks: None,
            guard: None,
            ended: Box::pin(async move { ended.wait().await }),
            #[cfg(feature = "http")]
            is_over: false,
        })
    }

    /// Also subscribes to tasks.
    pub(crate) fn with_tasks(mut self, tasks: Option<Box<dyn TaskNews>>) -> Self {
        self.tasks = tasks;
        self
    }

    /// Sets a value that is dropped when the subscription ends.
    pub(crate) fn with_guard(mut self, guard: Option<Box<dyn Any + Send>>) -> Self {
        self.guard = guard;
        self
    }

    /// Takes the messages that are due, for a stream that carries nothing else: first the
    /// acknowledgement, at last the result. Returns `None` after that.
    #[cfg(feature = "http")]
    pub(crate) fn poll_messages(
        &mut self,
        context: &mut Context<'_>,
        mut take: impl FnMut(&[u8]),
    ) -> Poll<Option<()>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let mut count = 0;
        // subscriptions: the acknowledgement is the first message of the subscription.
        if let Some(acknowledgement) = self.acknowledgement.take() {
            take(&acknowledgement);
            self.listener.release();
            count += 1;
        }
        self.listener.take_news(context, |message| {
            take(message);
            count += 1;
        });
        if let Some(tasks) = &mut self.tasks {
            tasks.poll(context, &mut |message| {
                take(message);
                count += 1;
            });
        }
        if self.ended.as_mut().poll(context).is_ready() {
            take(&goodbye(&self.id).into_message());
            self.is_over = true;
            count += 1;
        }
        if count > 0 {
            Poll::Ready(Some(()))
        } else {
            Poll::Pending
        }
    }

    /// Sends the messages on a connection that also carries others, until the subscription ends.
    pub(crate) fn on_lines(self, peer: &Arc<Peer>) -> BoxFuture<'static, Response> {
        let peer = Arc::clone(peer);
        self.listener.attach(peer.outbox());
        Box::pin(async move {
            let Self {
                listener,
                id,
                acknowledgement,
                tasks,
                ended,
                guard,
                ..
            } = self;
            // Nothing to do if the client has disconnected.
            let acknowledgement = acknowledgement.unwrap_or_default();
            let _ = peer.outbox().send(&acknowledgement).await;
            listener.release();
            // Open until the client cancels or the connection ends, which drops this future, or
            // until the server ends the subscription.
            match tasks {
                None => ended.await,
                Some(tasks) => tell_until(tasks, ended, peer.outbox()).await,
            }
            drop(listener);
            drop(guard);
            // cancellation: a server that ends a subscription MUST send this notification;
            // subscriptions: and SHOULD answer the request.
            let params = CancelledNotificationParams::new(id.clone());
            peer.notify("notifications/cancelled", &params).await;
            goodbye(&id)
        })
    }
}

/// The task notifications of a listen request.
pub(crate) trait TaskNews: Send {
    /// Takes the notifications that are due. The waker is woken when there are more.
    fn poll(&mut self, context: &mut Context<'_>, take: &mut dyn FnMut(&[u8]));
}

/// Sends notifications about tasks on a connection that also carries others, until `ended`.
pub(crate) async fn tell_until(
    mut tasks: Box<dyn TaskNews>,
    mut ended: BoxFuture<'static, ()>,
    outbox: &Outbox,
) {
    loop {
        let mut news: Vec<Vec<u8>> = Vec::new();
        let is_over = poll_fn(|context| {
            if ended.as_mut().poll(context).is_ready() {
                return Poll::Ready(true);
            }
            tasks.poll(context, &mut |message| news.push(message.to_vec()));
            if news.is_empty() {
                Poll::Pending
            } else {
                Poll::Ready(false)
            }
        });
        if is_over.await {
            return;
        }
        for message in &news {
            // Nothing to do if the client has disconnected.
            let _ = outbox.send(message).await;
        }
    }
}

/// subscriptions: a server that ends the stream answers with the empty result.
fn goodbye(id: &Id) -> Response {
    let result = Complete(Tagged::new((), id));
    let mut response = Response::default();
    response.put(|out| {
        envelope::write_result(out, &id.as_ref(), |out| serde_json::to_writer(out, &result))
            .expect("a SubscriptionsListenResult is plain JSON");
        Wrote::Result
    });
    response
}

/// The first message of a subscription, without its `_meta`.
#[derive(Serialize)]
struct Acknowledged {
    notifications: SubscriptionFilter,
}

/// A message that belongs to a `subscriptions/listen` request.
#[derive(Serialize)]
pub(crate) struct Tagged<'a, P> {
    #[serde(flatten)]
    params: P,
    #[serde(rename = "_meta")]
    meta: Tag<'a>,
}

/// The id of a `subscriptions/listen` request. It is a type of its own because `Meta` cannot
/// contain ids beyond 64 bits.
#[derive(Serialize)]
struct Tag<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: &'a Id,
}

impl<'a, P> Tagged<'a, P> {
    pub(crate) fn new(params: P, subscription: &'a Id) -> Self {
        Self {
            params,
            meta: Tag { subscription },
        }
    }
}
