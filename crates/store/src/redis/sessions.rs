//! Session changes in Redis: one small hash for each session in which anything changed.

use std::{collections::HashMap, time::Duration};

use ::redis::Script;

use super::{Redis, connection::failed};
use crate::{
    BoxFuture, StoreError,
    session::{MAX_RESOURCES, SessionChange, SessionState, Sessions},
};

/// The fields of the hash. Each resource is a separate field, so that two replicas can add
/// resources concurrently.
const ENDED: &str = "ended";
const LEVEL: &str = "level";
const RESOURCE: &str = "resource:";

/// Changes a session that has not ended. The key is the hash; the arguments are how long to keep it
/// in milliseconds, the most resources, what to do, a field and its value.
const WRITE: &str = r"
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
local what, field = ARGV[3], ARGV[4]
if what == 'remove' then
  redis.call('HDEL', KEYS[1], field)
elseif what == 'end' then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], field, ARGV[5])
else
  local resources = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], 'level')
  local is_new = field ~= 'level' and redis.call('HEXISTS', KEYS[1], field) == 0
  if is_new and resources >= tonumber(ARGV[2]) then return 0 end
  redis.call('HSET', KEYS[1], field, ARGV[5])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
";

/// What clients change in their sessions, shared by all users of this Redis.
#[derive(Debug)]
pub struct RedisSessions {
    redis: Redis,
    write: Script,
}

impl RedisSessions {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            write: Script::new(WRITE),
        }
    }

    fn notes_of(&self, session: &str) -> String {
        self.redis.name("session", session)
    }

    fn handshake_of(&self, session: &str) -> String {
        self.redis.name("handshake", session)
    }

    async fn read_now(&self, session: &str) -> Result<SessionState, StoreError> {
        let mut get = ::redis::cmd("HGETALL");
        get.arg(self.notes_of(session));
        let fields: HashMap<String, String> = self.redis.repeatable(&get).await?;
        let mut state = SessionState {
            is_ended: fields.contains_key(ENDED),
            log_level: fields.get(LEVEL).cloned(),
            ..SessionState::default()
        };
        let resources = fields
            .keys()
            .filter_map(|field| field.strip_prefix(RESOURCE));
        state.resources = resources.map(str::to_owned).collect();
        Ok(state)
    }

    async fn write_now(
        &self,
        session: &str,
        change: SessionChange,
        keep: Duration,
    ) -> Result<bool, StoreError> {
        let (what, field, value) = match change {
            SessionChange::LogLevel(level) => ("set", LEVEL.to_owned(), level),
            SessionChange::Subscribe(uri) => ("set", format!("{RESOURCE}{uri}"), "1".to_owned()),
            SessionChange::Unsubscribe(uri) => {
                ("remove", format!("{RESOURCE}{uri}"), String::new())
            }
            SessionChange::End => ("end", ENDED.to_owned(), "1".to_owned()),
        };
        let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX).max(1);
        let mut write = self.write.prepare_invoke();
        write.key(self.notes_of(session));
        write
            .arg(keep)
            .arg(MAX_RESOURCES)
            .arg(what)
            .arg(field)
            .arg(value);
        let mut commands = self.redis.commands.clone();
        match write.invoke_async(&mut commands).await {
            // Writing a change twice has the same effect as once, except for an end, after which
            // nothing is written.
            Err(error) if error.is_connection_dropped() => {
                let again: Result<bool, _> = write.invoke_async(&mut commands).await;
                Ok(again.map_err(failed)? || what == "end")
            }
            written => written.map_err(failed),
        }
    }
}

impl Sessions for RedisSessions {
    fn read<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        Box::pin(self.read_now(session))
    }

    fn write<'a>(
        &'a self,
        session: &'a str,
        change: SessionChange,
        keep: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(self.write_now(session, change, keep))
    }

    fn keep_handshake<'a>(
        &'a self,
        session: &'a str,
        part: Vec<u8>,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut set = ::redis::cmd("SET");
            set.arg(self.handshake_of(session)).arg(part);
            set.arg("EX").arg(keep.as_secs().max(1));
            self.redis.repeatable(&set).await
        })
    }

    fn handshake<'a>(
        &'a self,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, StoreError>> {
        Box::pin(async move {
            let mut get = ::redis::cmd("GET");
            get.arg(self.handshake_of(session));
            self.redis.repeatable(&get).await
        })
    }
}
