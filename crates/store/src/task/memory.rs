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
use crate::{BoxFuture, StoreError, bus::NodeId};

/// Limits for what is kept in memory.
///
/// Tasks are kept as long as promised, so new tasks are refused when the store is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryLimits {
    /// The most tasks of one owner. One caller must not fill the store for all others.
    pub per_owner: usize,
    /// The most tasks in total.
    pub tasks: usize,
    /// The most bytes of the tasks of one owner, measured by [`TaskRecord::bytes`].
    pub bytes_per_owner: usize,
    /// The most bytes in total.
    pub bytes: usize,
}

/// An end of this size always fits, to say why there is no result: a task that cannot end would be worse.
const END_BYTES: usize = 4096;

impl Default for MemoryLimits {
    /// A thousand tasks with 16 MiB for each owner, and ten thousand with 64 MiB in total: several
    /// results of the largest size, or six kilobytes for each task.
    fn default() -> Self {
        Self {
            per_owner: 1000,
            tasks: 10_000,
            bytes_per_owner: 16 * 1024 * 1024,
            bytes: 64 * 1024 * 1024,
        }
    }
}

/// Tasks in the memory of one process. They are lost when it ends.
#[derive(Default)]
pub struct MemoryTasks {
    limits: MemoryLimits,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    tasks: HashMap<String, Entry>,
    /// The tasks of each owner in the order of their creation.
    owners: HashMap<String, BTreeMap<u64, String>>,
    /// The usage that counts against each payer's quota.
    payers: HashMap<String, Used>,
    /// When each task expires.
    expiring: BTreeSet<(u64, String)>,
    /// How many tasks have been created so far.
    count: u64,
    bytes: usize,
}

#[derive(Clone, Copy, Default)]
struct Used {
    tasks: usize,
    bytes: usize,
}

struct Entry {
    record: Arc<TaskRecord>,
    payer: String,
    number: u64,
    bytes: usize,
    version: watch::Sender<u64>,
}

impl MemoryTasks {
    /// Makes a store without tasks.
    pub fn new(limits: MemoryLimits) -> Self {
        Self {
            limits,
            table: Mutex::default(),
        }
    }

    /// The table after removing expired tasks.
    fn table(&self, now: SystemTime) -> MutexGuard<'_, Table> {
        let mut table = self.table.lock();
        table.expire(millis(now));
        table
    }

    fn insert(&self, new: NewTask, now: SystemTime) -> Result<Arc<TaskRecord>, TasksError> {
        let payer = new.payer.clone().unwrap_or_else(|| new.key.owner.clone());
        let record = Arc::new(TaskRecord::new(new, now));
        let bytes = record.bytes();
        let mut table = self.table(now);
        if table.tasks.contains_key(&record.task.task_id) {
            return Err(TasksError::Taken);
        }
        let used = table.used_by(&payer);
        if used.tasks >= self.limits.per_owner {
            let limit = self.limits.per_owner;
            return Err(TasksError::OwnerFull { limit });
        }
        if used.bytes + bytes > self.limits.bytes_per_owner {
            let limit = self.limits.bytes_per_owner;
            return Err(TasksError::OwnerBytes { limit });
        }
        if table.tasks.len() >= self.limits.tasks || table.bytes + bytes > self.limits.bytes {
            return Err(TasksError::Full);
        }
        table.insert(Arc::clone(&record), payer, bytes);
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
        let is_end = change.end().is_some();
        match record.apply(change, now) {
            Applied::Over => return Ok(Changed::Over(Arc::clone(&entry.record))),
            Applied::Unchanged => return Ok(Changed::Now(Arc::clone(&entry.record))),
            Applied::Changed => {}
        }
        let bytes = record.bytes();
        let used = table.used_by(&entry.payer).bytes;
        let is_over = used - before + bytes > self.limits.bytes_per_owner
            || table.bytes - before + bytes > self.limits.bytes;
        // A smaller record always fits.
        let free = if is_end { END_BYTES } else { 0 };
        if is_over && bytes > before + free {
            return Err(TasksError::TooLarge { bytes });
        }
        let record = Arc::new(record);
        let Table {
            tasks,
            payers,
            bytes: all,
            ..
        } = &mut *table;
        *all = *all - before + bytes;
        if let Some(entry) = tasks.get_mut(&key.id) {
            if let Some(used) = payers.get_mut(&entry.payer) {
                used.bytes = used.bytes - before + bytes;
            }
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

    fn used_by(&self, payer: &str) -> Used {
        self.payers.get(payer).copied().unwrap_or_default()
    }

    fn insert(&mut self, record: Arc<TaskRecord>, payer: String, bytes: usize) {
        let used = self.payers.entry(payer.clone()).or_default();
        used.tasks += 1;
        used.bytes += bytes;
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
            payer,
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
            if let Some(used) = self.payers.get_mut(&entry.payer) {
                used.tasks -= 1;
                used.bytes -= entry.bytes;
                if used.tasks == 0 {
                    self.payers.remove(&entry.payer);
                }
            }
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

    fn running_at(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<TaskKey>, StoreError>> {
        let table = self.table.lock();
        let records = table.tasks.values().map(|entry| &entry.record);
        let is_there = |record: &&Arc<TaskRecord>| {
            let restart = record.restart.as_ref();
            restart.is_some_and(|restart| restart.node.is_none_or(|at| at == node))
        };
        let keys = records
            .filter(is_there)
            .map(|record| record.key())
            .collect();
        Box::pin(std::future::ready(Ok(keys)))
    }

    fn changed<'a>(&'a self, key: &'a TaskKey, seen: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let watched = {
                let table = self.table.lock();
                table.find(key).map(|entry| entry.version.subscribe())
            };
            if let Some(mut version) = watched {
                // An error means that the task no longer exists.
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
            payer: None,
            restart: None,
        }
    }

    fn store(per_owner: usize, tasks: usize, bytes: usize) -> MemoryTasks {
        MemoryTasks::new(MemoryLimits {
            per_owner,
            tasks,
            bytes_per_owner: bytes,
            bytes,
        })
    }

    fn completed(length: usize) -> TaskChange {
        TaskChange::End(TaskEnd::Completed {
            result: to_raw_value(&"x".repeat(length)).unwrap(),
            is_error: false,
            message: None,
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
        let refused = store.apply(&key, completed(10_000), UNIX_EPOCH);
        let refused = refused.unwrap_err();
        assert!(matches!(refused, TasksError::TooLarge { bytes } if bytes > 10_000));
        store.apply(&key, completed(5000), UNIX_EPOCH).unwrap();
        let admitted = store.insert(new("ada", "2"), UNIX_EPOCH);
        assert!(admitted.is_ok(), "there is room for one more");
        let refused = store.insert(new("bob", "3"), UNIX_EPOCH).unwrap_err();
        assert!(matches!(refused, TasksError::Full));
        let later = UNIX_EPOCH + Duration::from_secs(1);
        assert_eq!(store.table(later).bytes, 0);
        assert!(store.table(later).payers.is_empty());
    }

    #[test]
    fn one_owner_leaves_bytes_to_the_others_and_its_tasks_end_all_the_same() {
        let store = MemoryTasks::new(MemoryLimits {
            bytes_per_owner: 30_000,
            bytes: 80_000,
            ..MemoryLimits::default()
        });
        for id in ["1", "2", "3"] {
            store.insert(new("ada", id), UNIX_EPOCH).unwrap();
        }
        store.insert(new("bob", "4"), UNIX_EPOCH).unwrap();
        let end =
            |owner: &str, id: &str, end| store.apply(&TaskKey::new(owner, id), end, UNIX_EPOCH);
        end("ada", "1", completed(25_000)).unwrap();
        let refused = end("ada", "2", completed(25_000)).unwrap_err();
        assert!(matches!(refused, TasksError::TooLarge { .. }));
        end("bob", "4", completed(25_000)).unwrap();
        let failed = |length: usize| {
            let error = turnbuckle_protocol::ErrorObject::internal("x".repeat(length));
            TaskChange::End(TaskEnd::Failed(error))
        };
        end("ada", "2", failed(1000)).unwrap();
        end("ada", "3", failed(1000)).unwrap();
        let refused = store.insert(new("ada", "5"), UNIX_EPOCH).unwrap_err();
        let limit = 30_000;
        assert!(matches!(refused, TasksError::OwnerBytes { limit: said } if said == limit));
        let named = refused.to_string();
        assert!(named.contains("`MemoryLimits::bytes_per_owner`"), "{named}");
    }

    #[test]
    fn where_owners_do_not_tell_callers_apart_somebody_else_pays() {
        let store = store(1, 10, 1 << 20);
        let of = |payer: &str, id: &str| NewTask {
            payer: Some(payer.to_owned()),
            ..new("local", id)
        };
        store.insert(of("one", "1"), UNIX_EPOCH).unwrap();
        let refused = store.insert(of("one", "2"), UNIX_EPOCH).unwrap_err();
        assert!(matches!(refused, TasksError::OwnerFull { limit: 1 }));
        store.insert(of("two", "2"), UNIX_EPOCH).unwrap();
    }
}
