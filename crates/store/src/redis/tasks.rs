//! Tasks in Redis: a record under its id, the ids of each owner in order, and a message for each
//! change. The call and the journal of a task are [stored separately](super::task_restart).

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant, SystemTime},
};

use ::redis::Script;
use tokio::time::timeout;

use super::{
    Redis,
    connection::{failed, unreadable},
    news::{ChannelEvent, News},
    recent_ends::RecentEnds,
    task_index::TaskIndex,
    task_restart::CallAndJournal,
    task_scripts::{CHANGE, CREATE},
    waiting::Waiting,
};
use crate::{
    BoxFuture, StoreError,
    bus::NodeId,
    task::{
        Applied, Changed, NewTask, Restart, TaskChange, TaskKey, TaskPage, TaskRecord, Tasks,
        TasksError, millis,
    },
};

/// The most tasks of one owner. One caller must not fill the store for all others.
pub const TASKS_PER_OWNER: usize = 1000;

/// 16 MiB: the most bytes of the tasks of one owner, as for tasks in memory.
pub const TASK_BYTES_PER_OWNER: usize = 16 * 1024 * 1024;

/// 16 KiB: smaller tasks are limited only by their number.
const SMALL_BYTES: usize = TASK_BYTES_PER_OWNER / 1024;

/// How long Redis keeps an expired task, in milliseconds. Clocks of replicas differ, and a replica
/// whose clock is behind must still find it. Replicas themselves ignore tasks that have expired by
/// their own clock.
const GRACE_MS: u64 = 60_000;

/// How often creating a task is tried: once, on a new connection if the old one was closed, and
/// after expired tasks were removed.
const MAX_BEGINNINGS: usize = 3;

/// How often a change is retried because another change came first. Each failure is the success of
/// another change, and few changes concern one task at the same time.
const MAX_TRIES: usize = 64;

/// How long to wait for a message about a change before reading the task anyway: messages may be
/// lost while a connection breaks.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// How long Redis may be unreachable before waiting callers get an error. It restarts in less time,
/// and running work needs it only at the end.
const MAX_AWAY: Duration = Duration::from_mins(1);

/// Tasks, shared by all users of this Redis.
#[derive(Debug)]
pub struct RedisTasks {
    pub(super) redis: Redis,
    create: Script,
    change: Script,
    /// The tasks that each replica runs and that others may continue.
    index: TaskIndex,
    waiting: Arc<Waiting>,
    ends: RecentEnds,
    /// Opened by the first caller that waits for a change.
    news: OnceLock<News>,
}

impl RedisTasks {
    pub(super) fn new(redis: Redis) -> Self {
        Self {
            index: TaskIndex::new(redis.clone()),
            redis,
            create: Script::new(CREATE),
            change: Script::new(CHANGE),
            waiting: Arc::default(),
            ends: RecentEnds::default(),
            news: OnceLock::new(),
        }
    }

    pub(super) fn task(&self, owner: &str, id: &str) -> String {
        self.redis.name_in("task", owner, id)
    }

    /// The name of the key with the owner of a task id. Ids are unique across all owners.
    fn owner_of(&self, id: &str) -> String {
        self.redis.name("task-owner", id)
    }

    pub(super) fn list_of(&self, owner: &str) -> String {
        self.redis.name("tasks-of", owner)
    }

    fn channel(&self) -> String {
        self.redis.name("channel", "tasks")
    }

    /// The channel for scripts that publish to it themselves; empty on a cluster, where it may be
    /// on another node than the task.
    fn channel_of_scripts(&self) -> String {
        if self.redis.is_cluster() {
            String::new()
        } else {
            self.channel()
        }
    }

    /// Publishes a change if scripts cannot. If the message is lost, the change is noticed later.
    async fn tell(&self, id: &str) {
        if self.redis.is_cluster() {
            let _ = self.redis.publish(&self.channel(), id.as_bytes()).await;
        }
    }

    async fn begin(&self, new: NewTask, now: SystemTime) -> Result<Arc<TaskRecord>, TasksError> {
        let mut record = TaskRecord::new(new, now);
        let call_and_journal = CallAndJournal::take(&mut record);
        let text = serde_json::to_string(&record).map_err(unreadable)?;
        let keep = record.task.ttl_ms.map(|ttl| ttl.saturating_add(GRACE_MS));
        let keep = keep.map_or(String::new(), |ms| ms.to_string());
        self.reserve(&record.task.task_id, &record.owner, &keep)
            .await?;
        // Before the task is created, so that no task is missing in the index.
        if let Some(node) = record.restart.as_ref().and_then(|restart| restart.node) {
            self.index.add(node, &record).await?;
        }
        let mut is_again = false;
        for _ in 0..MAX_BEGINNINGS {
            let mut create = self.create.prepare_invoke();
            create.key(self.task(&record.owner, &record.task.task_id));
            create.key(self.list_of(&record.owner));
            create.key(self.apart_from(&record.owner, &record.task.task_id));
            create.arg(&text).arg(&keep).arg(TASKS_PER_OWNER);
            create.arg(&record.task.task_id);
            create.arg(SMALL_BYTES).arg(TASK_BYTES_PER_OWNER);
            create.arg(self.task(&record.owner, ""));
            create.arg(self.apart_from(&record.owner, ""));
            create
                .arg(&call_and_journal.call)
                .arg(&call_and_journal.journal);
            let mut commands = self.redis.commands.clone();
            let begun: String = match create.invoke_async(&mut commands).await {
                Err(error) if error.is_connection_dropped() && !is_again => {
                    is_again = true;
                    continue;
                }
                answered => answered.map_err(failed)?,
            };
            match &*begun {
                "begun" => return Ok(Arc::new(record)),
                // It may have been created by the command whose answer was lost.
                "taken" if is_again && self.is_there(&record, &text).await? => {
                    return Ok(Arc::new(record));
                }
                "taken" => return Err(TasksError::Taken),
                "large" => {
                    self.take_back(&record).await?;
                    let bytes = text.len() + call_and_journal.bytes();
                    return Err(TasksError::TooLarge { bytes });
                }
                // Some of them may have expired by now.
                _ => self.forget_expired(&record.owner, now).await?,
            }
        }
        self.take_back(&record).await?;
        let limit = TASKS_PER_OWNER;
        Err(TasksError::OwnerFull { limit })
    }

    /// Removes the traces of a task that was not created.
    async fn take_back(&self, record: &TaskRecord) -> Result<(), TasksError> {
        self.release(&record.task.task_id).await?;
        if let Some(node) = record.restart.as_ref().and_then(|restart| restart.node) {
            self.index.remove(node, &record.key()).await?;
        }
        Ok(())
    }

    /// Reserves an id for an owner, for as long as the task is kept. The tasks of two owners may be
    /// on two nodes of a cluster, so no script could check both.
    async fn reserve(&self, id: &str, owner: &str, keep: &str) -> Result<(), TasksError> {
        let name = self.owner_of(id);
        let mut set = ::redis::cmd("SET");
        set.arg(&name).arg(owner).arg("NX");
        if !keep.is_empty() {
            set.arg("PX").arg(keep);
        }
        let reserved: Option<String> = self.redis.repeatable(&set).await?;
        if reserved.is_some() {
            return Ok(());
        }
        let mut get = ::redis::cmd("GET");
        get.arg(&name);
        let there: Option<String> = self.redis.repeatable(&get).await?;
        // A reservation that has expired meanwhile belonged to an expired task.
        if there.is_none_or(|there| there == owner) {
            Ok(())
        } else {
            Err(TasksError::Taken)
        }
    }

    /// Releases the id of a refused task. Refused calls must not fill the store.
    async fn release(&self, id: &str) -> Result<(), StoreError> {
        let mut release = ::redis::cmd("DEL");
        release.arg(self.owner_of(id));
        self.redis.repeatable(&release).await
    }

    async fn is_there(&self, record: &TaskRecord, text: &str) -> Result<bool, TasksError> {
        let key = TaskKey::new(&*record.owner, &*record.task.task_id);
        let found = self.find(&key, None).await?;
        Ok(found.is_some_and(|(there, _)| there == text))
    }

    async fn forget_expired(&self, owner: &str, now: SystemTime) -> Result<(), StoreError> {
        let mut after = 0;
        while let Some((number, _)) = self.slice(owner, after, TASKS_PER_OWNER, now).await?.last() {
            after = *number;
        }
        Ok(())
    }

    /// The text of a task and its parsed record, if it belongs to the owner and has not expired.
    pub(super) async fn find(
        &self,
        key: &TaskKey,
        now: Option<SystemTime>,
    ) -> Result<Option<(String, TaskRecord)>, TasksError> {
        let mut get = ::redis::cmd("GET");
        get.arg(self.task(&key.owner, &key.id));
        let text: Option<String> = self.redis.repeatable(&get).await?;
        let Some(text) = text else { return Ok(None) };
        let record: TaskRecord = serde_json::from_str(&text)
            .map_err(|error| TasksError::Unreadable(unreadable(error)))?;
        let is_there = record.owner == key.owner && now.is_none_or(|now| !is_late(&record, now));
        Ok(is_there.then_some((text, record)))
    }

    pub(super) async fn apply(
        &self,
        key: &TaskKey,
        change: TaskChange,
        now: SystemTime,
    ) -> Result<Changed, TasksError> {
        // The record that was written by a command whose answer was lost.
        let mut written = None;
        let mut ran_at = None;
        for _ in 0..MAX_TRIES {
            let Some((before, mut record)) = self.find(key, Some(now)).await? else {
                return Ok(Changed::Unknown);
            };
            if written.as_ref() == Some(&before) {
                self.ends.keep(&self.redis, key, &change, now);
                self.tell(&key.id).await;
                self.forget_runner(ran_at, &record).await;
                return Ok(Changed::Now(Arc::new(record)));
            }
            ran_at = record.restart.as_ref().and_then(|restart| restart.node);
            match record.apply(change.clone(), now) {
                Applied::Over => return Ok(Changed::Over(Arc::new(record))),
                Applied::Unchanged => return Ok(Changed::Now(Arc::new(record))),
                Applied::Changed => {}
            }
            if let TaskChange::TakeOver { node, .. } = &change {
                self.index.add(*node, &record).await?;
            }
            let call_and_journal = CallAndJournal::take(&mut record);
            let text = serde_json::to_string(&record).map_err(unreadable)?;
            let mut write = self.change.prepare_invoke();
            write.key(self.task(&key.owner, &key.id));
            write.key(self.list_of(&key.owner));
            write.key(self.apart_from(&key.owner, &key.id));
            write.arg(before).arg(&text);
            write.arg(self.channel_of_scripts()).arg(&key.id);
            write.arg(SMALL_BYTES).arg(TASK_BYTES_PER_OWNER);
            write.arg(self.task(&key.owner, ""));
            write.arg(self.apart_from(&key.owner, ""));
            write.arg(call_and_journal.fate(&record));
            write
                .arg(&call_and_journal.call)
                .arg(&call_and_journal.journal);
            let mut commands = self.redis.commands.clone();
            let changed: u8 = match write.invoke_async(&mut commands).await {
                Err(error) if error.is_connection_dropped() && written.is_none() => {
                    written = Some(text);
                    continue;
                }
                changed => changed.map_err(failed)?,
            };
            match changed {
                0 => {}
                1 => {
                    self.ends.keep(&self.redis, key, &change, now);
                    self.tell(&key.id).await;
                    self.forget_runner(ran_at, &record).await;
                    return Ok(Changed::Now(Arc::new(record)));
                }
                _ => {
                    let bytes = text.len() + call_and_journal.bytes();
                    return Err(TasksError::TooLarge { bytes });
                }
            }
        }
        let busy = format!("too many concurrent changes of task `{}`", key.id);
        Err(StoreError::new("redis", busy).into())
    }

    /// Removes a task from the index of the replica that ran it, if no replica has to continue it
    /// or another one does. A task that was handed over stays until another replica has it.
    async fn forget_runner(&self, runner: Option<NodeId>, record: &TaskRecord) {
        let goes_on_at = match &record.restart {
            Some(restart) if restart.node.is_none() => return,
            Some(restart) => restart.node,
            None => None,
        };
        if let Some(node) = runner
            && runner != goes_on_at
        {
            let _ = self.index.remove(node, &record.key()).await;
        }
    }

    async fn wait(&self, key: &TaskKey, seen: u64) -> Result<(), StoreError> {
        self.news.get_or_init(|| {
            let waiting = Arc::clone(&self.waiting);
            let channels = vec![self.channel()];
            News::listen(&self.redis, channels, move |heard| match heard {
                ChannelEvent::Message(id) => waiting.wake(id),
                ChannelEvent::Open => waiting.wake_all(),
            })
        });
        let mut place = self.waiting.enter(&key.id);
        let mut away_since = None;
        loop {
            match self.find(key, None).await {
                Ok(Some((_, record))) if record.version <= seen => away_since = None,
                Ok(_) => return Ok(()),
                Err(TasksError::Store(error)) => {
                    let since = away_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= MAX_AWAY {
                        return Err(error);
                    }
                }
                Err(TasksError::Unreadable(error)) => return Err(error),
                Err(error) => return Err(StoreError::new("redis", error)),
            }
            // Read the task even if the message is late or lost.
            let _ = timeout(LOOK_AGAIN, place.woken()).await;
        }
    }
}

pub(super) fn is_late(record: &TaskRecord, now: SystemTime) -> bool {
    let expires = record.expires_ms();
    expires.is_some_and(|expires| expires <= millis(now))
}

impl Tasks for RedisTasks {
    fn create(
        &self,
        new: NewTask,
        now: SystemTime,
    ) -> BoxFuture<'_, Result<Arc<TaskRecord>, TasksError>> {
        Box::pin(self.begin(new, now))
    }

    fn get<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Arc<TaskRecord>>, TasksError>> {
        Box::pin(async move {
            let found = self.find(key, Some(now)).await?;
            Ok(found.map(|(_, record)| Arc::new(record)))
        })
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<TaskPage, TasksError>> {
        Box::pin(self.page(owner, after, limit, now))
    }

    fn change<'a>(
        &'a self,
        key: &'a TaskKey,
        change: TaskChange,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, TasksError>> {
        Box::pin(self.apply(key, change, now))
    }

    fn restart<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Restart>, TasksError>> {
        Box::pin(self.whole_restart(key, now))
    }

    fn running_at(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<TaskKey>, StoreError>> {
        Box::pin(self.index.of(node))
    }

    fn changed<'a>(&'a self, key: &'a TaskKey, seen: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.wait(key, seen))
    }
}
