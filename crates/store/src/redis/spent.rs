//! States that were used, in Redis.

use super::{Redis, connection::failed};
use crate::{BoxFuture, Spend, SpentStates, StoreError};

/// States that were used, shared by all who use this Redis.
#[derive(Clone, Debug)]
pub struct RedisSpent(Redis);

impl RedisSpent {
    pub(super) fn new(redis: Redis) -> Self {
        Self(redis)
    }

    async fn spend_now(&self, id: &[u8], expires: u64, now: u64) -> Result<Spend, StoreError> {
        // The second in which it expires is one in which it could still be used.
        let seconds = expires.saturating_sub(now).saturating_add(1);
        let mut name = self.0.name("spent", "").into_bytes();
        name.extend_from_slice(id);
        let mut set = ::redis::cmd("SET");
        set.arg(name).arg(1).arg("NX").arg("EX").arg(seconds);
        let mut commands = self.0.commands.clone();
        let done: Option<String> = set.query_async(&mut commands).await.map_err(failed)?;
        Ok(done.map_or(Spend::Before, |_| Spend::Now))
    }
}

impl SpentStates for RedisSpent {
    fn spend<'a>(
        &'a self,
        id: &'a [u8],
        expires: u64,
        now: u64,
    ) -> BoxFuture<'a, Result<Spend, StoreError>> {
        Box::pin(self.spend_now(id, expires, now))
    }
}
