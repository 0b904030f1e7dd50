//! Changes on their way to all replicas, by way of Redis.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::mpsc, task::JoinHandle, time::sleep};

use super::{
    Redis,
    news::{Heard, News},
};
use crate::{Change, ChangeCallback, Fanout, JoinGuard, LocalFanout, StoreError};

/// How many changes wait to be sent. What is more is made good by [`Change::Everything`].
const MAX_WAITING: usize = 1024;

/// How long to wait before a change that Redis did not take is sent again. It does not block
/// callers.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The channel.
const CHANNEL: &str = "changes";

/// Carries changes to all replicas that use this Redis.
#[derive(Debug)]
pub struct RedisFanout {
    outbox: mpsc::Sender<Change>,
    /// Some could not be sent.
    is_behind: Arc<AtomicBool>,
    local: LocalFanout,
    sending: JoinHandle<()>,
    _news: News,
}

impl RedisFanout {
    pub(super) fn new(redis: &Redis) -> Self {
        let (outbox, waiting) = mpsc::channel(MAX_WAITING);
        let local = LocalFanout::default();
        let is_behind = Arc::new(AtomicBool::new(false));
        let sending = tokio::spawn(send(redis.clone(), waiting, Arc::clone(&is_behind)));
        let listeners = local.clone();
        let channel = redis.name("channel", CHANNEL);
        let news = News::listen(redis, vec![channel], move |heard| {
            let change = match heard {
                // What a newer replica says and we do not know may be anything.
                Heard::Message(text) => serde_json::from_slice(text).ok(),
                Heard::Open => None,
            };
            listeners.publish(change.unwrap_or(Change::Everything));
        });
        Self {
            outbox,
            is_behind,
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
            self.is_behind.store(true, Ordering::Release);
        }
    }

    fn join(&self, callback: ChangeCallback) -> JoinGuard {
        self.local.join(callback)
    }
}

/// Sends what is published, in order. What Redis does not take is lost, and said to be as soon as it
/// takes something again: there may be no other change for long.
async fn send(redis: Redis, mut waiting: mpsc::Receiver<Change>, is_behind: Arc<AtomicBool>) {
    while let Some(change) = waiting.recv().await {
        if publish(&redis, &change).await.is_err() {
            is_behind.store(true, Ordering::Release);
        }
        while is_behind.swap(false, Ordering::AcqRel)
            && publish(&redis, &Change::Everything).await.is_err()
        {
            is_behind.store(true, Ordering::Release);
            sleep(AGAIN_AFTER).await;
        }
    }
}

async fn publish(redis: &Redis, change: &Change) -> Result<(), StoreError> {
    let text = serde_json::to_string(change).map_err(super::connection::unreadable)?;
    let channel = redis.name("channel", CHANNEL);
    redis.publish(&channel, text.as_bytes()).await?;
    Ok(())
}
