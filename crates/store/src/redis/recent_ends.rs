//! Writes the ends of tasks again after a failover.
//!
//! Redis answers before its replicas have received a write. If the master dies in this moment, the
//! end of a task is lost, and no replica of the server would ever write it again: the task would
//! appear to be running until it expires. So each process remembers the ends that it wrote for a
//! while, and checks these tasks when there is a new master.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use turnbuckle_base::lock::Mutex;

use super::{Redis, RedisTasks};
use crate::task::{TaskChange, TaskEnd, TaskKey, TasksError};

/// How long an end is remembered: longer than a cluster takes to replace a master with its default
/// settings.
const KEEP: Duration = Duration::from_mins(1);

/// How many ends are remembered, and how many bytes of results (8 MiB). The oldest are dropped first.
const MAX_ENDS: usize = 1024;
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// How often, and after which pauses, a task is tried again that cannot be read or written yet.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(500);

/// The ends that this process has recently written.
#[derive(Debug, Default)]
pub(super) struct RecentEnds {
    ends: Arc<Mutex<Ends>>,
    /// Started with the first end.
    watching: OnceLock<Watching>,
}

#[derive(Debug, Default)]
struct Ends {
    ends: VecDeque<End>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct End {
    key: TaskKey,
    change: TaskChange,
    /// The time that the caller passed.
    now: SystemTime,
    written: Instant,
}

#[derive(Debug)]
struct Watching(JoinHandle<()>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl RecentEnds {
    /// Remembers a change that was written, if it is an end and may be lost. It must be called
    /// within a runtime.
    pub(super) fn keep(&self, redis: &Redis, key: &TaskKey, change: &TaskChange, now: SystemTime) {
        let (Some(end), Some(mut failovers)) = (change.end(), redis.commands.failovers()) else {
            return;
        };
        self.ends.lock().push(End {
            key: key.clone(),
            change: end.clone(),
            now,
            written: Instant::now(),
        });
        self.watching.get_or_init(|| {
            let (redis, ends) = (redis.clone(), Arc::clone(&self.ends));
            Watching(tokio::spawn(async move {
                while failovers.changed().await.is_ok() {
                    let recent = ends.lock().recent();
                    write_again(&redis, recent).await;
                }
            }))
        });
    }
}

impl Ends {
    fn push(&mut self, end: End) {
        self.bytes += size(&end.change);
        self.ends.push_back(end);
        while let Some(oldest) = self.ends.front()
            && (self.ends.len() > MAX_ENDS
                || self.bytes > MAX_BYTES
                || oldest.written.elapsed() >= KEEP)
        {
            self.bytes -= size(&oldest.change);
            self.ends.pop_front();
        }
    }

    fn recent(&self) -> Vec<End> {
        let recent = self.ends.iter();
        let recent = recent.filter(|end| end.written.elapsed() < KEEP);
        recent.cloned().collect()
    }
}

fn size(change: &TaskChange) -> usize {
    match change {
        TaskChange::End(TaskEnd::Completed { result, .. }) => result.get().len(),
        _ => 0,
    }
}

/// Ends the tasks that have not ended. The others are not changed.
async fn write_again(redis: &Redis, ends: Vec<End>) {
    // This store remembers what it writes, and is dropped at the end of this function.
    let tasks = RedisTasks::new(redis.clone());
    for End {
        key, change, now, ..
    } in ends
    {
        for _ in 0..ATTEMPTS {
            match tasks.apply(&key, change.clone(), now).await {
                // The new master may not accept commands yet.
                Err(TasksError::Store(_)) => sleep(PAUSE).await,
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn end(bytes: usize) -> End {
        let result = to_raw_value(&"x".repeat(bytes)).expect("this is JSON");
        End {
            key: TaskKey::new("ada", "t1"),
            change: TaskChange::End(TaskEnd::Completed {
                result,
                is_error: false,
                message: None,
            }),
            now: SystemTime::UNIX_EPOCH,
            written: Instant::now(),
        }
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let mut ends = Ends::default();
        for _ in 0..2 * MAX_ENDS {
            ends.push(end(1));
        }
        assert_eq!(ends.recent().len(), MAX_ENDS);
        ends.push(end(MAX_BYTES / 2));
        ends.push(end(MAX_BYTES / 2));
        assert_eq!(ends.recent().len(), 1);
        ends.push(end(2 * MAX_BYTES));
        assert!(ends.recent().is_empty());
        assert_eq!(ends.bytes, 0);
    }
}
