//! Receives messages of a channel of a cluster, which belongs to one shard.

use std::{sync::Arc, time::Duration};

use ::redis::{
    AsyncConnectionConfig, PushInfo, PushKind, RedisError, Value, aio::MultiplexedConnection,
};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use super::{
    cluster::Cluster,
    news::{COMMAND_TIMEOUT, NewsListener, SILENCE, late},
    process::CONNECT_WITHIN,
    slot::slot_of,
};

/// How often it is checked whether the shard is still at the same node. A master that is cut off
/// from the others, or that became a replica, keeps its connections but does not get all messages.
const LOOK: Duration = Duration::from_secs(1);

/// How old the slot map may be for this check.
const MAP_AGE: Duration = Duration::from_secs(2);

/// Receives messages until the connection breaks, or until the channel is at another node. Returns
/// an error if the connection was never open.
pub(super) async fn hear(
    cluster: &Cluster,
    channel: &str,
    listener: &Arc<NewsListener>,
    place: usize,
) -> Result<(), RedisError> {
    let slot = slot_of(channel.as_bytes());
    let owner = cluster.owner(slot).await?;
    let ended = Arc::new(Notify::new());
    let client = cluster.listener(&owner)?;
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_WITHIN))
        .set_response_timeout(Some(COMMAND_TIMEOUT))
        .set_push_sender(pushed(Arc::clone(listener), Arc::clone(&ended)));
    let opened = client.get_multiplexed_async_connection_with_config(&config);
    let mut connection = match opened.await {
        Ok(connection) => connection,
        Err(error) => {
            cluster.heed(&error);
            return Err(error);
        }
    };
    let mut subscribe = ::redis::cmd("SSUBSCRIBE");
    subscribe.arg(channel);
    if let Err(error) = subscribe.query_async::<Value>(&mut connection).await {
        cluster.heed(&error);
        return Err(error);
    }
    listener.opened(place);
    let mut asked = Instant::now();
    while timeout(LOOK, ended.notified()).await.is_err() {
        cluster.look_after(MAP_AGE).await;
        if cluster.owner_now(slot).is_some_and(|now| now != owner) {
            break;
        }
        if asked.elapsed() >= SILENCE {
            asked = Instant::now();
            if ping(&mut connection).await.is_err() {
                break;
            }
        }
    }
    Ok(())
}

async fn ping(connection: &mut MultiplexedConnection) -> Result<Value, RedisError> {
    let ping = ::redis::cmd("PING");
    let answered = timeout(COMMAND_TIMEOUT, ping.query_async(connection)).await;
    answered.map_err(late)?
}

/// The callback for the messages of a connection.
fn pushed(
    listener: Arc<NewsListener>,
    ended: Arc<Notify>,
) -> impl Fn(PushInfo) -> Result<(), std::convert::Infallible> + Send + Sync + 'static {
    move |push| {
        match (push.kind, push.data.last()) {
            (PushKind::SMessage, Some(Value::BulkString(message))) => listener.hear(message),
            // The slot has moved to another node, or the connection broke.
            (PushKind::SUnsubscribe | PushKind::Disconnection, _) => ended.notify_one(),
            _ => {}
        }
        Ok(())
    }
}
