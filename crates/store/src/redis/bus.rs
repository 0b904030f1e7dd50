//! A bus over Redis: messages are published to a channel of the recipient.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    runtime::Handle,
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};
use turnbuckle_base::lock::Mutex;

use super::{
    Redis,
    news::{ChannelEvent, News},
    nodes::{BEAT, Nodes},
};
use crate::{
    BoxFuture, JoinGuard, StoreError,
    bus::{Bus, Delivery, Inbox, NodeId, Recipient},
};

/// The longest message that is published, in bytes. Redis buffers published messages for each slow
/// connection, and closes connections for which it buffers too much.
const MAX_PUBLISHED: usize = 32 * 1024;

/// How long Redis keeps a message that is too long to be published.
const KEPT: Duration = Duration::from_secs(30);

/// How long reporting that a node has left may take.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

/// The length of the random name of a kept message, in bytes.
const NAME_BYTES: usize = 16;

/// The first byte of a published message: whether the rest is the message itself, or the name of its key.
const WHOLE: u8 = 0;
const KEY: u8 = 1;

/// A bus over Redis. Each node has a channel, and one channel is for all nodes.
#[derive(Debug)]
pub struct RedisBus {
    redis: Redis,
    nodes: Arc<Nodes>,
    /// Whether the channels of each node that joined here are open.
    open: Mutex<HashMap<NodeId, watch::Receiver<bool>>>,
}

impl RedisBus {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            nodes: Arc::new(Nodes::new()),
            open: Mutex::default(),
        }
    }

    async fn publish(&self, to: Recipient, message: Vec<u8>) -> Result<Delivery, StoreError> {
        let mut payload = Vec::with_capacity(1 + message.len().min(MAX_PUBLISHED));
        if message.len() <= MAX_PUBLISHED {
            payload.push(WHOLE);
            payload.extend_from_slice(&message);
        } else {
            let name = self.keep(&message).await?;
            payload.push(KEY);
            payload.extend_from_slice(name.as_bytes());
        }
        let channel = channel(&self.redis, to);
        let heard = self.redis.publish(&channel, &payload).await?;
        if heard == 0
            && let Some((&KEY, name)) = payload.split_first()
        {
            // No replica knows its name yet, and the message may be sent again many times.
            let mut remove = ::redis::cmd("UNLINK");
            remove.arg(name);
            let _ = self.redis.repeatable::<()>(&remove).await;
        }
        Ok(match to {
            Recipient::Node(node) if heard == 0 => {
                if self.nodes.may_be_there(node) {
                    Delivery::Deaf
                } else {
                    Delivery::NoSuchNode
                }
            }
            _ => Delivery::Sent,
        })
    }

    /// Stores a message in Redis, and returns its name.
    async fn keep(&self, message: &[u8]) -> Result<String, StoreError> {
        let mut bytes = [0; NAME_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| StoreError::new("redis", error.to_string()))?;
        let name = format!("{:032x}", u128::from_be_bytes(bytes));
        let name = self.redis.name("message", &name);
        let mut set = ::redis::cmd("SET");
        set.arg(&name).arg(message).arg("EX").arg(KEPT.as_secs());
        self.redis.repeatable::<()>(&set).await?;
        Ok(name)
    }
}

fn channel(redis: &Redis, to: Recipient) -> String {
    match to {
        Recipient::Node(node) => redis.name("channel", &node.to_string()),
        Recipient::All => redis.name("channel", "all"),
    }
}

/// Passes a published message to the inbox, immediately or after reading it from Redis.
fn take(redis: &Redis, runtime: &Handle, inbox: &Inbox, payload: &[u8]) {
    match payload.split_first() {
        Some((&WHOLE, message)) => inbox(message.to_vec()),
        Some((&KEY, name)) => {
            let (redis, inbox, name) = (redis.clone(), Arc::clone(inbox), name.to_vec());
            // The task ends when Redis answers or the request fails.
            runtime.spawn(async move {
                let mut get = ::redis::cmd("GET");
                get.arg(name);
                // If the key is gone, the message was lost, as any message may be.
                if let Ok(Some(message)) = redis.repeatable::<Option<Vec<u8>>>(&get).await {
                    inbox(message);
                }
            });
        }
        // A newer replica may send messages that this version does not know.
        _ => {}
    }
}

/// A node that joined.
struct Member {
    beating: JoinHandle<()>,
    _news: News,
}

impl Drop for Member {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

/// Reports that the node is present, until it is aborted.
async fn beat(redis: Redis, nodes: Arc<Nodes>, node: NodeId) {
    loop {
        let _ = nodes.say(&redis, node).await;
        sleep(BEAT).await;
    }
}

impl Bus for RedisBus {
    fn join(&self, node: NodeId, inbox: Inbox) -> JoinGuard {
        let runtime = Handle::current();
        let (opened, open) = watch::channel(false);
        let channels = vec![
            channel(&self.redis, Recipient::Node(node)),
            channel(&self.redis, Recipient::All),
        ];
        let redis = self.redis.clone();
        let news = News::listen(&self.redis, channels, move |heard| match heard {
            ChannelEvent::Message(payload) => take(&redis, &runtime, &inbox, payload),
            ChannelEvent::Open => {
                opened.send_replace(true);
            }
        });
        self.open.lock().insert(node, open);
        let beating = tokio::spawn(beat(self.redis.clone(), Arc::clone(&self.nodes), node));
        JoinGuard::new(Member {
            beating,
            _news: news,
        })
    }

    fn ready(&self, node: NodeId) -> BoxFuture<'_, ()> {
        let open = self.open.lock().get(&node).cloned();
        Box::pin(async move {
            if let Some(mut open) = open {
                // This fails if the node has left; then no message is expected.
                let _ = open.wait_for(|is_open| *is_open).await;
            }
        })
    }

    fn left(&self, node: NodeId) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // If this does not arrive, the lease expires by itself.
            let _ = timeout(LEAVE_WITHIN, Nodes::leave(&self.redis, node)).await;
        })
    }

    fn send(&self, to: Recipient, message: Vec<u8>) -> BoxFuture<'_, Result<Delivery, StoreError>> {
        Box::pin(self.publish(to, message))
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.nodes.there()
    }

    fn knows_all(&self) -> bool {
        self.nodes.knows_all()
    }

    fn is_gone(&self, node: NodeId) -> bool {
        self.nodes.is_gone(node)
    }
}
