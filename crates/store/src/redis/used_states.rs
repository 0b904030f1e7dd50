//! Used states in Redis.

use super::Redis;
use crate::{BoxFuture, StateClaim, StateUse, StoreError, UsedStates};

/// Long enough that no two uses of one state get the same mark.
const MARK_BYTES: usize = 16;

/// Used states, shared by all users of this Redis.
#[derive(Clone, Debug)]
pub struct RedisUsedStates(Redis);

impl RedisUsedStates {
    pub(super) fn new(redis: Redis) -> Self {
        Self(redis)
    }

    async fn claim_now(&self, used: StateUse<'_>) -> Result<StateClaim, StoreError> {
        // The state could still be used during the second in which it expires.
        let seconds = used.expires.saturating_sub(used.now).saturating_add(1);
        let name = self.0.lone_name("spent", used.id);
        let mark = mark()?;
        let mut set = ::redis::cmd("SET");
        set.arg(&name).arg(&mark).arg("NX").arg("EX").arg(seconds);
        let done: Option<String> = self.0.repeatable(&set).await?;
        if done.is_some() {
            return Ok(StateClaim::FirstUse);
        }
        // If the answer was lost and the command was repeated, the stored mark is our own.
        let mut get = ::redis::cmd("GET");
        get.arg(&name);
        let there: Option<Vec<u8>> = self.0.repeatable(&get).await?;
        Ok(if there.as_ref() == Some(&mark) {
            StateClaim::FirstUse
        } else {
            StateClaim::AlreadyUsed
        })
    }
}

/// A random mark that distinguishes one use from all others.
fn mark() -> Result<Vec<u8>, StoreError> {
    let mut mark = vec![0; MARK_BYTES];
    getrandom::fill(&mut mark).map_err(|error| StoreError::new("redis", error.to_string()))?;
    Ok(mark)
}

impl UsedStates for RedisUsedStates {
    fn claim<'a>(&'a self, used: StateUse<'a>) -> BoxFuture<'a, Result<StateClaim, StoreError>> {
        Box::pin(self.claim_now(used))
    }
}
