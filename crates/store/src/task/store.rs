//! `Tasks`: the trait of a store of tasks.

use std::{sync::Arc, time::SystemTime};

use super::{NewTask, Restart, TaskChange, TaskKey, TaskRecord, TasksError};
use crate::{BoxFuture, StoreError, bus::NodeId};

/// Where tasks are kept. What each method promises is tested by `contract::tasks`.
///
/// The time is an argument of each call. A task whose time is over at `now` no longer exists; every
/// other task is kept, also when the store is full.
pub trait Tasks: Send + Sync + 'static {
    /// Begins a task. When the future is ready, all users of the store find it.
    fn create(
        &self,
        new: NewTask,
        now: SystemTime,
    ) -> BoxFuture<'_, Result<Arc<TaskRecord>, TasksError>>;

    /// The task, if its owner has it.
    fn get<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Arc<TaskRecord>>, TasksError>>;

    /// Up to `limit` tasks of an owner, the oldest first, from behind a place that an earlier page
    /// gave.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<TaskPage, TasksError>>;

    /// Lets something happen to a task, by the rules of [`TaskRecord::apply`]. Of two changes at
    /// once, one sees what the other did.
    fn change<'a>(
        &'a self,
        key: &'a TaskKey,
        change: TaskChange,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, TasksError>>;

    /// How a task goes on at another replica, with its call and its journal; `None` of a task that
    /// is not there, has ended or may not run again. A store that leaves these out of its records
    /// must say them here.
    fn restart<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Restart>, TasksError>> {
        Box::pin(async move {
            let found = self.get(key, now).await?;
            Ok(found.and_then(|record| record.restart.clone()))
        })
    }

    /// The tasks with a [`Restart`] that this node runs or has handed over, so that
    /// other replicas find them when the node is gone. Some may have ended or moved on meanwhile.
    ///
    /// A store that cannot tell returns none: such a task is taken over when its client asks for it.
    fn running_at(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<TaskKey>, StoreError>> {
        let _ = node;
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Waits until the task has a version above `seen`, or does not exist. A store need not wake
    /// callers when a task expires.
    ///
    /// # Cancel safety
    /// Dropping the future forgets the wait, and nothing else.
    fn changed<'a>(&'a self, key: &'a TaskKey, seen: u64) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// Some tasks of an owner.
#[derive(Clone, Debug, Default)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<Arc<TaskRecord>>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

/// The result of changing a task.
#[derive(Clone, Debug)]
pub enum Changed {
    /// The task after the change. If the change had no effect, it is the unchanged task.
    Now(Arc<TaskRecord>),
    /// The task had ended before, so it was not changed.
    Over(Arc<TaskRecord>),
    /// There is no such task.
    Unknown,
}
