//! Limits of callers in Redis: a number for each rate, and a hash with the open count of each replica.

use std::time::{Duration, SystemTime};

use ::redis::Script;

use super::{Redis, connection::failed};
use crate::{
    BoxFuture, StoreError,
    bus::NodeId,
    limit::{OpenCount, RateGrant, RateRequest, SharedLimits},
};

/// Takes from a rate, by the clock of Redis. The key is its name; the arguments are the pause
/// between two uses in microseconds, how many are allowed at once, how many are owed, and how many
/// are wanted. Returns how many are granted, and in how many microseconds there is another one. The
/// debt is at most the whole capacity.
const DRAW: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local pause, whole = tonumber(ARGV[1]), ARGV[1] * ARGV[2]
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + pause * ARGV[3]
due = math.min(due, now + whole)
local granted = math.min(math.floor((now + whole - due) / pause), tonumber(ARGV[4]))
due = due + pause * granted
local left = math.ceil((due - now) / 1000)
if left > 0 then redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', left) end
return {granted, math.max(due + pause - now - whole, 0)}
";

/// Reports the open count of a replica, by the clock of Redis. The key is the hash; the arguments
/// are the replica, the count, for how many milliseconds it is valid, and the most replicas.
/// Returns the counts of all replicas.
const HOLD: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held, count = {}, 0
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local amount, till = string.match(all[at + 1], '^(%d+):(%d+)$')
  if all[at] ~= ARGV[1] then
    if not till or tonumber(till) <= now then
      redis.call('HDEL', KEYS[1], all[at])
    else
      held[#held + 1] = all[at]
      held[#held + 1] = amount
      count = count + 1
    end
  end
end
if count < tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ':' .. string.format('%.0f', now + ARGV[3]))
  held[#held + 1] = ARGV[1]
  held[#held + 1] = ARGV[2]
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return held
";

/// How many replicas' counts are kept for one caller.
const MAX_REPLICAS: usize = 1000;

/// Limits of callers, shared by all users of this Redis.
#[derive(Debug)]
pub struct RedisLimits {
    redis: Redis,
    draw: Script,
    hold: Script,
}

impl RedisLimits {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            draw: Script::new(DRAW),
            hold: Script::new(HOLD),
        }
    }

    async fn take_now(&self, request: RateRequest<'_>) -> Result<RateGrant, StoreError> {
        let mut script = self.draw.prepare_invoke();
        script.key(self.redis.name_in("rate", request.caller, request.limit));
        script.arg(request.pause()).arg(request.burst);
        script.arg(request.owed).arg(request.wanted);
        let mut commands = self.redis.commands.clone();
        // A command whose answer was lost may have been counted, so it is not repeated.
        let (granted, wait): (u32, u64) =
            script.invoke_async(&mut commands).await.map_err(failed)?;
        Ok(RateGrant::new(granted, Duration::from_micros(wait)))
    }

    async fn report_open_now(&self, open: OpenCount<'_>) -> Result<Vec<(NodeId, u64)>, StoreError> {
        let keep = u64::try_from(open.keep.as_millis()).unwrap_or(u64::MAX);
        let mut script = self.hold.prepare_invoke();
        script.key(self.redis.name_in("held", open.caller, open.limit));
        script.arg(open.node.to_string()).arg(open.count);
        script.arg(keep.max(1)).arg(MAX_REPLICAS);
        let mut commands = self.redis.commands.clone();
        let held: Vec<String> = match script.invoke_async(&mut commands).await {
            Err(error) if error.is_connection_dropped() => {
                script.invoke_async(&mut commands).await.map_err(failed)?
            }
            held => held.map_err(failed)?,
        };
        let pairs = held.chunks_exact(2).filter_map(|pair| {
            let count = pair[1].parse().ok()?;
            Some((NodeId::parse(&pair[0])?, count))
        });
        Ok(pairs.collect())
    }
}

impl SharedLimits for RedisLimits {
    fn take<'a>(
        &'a self,
        request: RateRequest<'a>,
        _: SystemTime,
    ) -> BoxFuture<'a, Result<RateGrant, StoreError>> {
        Box::pin(self.take_now(request))
    }

    fn report_open<'a>(
        &'a self,
        open: OpenCount<'a>,
        _: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(NodeId, u64)>, StoreError>> {
        Box::pin(self.report_open_now(open))
    }
}
