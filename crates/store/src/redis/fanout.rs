//! Sends changes to all replicas over Redis.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc},
    task::JoinHandle,
    time::sleep,
};

use super::{
    Redis,
    news::{ChannelEvent, News},
};
use crate::{Change, ChangeCallback, Fanout, JoinGuard, LocalFanout, StoreError};

/// How many changes may wait to be sent. Further ones are replaced by [`Change::Everything`].
const MAX_WAITING: usize = 1024;

/// How long to wait before sending a change again that Redis did not accept. This does not block callers.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The name of the channel.
const CHANNEL: &str = "changes";

/// Sends changes to all replicas that use this Redis.
#[derive(Debug)]
pub struct RedisFanout {
    outbox: mpsc::Sender<Change>,
    /// Notified when a change was lost because the queue was full.
    lost: Arc<Notify>,
    local: LocalFanout,
    sending: JoinHandle<()>,
    _news: News,
}

impl RedisFanout {
    pub(super) fn new(redis: &Redis) -> Self {
        let (outbox, waiting) = mpsc::channel(MAX_WAITING);
        let local = LocalFanout::default();
        let lost = Arc::new(Notify::new());
        let own = redis.clone();
        let to_redis = move |change| {
            let redis = own.clone();
            async move { publish(&redis, &change).await }
        };
        let sending = tokio::spawn(send(to_redis, waiting, Arc::clone(&lost)));
        let listeners = local.clone();
        let channel = redis.name("channel", CHANNEL);
        let news = News::listen(redis, vec![channel], move |heard| {
            let change = match heard {
                // An unknown message of a newer replica may mean any change.
                ChannelEvent::Message(text) => serde_json::from_slice(text).ok(),
                ChannelEvent::Open => None,
            };
            listeners.publish(change.unwrap_or(Change::Everything));
        });
        Self {
            outbox,
            lost,
            local,
            sending,
            _news: news,
        }
    }
}

impl Drop for RedisFanout {
    fn drop(&mut self) {
        self.sending.abort();
    }
}

impl Fanout for RedisFanout {
    fn publish(&self, change: Change) {
        if self.outbox.try_send(change).is_err() {
            self.lost.notify_one();
        }
    }

    fn join(&self, callback: ChangeCallback) -> JoinGuard {
        self.local.join(callback)
    }
}

/// Sends published changes in order. A change that Redis does not accept is lost. As soon as Redis
/// accepts messages again, the loss is reported, because there may be no other change for a long
/// time.
async fn send<P, S>(publish: P, mut waiting: mpsc::Receiver<Change>, lost: Arc<Notify>)
where
    P: Fn(Change) -> S,
    S: Future<Output = Result<(), StoreError>>,
{
    loop {
        let next = {
            let mut is_lost = pin!(lost.notified());
            poll_fn(|context| match is_lost.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Some(Change::Everything)),
                Poll::Pending => waiting.poll_recv(context),
            })
            .await
        };
        let Some(change) = next else { return };
        let mut changes = vec![change];
        if changes[0] == Change::Everything {
            // It covers the changes that wait, which would only delay later ones. It does not cover
            // the end of a visit, which must not be reported unless it happened.
            for _ in 0..MAX_WAITING {
                let Ok(change) = waiting.try_recv() else {
                    break;
                };
                if matches!(change, Change::Visit(_)) {
                    changes.push(change);
                }
            }
        }
        for change in changes {
            if publish(change).await.is_err() {
                while publish(Change::Everything).await.is_err() {
                    sleep(AGAIN_AFTER).await;
                }
            }
        }
    }
}

async fn publish(redis: &Redis, change: &Change) -> Result<(), StoreError> {
    let text = serde_json::to_string(change).map_err(super::connection::unreadable)?;
    let channel = redis.name("channel", CHANNEL);
    redis.publish(&channel, text.as_bytes()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use super::*;

    #[tokio::test]
    async fn what_waits_is_not_sent_after_the_news_that_covers_it() {
        let (outbox, waiting) = mpsc::channel(3);
        let (sent, mut heard) = mpsc::unbounded_channel();
        let to_redis = move |change| {
            sent.send(change).expect("the test listens");
            ready(Ok(()))
        };
        let lost = Arc::new(Notify::new());
        let visit = Change::Visit("v".to_owned());
        for change in [Change::Tools, visit.clone(), Change::Tools] {
            outbox.try_send(change).unwrap();
        }
        lost.notify_one();
        let sending = tokio::spawn(send(to_redis, waiting, Arc::clone(&lost)));
        assert_eq!(heard.recv().await, Some(Change::Everything));
        assert_eq!(heard.recv().await, Some(visit));
        outbox.send(Change::Prompts).await.unwrap();
        assert_eq!(heard.recv().await, Some(Change::Prompts));
        drop(outbox);
        sending.await.unwrap();
    }

    #[tokio::test]
    async fn a_lost_change_is_made_good_though_no_other_change_comes() {
        let (_outbox, waiting) = mpsc::channel(1);
        let (sent, mut heard) = mpsc::unbounded_channel();
        let to_redis = move |change| {
            sent.send(change).expect("the test listens");
            ready(Ok(()))
        };
        let lost = Arc::new(Notify::new());
        let sending = tokio::spawn(send(to_redis, waiting, Arc::clone(&lost)));
        // The task is now waiting for a change.
        tokio::task::yield_now().await;
        lost.notify_one();
        assert_eq!(heard.recv().await, Some(Change::Everything));
        sending.abort();
    }
}
