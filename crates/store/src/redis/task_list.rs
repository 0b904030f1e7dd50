//! The tasks of one owner in Redis, page by page.

use std::{sync::Arc, time::SystemTime};

use super::tasks::{RedisTasks, is_late};
use crate::{
    StoreError,
    task::{TaskPage, TaskRecord, TasksError},
};

/// The smallest number of ids that is read at once.
pub(super) const MIN_SLICE: usize = 16;

impl RedisTasks {
    /// Up to `limit` entries of an owner's list after a number, each with its task if the task
    /// still exists and can be read. Entries without a task are removed from the list.
    pub(super) async fn slice(
        &self,
        owner: &str,
        after: u64,
        limit: usize,
        now: SystemTime,
    ) -> Result<Vec<(u64, Option<TaskRecord>)>, StoreError> {
        let list = self.list_of(owner);
        let mut range = ::redis::cmd("ZRANGEBYSCORE");
        range.arg(&list).arg(format!("({after}")).arg("+inf");
        range.arg("WITHSCORES").arg("LIMIT").arg(0).arg(limit);
        let places: Vec<(String, u64)> = self.redis.repeatable(&range).await?;
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let mut get = ::redis::cmd("MGET");
        for (id, _) in &places {
            get.arg(self.task(owner, id));
        }
        let texts: Vec<Option<String>> = self.redis.repeatable(&get).await?;
        let mut slice = Vec::with_capacity(places.len());
        let mut gone = ::redis::cmd("ZREM");
        gone.arg(&list);
        let mut has_gone = false;
        for ((id, number), text) in places.into_iter().zip(texts) {
            let record = text.map(|text| serde_json::from_str::<TaskRecord>(&text));
            let record = match record.transpose() {
                Ok(record) => record.filter(|record| !is_late(record, now)),
                // It must not hide the others, and stays for versions that can read it.
                Err(error) => {
                    tracing::warn!(task = id, %error, "a task is not listed: it cannot be read");
                    slice.push((number, None));
                    continue;
                }
            };
            if record.is_none() {
                gone.arg(id);
                has_gone = true;
            }
            slice.push((number, record));
        }
        if has_gone {
            self.redis.repeatable::<()>(&gone).await?;
        }
        Ok(slice)
    }

    /// A page of an owner's tasks after this cursor.
    pub(super) async fn page(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
        now: SystemTime,
    ) -> Result<TaskPage, TasksError> {
        let after = after.map(|cursor| cursor.parse().map_err(|_| TasksError::BadCursor));
        let mut after: u64 = after.transpose()?.unwrap_or(0);
        let limit = limit.max(1);
        let mut page = TaskPage::default();
        loop {
            // One more than needed, to know whether there is another page.
            let wanted = (limit + 1 - page.tasks.len()).max(MIN_SLICE);
            let slice = self.slice(owner, after, wanted, now).await?;
            let is_last = slice.len() < wanted;
            for (number, record) in slice {
                let Some(record) = record else {
                    after = number;
                    continue;
                };
                if page.tasks.len() == limit {
                    page.next = Some(after.to_string());
                    return Ok(page);
                }
                after = number;
                page.tasks.push(Arc::new(record));
            }
            if is_last {
                return Ok(page);
            }
        }
    }
}
