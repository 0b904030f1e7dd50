//! `Tasks`: the trait of a store of tasks.

use std::{sync::Arc, time::SystemTime};

use super::{NewTask, Restart, TaskChange, TaskKey, TaskRecord, TasksError};
use crate::{BoxFuture, StoreError, bus::NodeId};

/// Stores tasks. `contract::tasks` tests the guarantees of each method.
///
/// The time is an argument of each call. A task that has expired at `now` no longer exists; every
/// other task is kept, even if the store is full.
pub trait Tasks: Send + Sync + 'static {
    /// Creates a task. When the future completes, all users of the store can find it.
    fn create(
        &self,
        new: NewTask,
        now: SystemTime,
    ) -> BoxFuture<'_, Result<Arc<TaskRecord>, TasksError>>;

    /// Returns the task, if it belongs to the owner.
    fn get<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Arc<TaskRecord>>, TasksError>>;

    /// Returns up to `limit` tasks of an owner, the oldest first, after the position that an
    /// earlier page returned.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<TaskPage, TasksError>>;

    /// Applies a change to a task, by the rules of [`TaskRecord::apply`]. Concurrent changes are
    /// applied one after the other.
    fn change<'a>(
        &'a self,
        key: &'a TaskKey,
        change: TaskChange,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, TasksError>>;

    /// Returns the restart data of a task, including its call and its journal. Returns `None` if
    /// the task does not exist, has ended or must not run again. A store that leaves the call and
    /// the journal out of its records must return them here.
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

    /// Returns the tasks with a [`Restart`] that this node runs or has handed over, so that other
    /// replicas find them when the node is gone. Some may have ended or moved meanwhile.
    ///
    /// The default implementation returns none: such a task is then taken over when its client asks
    /// for it.
    fn running_at(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<TaskKey>, StoreError>> {
        let _ = node;
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Waits until the task has a version above `seen`, or does not exist. A store need not wake
    /// callers when a task expires.
    ///
    /// # Cancel safety
    /// Dropping the future only ends the wait.
    fn changed<'a>(&'a self, key: &'a TaskKey, seen: u64) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// A page of an owner's tasks.
#[derive(Clone, Debug, Default)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<Arc<TaskRecord>>,
    /// The position of the next page, if there is one.
    pub next: Option<String>,
}

/// The result of changing a task.
#[derive(Clone, Debug)]
pub enum Changed {
    /// The task after the change, or the unchanged task if the change had no effect.
    Now(Arc<TaskRecord>),
    /// The task had already ended, so it was not changed.
    Over(Arc<TaskRecord>),
    /// There is no such task.
    Unknown,
}
