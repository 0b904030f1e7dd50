//! An index of the tasks that each replica runs and that others may continue: a sorted set for each
//! replica, ordered by the time at which each task expires.

use ::redis::Script;

use super::{
    Redis,
    connection::{failed, unreadable},
};
use crate::{
    StoreError,
    bus::NodeId,
    task::{TaskKey, TaskRecord},
};

/// How many tasks of one replica are in its set. Further ones are taken over when their clients ask
/// for them.
const MAX_TASKS: usize = 10_000;

/// How long a task without an expiry is in the set, in milliseconds: a day.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1000;

/// Adds a task. The key is the set; the arguments are the task, how long it is kept in
/// milliseconds, and the most tasks. Expired tasks are removed.
const ADD: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last[2]))
return 1
";

/// The tasks that each replica runs.
#[derive(Debug)]
pub(super) struct TaskIndex {
    redis: Redis,
    add: Script,
}

impl TaskIndex {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            redis,
            add: Script::new(ADD),
        }
    }

    fn name(&self, node: NodeId) -> String {
        self.redis.name("tasks-at", &node.to_string())
    }

    /// Records that a replica runs a task.
    pub(super) async fn add(&self, node: NodeId, record: &TaskRecord) -> Result<(), StoreError> {
        let task = serde_json::to_string(&record.key()).map_err(unreadable)?;
        let ttl = record.task.ttl_ms.unwrap_or(LONGEST_MS).min(LONGEST_MS);
        let mut add = self.add.prepare_invoke();
        add.key(self.name(node)).arg(task).arg(ttl).arg(MAX_TASKS);
        let mut commands = self.redis.commands.clone();
        match add.invoke_async::<()>(&mut commands).await {
            // Adding a task twice has the same effect as once.
            Err(error) if error.is_connection_dropped() => {
                add.invoke_async(&mut commands).await.map_err(failed)
            }
            added => added.map_err(failed),
        }
    }

    /// Records that a replica no longer runs a task.
    pub(super) async fn remove(&self, node: NodeId, key: &TaskKey) -> Result<(), StoreError> {
        let task = serde_json::to_string(key).map_err(unreadable)?;
        let mut remove = ::redis::cmd("ZREM");
        remove.arg(self.name(node)).arg(task);
        self.redis.repeatable(&remove).await
    }

    /// The tasks that a replica runs.
    pub(super) async fn of(&self, node: NodeId) -> Result<Vec<TaskKey>, StoreError> {
        let mut range = ::redis::cmd("ZRANGE");
        range.arg(self.name(node)).arg(0).arg(-1);
        let tasks: Vec<String> = self.redis.repeatable(&range).await?;
        let read = |task: &String| match serde_json::from_str(task) {
            Ok(key) => Some(key),
            // An unreadable entry must not hide the others.
            Err(error) => {
                tracing::warn!(
                    %node,
                    %error,
                    "an entry in the index of a replica's tasks cannot be read"
                );
                None
            }
        };
        Ok(tasks.iter().filter_map(read).collect())
    }
}
