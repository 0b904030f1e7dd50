//! Tasks whose replica has ended.

use std::{
    future::{Future as _, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, SystemTime},
};

use tokio::time::sleep;
use turnbuckle_base::wall_clock;
use turnbuckle_protocol::ErrorObject;

use super::{
    Changed, NewTask, TaskChange, TaskEnd, TaskKey, TaskPage, TaskRecord, Tasks, TasksError,
};
use crate::{
    BoxFuture, StoreError,
    bus::{Bus, NodeId},
};

/// How often a caller that waits for a task checks whether its replica is still there. It costs
/// nothing: the bus knows.
const LOOK: Duration = Duration::from_millis(500);

/// Separates the node from the rest of a task's id.
const SEPARATOR: char = '-';

/// Tasks that name the replica which runs them: the first part of an id is its node. A task whose
/// node [is gone](Bus::is_gone) has failed; the first caller that reads it stores that.
///
/// The lease of a task is that of its node: nothing is renewed for each task.
pub struct LeasedTasks {
    tasks: Arc<dyn Tasks>,
    bus: Arc<dyn Bus>,
    node: NodeId,
}

impl LeasedTasks {
    /// Tasks of this store; those that begin here are run by this node.
    pub fn new(tasks: Arc<dyn Tasks>, bus: Arc<dyn Bus>, node: NodeId) -> Self {
        Self { tasks, bus, node }
    }

    fn is_lost(&self, id: &str) -> bool {
        let node = id
            .split_once(SEPARATOR)
            .and_then(|(node, _)| NodeId::parse(node));
        node.is_some_and(|node| node != self.node && self.bus.is_gone(node))
    }

    /// Writes down that the replica of a task has ended.
    async fn fail(&self, key: &TaskKey, now: SystemTime) -> Result<Changed, TasksError> {
        let error = ErrorObject::internal(
            "the server process that did the work has ended: call the tool again",
        );
        tracing::warn!(task = key.id, "a task failed: its replica is gone");
        let end = TaskChange::End(TaskEnd::Failed(error));
        self.tasks.change(key, end, now).await
    }

    /// The task as it is, if its replica is there or it is over; otherwise as it is now that it failed.
    async fn settled(
        &self,
        record: Arc<TaskRecord>,
        now: SystemTime,
    ) -> Result<Arc<TaskRecord>, TasksError> {
        if record.is_over() || !self.is_lost(&record.task.task_id) {
            return Ok(record);
        }
        match self.fail(&record.key(), now).await? {
            Changed::Now(record) | Changed::Over(record) => Ok(record),
            Changed::Unknown => Ok(record),
        }
    }
}

impl Tasks for LeasedTasks {
    fn create(
        &self,
        mut new: NewTask,
        now: SystemTime,
    ) -> BoxFuture<'_, Result<Arc<TaskRecord>, TasksError>> {
        new.key.id = format!("{}{SEPARATOR}{}", self.node, new.key.id);
        self.tasks.create(new, now)
    }

    fn get<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Arc<TaskRecord>>, TasksError>> {
        Box::pin(async move {
            match self.tasks.get(key, now).await? {
                Some(record) => self.settled(record, now).await.map(Some),
                None => Ok(None),
            }
        })
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<TaskPage, TasksError>> {
        Box::pin(async move {
            let mut page = self.tasks.list(owner, after, limit, now).await?;
            for record in &mut page.tasks {
                *record = self.settled(Arc::clone(record), now).await?;
            }
            Ok(page)
        })
    }

    fn change<'a>(
        &'a self,
        key: &'a TaskKey,
        change: TaskChange,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, TasksError>> {
        Box::pin(async move {
            if self.is_lost(&key.id)
                && let Changed::Unknown = self.fail(key, now).await?
            {
                return Ok(Changed::Unknown);
            }
            self.tasks.change(key, change, now).await
        })
    }

    fn changed<'a>(&'a self, key: &'a TaskKey, seen: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut changed = pin!(self.tasks.changed(key, seen));
            loop {
                let mut look = pin!(sleep(LOOK));
                let changed = poll_fn(|context| {
                    if let Poll::Ready(changed) = changed.as_mut().poll(context) {
                        return Poll::Ready(Some(changed));
                    }
                    look.as_mut().poll(context).map(|()| None)
                });
                if let Some(changed) = changed.await {
                    return changed;
                }
                // An ended task has a later version by now, or correctly wakes no caller.
                if self.is_lost(&key.id)
                    && let Err(error) = self.fail(key, wall_clock::now()).await
                {
                    tracing::warn!(%error, "a task whose replica is gone cannot be written");
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use turnbuckle_protocol::TaskStatus;

    use super::*;
    use crate::{Joined, bus::MemoryBus, task::MemoryTasks};

    struct Replica {
        tasks: Arc<LeasedTasks>,
        _joined: Joined,
    }

    fn replica(number: u64, tasks: &Arc<MemoryTasks>, bus: &MemoryBus) -> Replica {
        let node = NodeId::new(number);
        let tasks = Arc::clone(tasks) as Arc<dyn Tasks>;
        Replica {
            _joined: bus.join(node, Arc::new(|_| {})),
            tasks: Arc::new(LeasedTasks::new(tasks, Arc::new(bus.clone()), node)),
        }
    }

    fn new(id: &str) -> NewTask {
        NewTask {
            key: TaskKey::new("ada", id),
            ttl: None,
            poll_interval: None,
            payer: None,
        }
    }

    #[tokio::test]
    async fn the_task_of_a_replica_that_ended_has_failed_for_all_others() {
        let (tasks, bus) = (Arc::new(MemoryTasks::default()), MemoryBus::default());
        let (one, other) = (replica(1, &tasks, &bus), replica(2, &tasks, &bus));
        let begin = async |id| one.tasks.create(new(id), UNIX_EPOCH).await.unwrap().key();
        let (got, listed, watched, over) = (
            begin("got").await,
            begin("listed").await,
            begin("watched").await,
            begin("over").await,
        );
        let end = TaskChange::End(TaskEnd::Cancelled { reason: None });
        one.tasks.change(&over, end, UNIX_EPOCH).await.unwrap();
        let status = async |key: &TaskKey| {
            let found = other.tasks.get(key, UNIX_EPOCH).await.unwrap().unwrap();
            found.task.state.status()
        };
        assert_eq!(status(&got).await, TaskStatus::Working);
        let watching = tokio::spawn({
            let (tasks, key) = (Arc::clone(&other.tasks), watched.clone());
            async move { tasks.changed(&key, 1).await }
        });
        drop(one);
        assert_eq!(status(&got).await, TaskStatus::Failed);
        watching.await.unwrap().unwrap();
        assert_eq!(status(&watched).await, TaskStatus::Failed);
        assert_eq!(status(&over).await, TaskStatus::Cancelled);
        let page = other.tasks.list("ada", None, 10, UNIX_EPOCH).await.unwrap();
        let listed = page
            .tasks
            .iter()
            .find(|task| task.task.task_id == listed.id);
        assert_eq!(listed.unwrap().task.state.status(), TaskStatus::Failed);
    }

    #[tokio::test]
    async fn nothing_changes_the_task_of_a_replica_that_ended() {
        let (tasks, bus) = (Arc::new(MemoryTasks::default()), MemoryBus::default());
        let (one, other) = (replica(1, &tasks, &bus), replica(2, &tasks, &bus));
        let key = one.tasks.create(new("t"), UNIX_EPOCH).await.unwrap().key();
        drop(one);
        let change = TaskChange::Say("still here".into());
        let changed = other.tasks.change(&key, change, UNIX_EPOCH).await.unwrap();
        assert!(matches!(changed, Changed::Over(_)), "{changed:?}");
    }
}
