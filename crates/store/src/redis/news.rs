//! Messages of channels, received until the subscription is dropped.

use std::{future::poll_fn, pin::Pin, time::Duration};

use ::redis::{Client, RedisError, aio::PubSubStream};
use futures_core::Stream as _;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

/// How long the channel may be silent before the other end is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(15);

/// How long it may take to answer that.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait before the channel is opened again: doubled each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What is heard on the channels.
pub(super) enum Heard<'a> {
    /// Something that was published.
    Message(&'a [u8]),
    /// The channels are open, for the first time or again: what was published before was missed.
    Open,
}

/// A subscription, until it is dropped.
#[derive(Debug)]
pub(super) struct News(JoinHandle<()>);

impl News {
    /// Must be called inside a runtime.
    pub(super) fn listen(
        client: Client,
        channels: Vec<String>,
        hear: impl Fn(Heard<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self(tokio::spawn(async move {
            let mut pause = FIRST_PAUSE;
            loop {
                if let Ok(()) = hear_all(&client, &channels, &hear).await {
                    pause = FIRST_PAUSE;
                }
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }))
    }
}

impl Drop for News {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Hears until the connection breaks; an error if it was never open.
async fn hear_all(
    client: &Client,
    channels: &[String],
    hear: &(impl Fn(Heard<'_>) + Send + Sync),
) -> Result<(), RedisError> {
    let open = timeout(PATIENCE, client.get_async_pubsub()).await;
    let (mut sink, mut messages) = open.map_err(late)??.split();
    timeout(PATIENCE, sink.subscribe(channels))
        .await
        .map_err(late)??;
    hear(Heard::Open);
    loop {
        match timeout(SILENCE, next(&mut messages)).await {
            Ok(Some(message)) => hear(Heard::Message(message.get_payload_bytes())),
            Ok(None) => return Ok(()),
            Err(_) => {
                let answered = timeout(PATIENCE, sink.ping::<::redis::Value>()).await;
                if !matches!(answered, Ok(Ok(_))) {
                    return Ok(());
                }
            }
        }
    }
}

async fn next(messages: &mut PubSubStream) -> Option<::redis::Msg> {
    poll_fn(|context| Pin::new(&mut *messages).poll_next(context)).await
}

fn late(_: tokio::time::error::Elapsed) -> RedisError {
    RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut))
}
