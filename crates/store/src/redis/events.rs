//! Events of streams in Redis: one Redis stream for each stream.

use std::time::Duration;

use ::redis::Script;

use super::{Redis, connection::failed};
use crate::{
    BoxFuture, StoreError,
    event::{EventLog, LoggedEvent},
};

/// Appends events. The key is the stream; the arguments are how long to keep it in milliseconds,
/// the first number to keep, and the number and bytes of each event. An event that already exists
/// was appended by a command whose answer was lost.
const APPEND: &str = r"
for at = 3, #ARGV, 2 do
  local done = redis.pcall('XADD', KEYS[1], ARGV[at] .. '-0', 'e', ARGV[at + 1])
  if type(done) == 'table' and done.err and not string.find(done.err, 'equal or smaller') then
    return done
  end
end
redis.call('XTRIM', KEYS[1], 'MINID', ARGV[2] .. '-0')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
";

/// Reads a stream. Returns the number and bytes of each event.
const READ: &str = r"
local flat = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do
  flat[#flat + 1] = string.match(entry[1], '^%d+')
  flat[#flat + 1] = entry[2][2]
end
return flat
";

/// Events of streams, shared by all users of this Redis.
#[derive(Debug)]
pub struct RedisEvents {
    redis: Redis,
    append: Script,
    read: Script,
}

impl RedisEvents {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            append: Script::new(APPEND),
            read: Script::new(READ),
        }
    }

    fn name(&self, stream: &str) -> String {
        self.redis.name("events", stream)
    }

    async fn append_now(
        &self,
        stream: &str,
        events: Vec<LoggedEvent>,
        from: u64,
        keep: Duration,
    ) -> Result<(), StoreError> {
        let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX).max(1);
        let mut append = self.append.prepare_invoke();
        append.key(self.name(stream)).arg(keep).arg(from);
        for event in &events {
            append.arg(event.number).arg(&event.bytes);
        }
        let mut commands = self.redis.commands.clone();
        match append.invoke_async::<()>(&mut commands).await {
            Err(error) if error.is_connection_dropped() => {
                append.invoke_async(&mut commands).await.map_err(failed)
            }
            appended => appended.map_err(failed),
        }
    }

    async fn read_now(&self, stream: &str) -> Result<Vec<LoggedEvent>, StoreError> {
        let mut read = self.read.prepare_invoke();
        read.key(self.name(stream));
        let mut commands = self.redis.commands.clone();
        let flat: Vec<Vec<u8>> = match read.invoke_async(&mut commands).await {
            Err(error) if error.is_connection_dropped() => {
                read.invoke_async(&mut commands).await.map_err(failed)?
            }
            read => read.map_err(failed)?,
        };
        let mut events = Vec::with_capacity(flat.len() / 2);
        let mut flat = flat.into_iter();
        while let (Some(number), Some(bytes)) = (flat.next(), flat.next()) {
            let number = str::from_utf8(&number)
                .ok()
                .and_then(|text| text.parse().ok());
            let number = number.ok_or_else(|| {
                StoreError::new("redis", "an event in the log has no number".to_owned())
            })?;
            events.push(LoggedEvent { number, bytes });
        }
        Ok(events)
    }
}

impl EventLog for RedisEvents {
    fn append<'a>(
        &'a self,
        stream: &'a str,
        events: Vec<LoggedEvent>,
        from: u64,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.append_now(stream, events, from, keep))
    }

    fn read<'a>(&'a self, stream: &'a str) -> BoxFuture<'a, Result<Vec<LoggedEvent>, StoreError>> {
        Box::pin(self.read_now(stream))
    }
}
