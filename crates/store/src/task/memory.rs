//! Tasks in the memory of one process.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Bound,
    sync::Arc,
    time::SystemTime,
};

use tokio::sync::watch;
use turnbuckle_base::lock::{Mutex, MutexGuard};

use super::{
    Applied, Changed, NewTask, TaskChange, TaskKey, TaskPage, TaskRecord, Tasks, TasksError, millis,
};
use crate::{BoxFuture, StoreError};

/// How much is kept in memory.
///
/// What is promised is kept for its time, so it is new tasks that are turned away when there is no
/// room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryLimits {
    /// Tasks of one owner. One caller must not fill the store for all others.
    pub per_owner: usize,
    /// Tasks in all.
    pub tasks: usize,
    /// Bytes in all, by [`TaskRecord::bytes`].
    pub bytes: usize,
}

impl Default for MemoryLimits {
    /// A thousand tasks of one owner, ten thousand in all, and 256 MiB: some 25 KiB for each.
    fn default() -> Self {
        Self {
            per_owner: 1000,
            tasks: 10_000,
            bytes: 256 * 1024 * 1024,
        }
    }
}

/// Tasks in the memory of one process. They end with it.
#[derive(Default)]
pub struct MemoryTasks {
    limits: MemoryLimits,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    tasks: HashMap<String, Entry>,
    /// The tasks of each owner in the order they began.
    owners: HashMap<String, BTreeMap<u64, String>>,
    /// When which task expires.
    expiring: BTreeSet<(u64, String)>,
    /// How many there have been.
    count: u64,
    bytes: usize,
}

struct Entry {
    record: Arc<TaskRecord>,
    number: u64,
    bytes: usize,
    version: watch::Sender<u64>,
}

impl MemoryTasks {
    /// A store without tasks.
    pub fn new(limits: MemoryLimits) -> Self {
        Self {
            limits,
            table: Mutex::default(),
        }
    }

    /// The table, without what is over its time.
    fn table(&self, now: SystemTime) -> MutexGuard<'_, Table> {
        let mut table = self.table.lock();
        table.expire(millis(now));
        table
    }

    fn insert(&self, new: NewTask, now: SystemTime) -> Result<Arc<TaskRecord>, TasksError> {
        let record = Arc::new(TaskRecord::new(new, now));
        let bytes = record.bytes();
        let mut table = self.table(now);
        if table.tasks.contains_key(&record.task.task_id) {
            return Err(TasksError::Taken);
        }
        let limit = self.limits.per_owner;
        if table.owners.get(&record.owner).map_or(0, BTreeMap::len) >= limit {
            return Err(TasksError::OwnerFull { limit });
        }
        if table.tasks.len() >= self.limits.tasks || table.bytes + bytes > self.limits.bytes {
            return Err(TasksError::Full);
        }
        table.insert(Arc::clone(&record), bytes);
        Ok(record)
    }

    fn apply(
        &self,
        key: &TaskKey,
        change: TaskChange,
        now: SystemTime,
    ) -> Result<Changed, TasksError> {
        let mut table = self.table(now);
        let Some(entry) = table.find(key) else {
            return Ok(Changed::Unknown);
        };
        let (before, mut record) = (entry.bytes, TaskRecord::clone(&entry.record));
        match record.apply(change, now) {
            Applied::Over => return Ok(Changed::Over(Arc::clone(&entry.record))),
            Applied::Unchanged => return Ok(Changed::Now(Arc::clone(&entry.record))),
            Applied::Changed => {}
        }
        let bytes = record.bytes();
        // What shrinks always has room.
        if bytes > before && table.bytes - before + bytes > self.limits.bytes {
            return Err(TasksError::TooLarge { bytes });
        }
        table.bytes = table.bytes - before + bytes;
        let record = Arc::new(record);
        if let Some(entry) = table.tasks.get_mut(&key.id) {
            entry.bytes = bytes;
            entry.record = Arc::clone(&record);
            entry.version.send_replace(record.version);
        }
        Ok(Changed::Now(record))
    }

    fn page(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
        now: SystemTime,
    ) -> Result<TaskPage, TasksError> {
        let table = self.table(now);
        let after: Bound<u64> = match after {
            None => Bound::Unbounded,
            Some(cursor) => match cursor.parse() {
                Ok(number) if number < table.count => Bound::Excluded(number),
                _ => return Err(TasksError::BadCursor),
            },
        };
        let mut page = TaskPage::default();
        let Some(own) = table.owners.get(owner) else {
            return Ok(page);
        };
        let mut last = None;
        for (number, id) in own.range((after, Bound::Unbounded)) {
            if page.tasks.len() == limit.max(1) {
                page.next = last;
                break;
            }
            last = Some(number.to_string());
            let entry = table.tasks.get(id);
            page.tasks
                .extend(entry.map(|entry| Arc::clone(&entry.record)));
        }
        Ok(page)
    }
}

impl Table {
    fn find(&self, key: &TaskKey) -> Option<&Entry> {
        let entry = self.tasks.get(&key.id)?;
        (entry.record.owner == key.owner).then_some(entry)
    }

    fn insert(&mut self, record: Arc<TaskRecord>, bytes: usize) {
        let number = self.count;
        self.count += 1;
        self.bytes += bytes;
        let id = record.task.task_id.clone();
        if let Some(expires) = record.expires_ms() {
            self.expiring.insert((expires, id.clone()));
        }
        let own = self.owners.entry(record.owner.clone()).or_default();
        own.insert(number, id.clone());
        let version = watch::Sender::new(record.version);
        let entry = Entry {
            record,
            number,
            bytes,
            version,
        };
        self.tasks.insert(id, entry);
    }

    fn expire(&mut self, now: u64) {
        while let Some((expires, _)) = self.expiring.first()
            && *expires <= now
        {
            let Some((_, id)) = self.expiring.pop_first() else {
                return;
            };
            let Some(entry) = self.tasks.remove(&id) else {
                continue;
            };
            self.bytes -= entry.bytes;
            let owner = &entry.record.owner;
            if let Some(own) = self.owners.get_mut(owner) {
                own.remove(&entry.number);
                if own.is_empty() {
                    self.owners.remove(owner);
                }
            }
        }
    }
}

impl Tasks for MemoryTasks {
    fn create(
        &self,
        new: NewTask,
        now: SystemTime,
    ) -> BoxFuture<'_, Result<Arc<TaskRecord>, TasksError>> {
        let created = self.insert(new, now);
        Box::pin(std::future::ready(created))
    }

    fn get<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Arc<TaskRecord>>, TasksError>> {
        let table = self.table(now);
        let found = table.find(key).map(|entry| Arc::clone(&entry.record));
        Box::pin(std::future::ready(Ok(found)))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<TaskPage, TasksError>> {
        let page = self.page(owner, after, limit, now);
        Box::pin(std::future::ready(page))
    }

    fn change<'a>(
        &'a self,
        key: &'a TaskKey,
        change: TaskChange,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, TasksError>> {
        let changed = self.apply(key, change, now);
        Box::pin(std::future::ready(changed))
    }

    fn changed<'a>(&'a self, key: &'a TaskKey, seen: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let watched = {
                let table = self.table.lock();
                table.find(key).map(|entry| entry.version.subscribe())
            };
            if let Some(mut version) = watched {
                // An error says that the task is not there any more.
                let _ = version.wait_for(|version| *version > seen).await;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use serde_json::value::to_raw_value;

    use super::*;
    use crate::task::TaskEnd;

    fn new(owner: &str, id: &str) -> NewTask {
        NewTask {
            key: TaskKey::new(owner, id),
            ttl: Some(Duration::from_secs(1)),
            poll_interval: None,
        }
    }

    fn store(per_owner: usize, tasks: usize, bytes: usize) -> MemoryTasks {
        MemoryTasks::new(MemoryLimits {
            per_owner,
            tasks,
            bytes,
        })
    }

    #[test]
    fn new_tasks_are_turned_away_and_old_ones_kept_when_there_is_no_room() {
        let store = store(2, 3, 1 << 20);
        store.insert(new("ada", "1"), UNIX_EPOCH).unwrap();
        store.insert(new("ada", "2"), UNIX_EPOCH).unwrap();
        let refused = store.insert(new("ada", "3"), UNIX_EPOCH).unwrap_err();
        assert!(matches!(refused, TasksError::OwnerFull { limit: 2 }));
        store.insert(new("bob", "3"), UNIX_EPOCH).unwrap();
        let refused = store.insert(new("bob", "4"), UNIX_EPOCH).unwrap_err();
        assert!(matches!(refused, TasksError::Full));
        let later = UNIX_EPOCH + Duration::from_secs(1);
        store.insert(new("bob", "4"), later).unwrap();
        let table = store.table(later);
        assert_eq!((table.tasks.len(), table.owners.len()), (1, 1));
        assert_eq!(table.expiring.len(), 1);
    }

    #[test]
    fn bytes_are_counted_and_given_back() {
        let store = store(10, 10, 7500);
        store.insert(new("ada", "1"), UNIX_EPOCH).unwrap();
        let key = TaskKey::new("ada", "1");
        let end = |length: usize| {
            TaskChange::End(TaskEnd::Completed {
                result: to_raw_value(&"x".repeat(length)).unwrap(),
                is_error: false,
                message: None,
            })
        };
        let refused = store.apply(&key, end(10_000), UNIX_EPOCH).unwrap_err();
        assert!(matches!(refused, TasksError::TooLarge { bytes } if bytes > 10_000));
        store.apply(&key, end(5000), UNIX_EPOCH).unwrap();
        let admitted = store.insert(new("ada", "2"), UNIX_EPOCH);
        assert!(admitted.is_ok(), "there is room for one more");
        let refused = store.insert(new("ada", "3"), UNIX_EPOCH).unwrap_err();
        assert!(matches!(refused, TasksError::Full));
        let later = UNIX_EPOCH + Duration::from_secs(1);
        assert_eq!(store.table(later).bytes, 0);
    }
}
