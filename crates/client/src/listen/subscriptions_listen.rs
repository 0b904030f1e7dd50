//! `subscriptions/listen`: keeps the request open, and opens it again when it ends.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio::{sync::oneshot, time::Instant};
use turnbuckle_protocol::{SubscriptionFilter, SubscriptionsListenRequestParams};
use turnbuckle_session::requests::{Deadline, Overdue};

use super::backoff::Backoff;
use crate::{
    error::CallError,
    future::{First, race},
    link::{Link, OnDrop, Outgoing},
    subscription::{ChangeQueue, SubscriptionState},
};

pub(super) const METHOD: &str = "subscriptions/listen";

/// A subscription that lasted this long counts as successful even if no change was reported: proxies
/// close idle streams, which is not a failure of the server.
const QUIET_SUBSCRIPTION: Duration = Duration::from_secs(10);

/// Receives whether the first subscription was opened.
pub(super) type FirstOutcome = oneshot::Sender<Result<(), CallError>>;

/// Keeps a subscription open while it is polled, or until another attempt would be useless.
pub(super) async fn keep(
    link: Arc<Link>,
    queue: Arc<ChangeQueue>,
    wanted: SubscriptionFilter,
    begun: FirstOutcome,
) {
    let mut subscription = Subscription {
        link: &link,
        queue: &queue,
        params: SubscriptionsListenRequestParams::new(wanted),
        begun: Some(begun),
    };
    let mut backoff = Backoff::default();
    loop {
        let opened_at = Instant::now();
        let error = subscription.listen_once().await;
        if let Some(begun) = subscription.begun.take() {
            // The caller gets the error, and may try again.
            let _ = begun.send(Err(error));
            return;
        }
        if is_final(&error) {
            return queue.fail(error);
        }
        tracing::debug!(server = &**link.server(), %error, "a subscription ended");
        let was_told = queue.subscription_state() == SubscriptionState::Told;
        if was_told || opened_at.elapsed() >= QUIET_SUBSCRIPTION {
            backoff.reset();
        }
        match backoff.next() {
            Some(wait) => tokio::time::sleep(wait).await,
            None => return queue.fail(error),
        }
    }
}

/// The data to open a subscription repeatedly.
struct Subscription<'a> {
    link: &'a Link,
    queue: &'a ChangeQueue,
    params: SubscriptionsListenRequestParams,
    /// Set until the first subscription is open.
    begun: Option<FirstOutcome>,
}

impl Subscription<'_> {
    /// Opens a subscription and waits until it ends. It always returns an error, because even if the
    /// server closes the subscription regularly, another must be opened.
    async fn listen_once(&mut self) -> CallError {
        let link = self.link;
        let request = link.prepare(
            &Outgoing::plain(METHOD),
            Deadline::never(),
            OnDrop::Cancel,
            &self.params,
        );
        let request = match request {
            Ok(request) => request,
            Err(error) => return error,
        };
        let (id, asked) = (request.id().clone(), &self.params.notifications);
        match self.begun {
            Some(_) => self.queue.begin(id, asked),
            None => self.queue.begin_again(id, asked),
        }
        let mut answer = pin!(request.answer(None));
        let timeout = link.profile().settings.deadline;
        let acknowledged = tokio::time::timeout(
            timeout,
            self.queue.until(|state| state != SubscriptionState::Asked),
        );
        match race(answer.as_mut(), acknowledged).await {
            First::Left(Err(error)) => {
                // The acknowledgement may have come together with the end.
                if self.queue.subscription_state() != SubscriptionState::Asked {
                    self.opened();
                }
                return error;
            }
            First::Left(Ok(_)) if self.queue.subscription_state() == SubscriptionState::Asked => {
                return self.lost("the subscription ended before it was acknowledged");
            }
            First::Left(Ok(_)) | First::Right(Ok(SubscriptionState::Dismissed)) => {
                self.opened();
                return self.lost("the server ended the subscription");
            }
            First::Right(Ok(_)) => self.opened(),
            First::Right(Err(_)) => {
                let overdue = Overdue::Silent(timeout);
                return CallError::overdue(link.server(), METHOD, overdue);
            }
        }
        let dismissed = self
            .queue
            .until(|state| state == SubscriptionState::Dismissed);
        match race(answer, dismissed).await {
            First::Left(Err(error)) => error,
            First::Left(Ok(_)) | First::Right(_) => self.lost("the server ended the subscription"),
        }
    }

    /// Records that the subscription was acknowledged.
    fn opened(&mut self) {
        if let Some(begun) = self.begun.take() {
            let _ = begun.send(Ok(()));
        }
        // Also called for a subscription that the server ended regularly, without an acknowledgement.
        self.queue.reopened(|| self.link.cache.forget_unheard());
    }

    fn lost(&self, reason: &str) -> CallError {
        CallError::lost(self.link.server(), METHOD, reason)
    }
}

/// Whether another attempt is useless.
pub(super) fn is_final(error: &CallError) -> bool {
    matches!(error, CallError::Closed { .. }) || !error.is_passing()
}
