//! The data with which another replica continues a task: the call and its journal.
//!
//! They are stored separately, because they may be large and clients read the record again and again.

use std::time::SystemTime;

use super::RedisTasks;
use crate::task::{Restart, TaskKey, TaskRecord, TasksError};

/// The call and the journal of a task. A value that is not to be written is empty.
#[derive(Debug, Default)]
pub(super) struct CallAndJournal {
    pub(super) call: String,
    pub(super) journal: String,
}

impl CallAndJournal {
    /// Takes both out of a record that is about to be written.
    pub(super) fn take(record: &mut TaskRecord) -> Self {
        let Some(restart) = &mut record.restart else {
            return Self::default();
        };
        Self {
            call: std::mem::take(&mut restart.call),
            journal: std::mem::take(&mut restart.journal),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.call.len() + self.journal.len()
    }

    /// What the script does with the stored values: `drop`, `write` or `keep`.
    pub(super) fn fate(&self, record: &TaskRecord) -> &'static str {
        match &record.restart {
            None => "drop",
            Some(restart) if restart.is_given_up => "drop",
            Some(_) if self.bytes() > 0 => "write",
            Some(_) => "keep",
        }
    }
}

impl RedisTasks {
    /// The name of the hash with the call and the journal of a task.
    pub(super) fn apart_from(&self, owner: &str, id: &str) -> String {
        self.redis.name_in("task-restart", owner, id)
    }

    /// The restart data of a task, including its call and its journal.
    pub(super) async fn whole_restart(
        &self,
        key: &TaskKey,
        now: SystemTime,
    ) -> Result<Option<Restart>, TasksError> {
        let found = self.find(key, Some(now)).await?;
        let Some(mut restart) = found.and_then(|(_, record)| record.restart) else {
            return Ok(None);
        };
        // Records of an older version contain both values.
        if restart.is_given_up || !restart.call.is_empty() {
            return Ok(Some(restart));
        }
        let mut get = ::redis::cmd("HMGET");
        get.arg(self.apart_from(&key.owner, &key.id));
        get.arg("call").arg("journal");
        let (call, journal): (Option<String>, Option<String>) = self.redis.repeatable(&get).await?;
        restart.call = call.unwrap_or_default();
        restart.journal = journal.unwrap_or_default();
        Ok(Some(restart))
    }
}
