//! Ends of tasks, written again after a failover.
//!
//! Redis answers before its replicas have what was written. If the master dies in this moment, the
//! end of a task is lost, and no replica would ever write it again: the task would be at work until
//! its time is over. So a process keeps the ends that it wrote for a while, and looks at these
//! tasks when there is a new master.

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

/// How long an end is kept: longer than a cluster takes to replace a master, unless it is told to be
/// patient.
const KEEP: Duration = Duration::from_mins(1);

/// How many ends are kept, and 8 MiB: how many bytes of results. The oldest go first.
const MAX_ENDS: usize = 1024;
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// How often, and after which pauses, a task is looked at that cannot be read or written yet.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(500);

/// The ends that this process wrote lately.
#[derive(Debug, Default)]
pub(super) struct RecentEnds {
    ends: Arc<Mutex<Ends>>,
    /// Begun with the first end.
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
    /// The time that the caller gave.
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
    /// Keeps a change that was written, if it is an end and it can be lost. Must be called inside a
    /// runtime.
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

/// Ends the tasks that have not ended. For the others nothing happens.
async fn write_again(redis: &Redis, ends: Vec<End>) {
    // It keeps what it writes, and ends when this does.
    let tasks = RedisTasks::new(redis.clone());
    for End {
        key, change, now, ..
    } in ends
    {
        for _ in 0..ATTEMPTS {
            match tasks.apply(&key, change.clone(), now).await {
                // The new master may not take commands yet.
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
