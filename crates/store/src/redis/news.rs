//! Receives messages of channels until the subscription is dropped.

use std::{
    future::{Future, pending, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use ::redis::{Client, RedisError, aio::PubSubStream};
use futures_core::Stream as _;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};
use turnbuckle_base::lock::Mutex;

use super::{Redis, commands::Commands, shard_news};

/// How long a channel may be silent before a ping checks the connection.
pub(super) const SILENCE: Duration = Duration::from_secs(15);

/// How long the answer to the ping may take.
pub(super) const COMMAND_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait before the channel is opened again. The pause doubles each time, up to the
/// longest one. If another process takes over for an unreachable one, it does so within seconds.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE_OF_MANY: Duration = Duration::from_millis(500);

/// An event of the channels.
pub(super) enum ChannelEvent<'a> {
    /// A published message.
    Message(&'a [u8]),
    /// All channels are open, for the first time or again. Earlier messages may have been missed.
    Open,
}

/// A subscription. Dropping it ends it.
#[derive(Debug)]
pub(super) struct News(Vec<JoinHandle<()>>);

/// The listener, and which of the connections are open.
pub(super) struct NewsListener {
    hear: Box<dyn Fn(ChannelEvent<'_>) + Send + Sync>,
    open: Mutex<Vec<bool>>,
}

impl News {
    /// Starts listening. It must be called within a runtime.
    pub(super) fn listen(
        redis: &Redis,
        channels: Vec<String>,
        hear: impl Fn(ChannelEvent<'_>) + Send + Sync + 'static,
    ) -> Self {
        // The channels of a cluster are on several nodes.
        let groups: Vec<_> = if redis.is_cluster() {
            channels.into_iter().map(|channel| vec![channel]).collect()
        } else {
            vec![channels]
        };
        let listener = Arc::new(NewsListener {
            hear: Box::new(hear),
            open: Mutex::new(vec![false; groups.len()]),
        });
        let listening = groups.into_iter().enumerate().map(|(place, channels)| {
            let (commands, listener) = (redis.commands.clone(), Arc::clone(&listener));
            tokio::spawn(keep_listening(commands, channels, listener, place))
        });
        Self(listening.collect())
    }
}

impl Drop for News {
    fn drop(&mut self) {
        for listening in &self.0 {
            listening.abort();
        }
    }
}

impl NewsListener {
    pub(super) fn hear(&self, message: &[u8]) {
        (self.hear)(ChannelEvent::Message(message));
    }

    pub(super) fn opened(&self, place: usize) {
        let are_open = {
            let mut open = self.open.lock();
            open[place] = true;
            open.iter().all(|is_open| *is_open)
        };
        if are_open {
            (self.hear)(ChannelEvent::Open);
        }
    }
}

async fn keep_listening(
    commands: Commands,
    channels: Vec<String>,
    listener: Arc<NewsListener>,
    place: usize,
) {
    let longest = match &commands {
        Commands::One { .. } => LONGEST_PAUSE,
        Commands::Sentinel(_) | Commands::Cluster(_) => LONGEST_PAUSE_OF_MANY,
    };
    let mut pause = FIRST_PAUSE;
    loop {
        let heard = match &commands {
            Commands::One { client, .. } => {
                hear_all(client, &channels, &listener, place, pending()).await
            }
            Commands::Sentinel(sentinel) => {
                let master = sentinel.master();
                let moved = async { drop(sentinel.master_after(&master.address).await) };
                let client = master.process.client();
                hear_all(client, &channels, &listener, place, moved).await
            }
            Commands::Cluster(cluster) => {
                shard_news::hear(cluster, &channels[0], &listener, place).await
            }
        };
        listener.open.lock()[place] = false;
        if heard.is_ok() {
            pause = FIRST_PAUSE;
        }
        sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

/// Receives messages until the connection breaks, or until the master has changed. Returns an error
/// if the connection was never open.
async fn hear_all(
    client: &Client,
    channels: &[String],
    listener: &NewsListener,
    place: usize,
    moved: impl Future<Output = ()>,
) -> Result<(), RedisError> {
    let mut moved = pin!(moved);
    let opening = async {
        let open = timeout(COMMAND_TIMEOUT, client.get_async_pubsub()).await;
        let (mut sink, messages) = open.map_err(late)??.split();
        timeout(COMMAND_TIMEOUT, sink.subscribe(channels))
            .await
            .map_err(late)??;
        Ok::<_, RedisError>((sink, messages))
    };
    // Do not wait for a process that hangs once another has taken its place.
    let mut opening = pin!(opening);
    let opened = poll_fn(|context| match moved.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => opening.as_mut().poll(context).map(Some),
    });
    let Some(opened) = opened.await else {
        return Ok(());
    };
    let (mut sink, mut messages) = opened?;
    listener.opened(place);
    loop {
        match timeout(SILENCE, next(&mut messages, moved.as_mut())).await {
            Ok(Some(message)) => listener.hear(message.get_payload_bytes()),
            Ok(None) => return Ok(()),
            Err(_) => {
                let answered = timeout(COMMAND_TIMEOUT, sink.ping::<::redis::Value>()).await;
                if !matches!(answered, Ok(Ok(_))) {
                    return Ok(());
                }
            }
        }
    }
}

/// The next message; `None` if the connection broke, or the master has changed.
async fn next(
    messages: &mut PubSubStream,
    mut moved: Pin<&mut impl Future<Output = ()>>,
) -> Option<::redis::Msg> {
    poll_fn(|context| match moved.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => Pin::new(&mut *messages).poll_next(context),
    })
    .await
}

pub(super) fn late(_: tokio::time::error::Elapsed) -> RedisError {
    RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut))
}
