//! Tasks whose replica has ended.

use std::{
    future::{Future as _, poll_fn},
    pin::pin,
    sync::{Arc, OnceLock},
    task::Poll,
    time::{Duration, SystemTime},
};

use tokio::time::sleep;
use turnbuckle_base::wall_clock;
use turnbuckle_protocol::ErrorObject;

use super::{
    Changed, NewTask, Restart, TaskChange, TaskEnd, TaskKey, TaskPage, TaskRecord, Tasks,
    TasksError,
};
use crate::{
    BoxFuture, StoreError,
    bus::{Bus, NodeId},
};

/// How often a caller that waits for a task checks whether the task's replica is still present. The
/// check is cheap, because the bus knows.
const LOOK: Duration = Duration::from_millis(500);

/// Separates the node from the rest of a task's id.
const SEPARATOR: char = '-';

/// Takes over a task whose replica is gone. It must not block.
pub type TakeoverCallback = Box<dyn Fn(Arc<TaskRecord>) + Send + Sync>;

/// Tasks that name the replica that runs them. The first part of an id is the node that created the
/// task, and a [`Restart`] names the node that runs it now. If that node [is gone](Bus::is_gone),
/// the task is taken over if its handler may run again. Otherwise it has failed, which the first
/// caller that reads it stores.
///
/// A task has no lease of its own: it depends on the lease of its node.
pub struct LeasedTasks {
    tasks: Arc<dyn Tasks>,
    bus: Arc<dyn Bus>,
    node: NodeId,
    take_over: OnceLock<TakeoverCallback>,
}

impl LeasedTasks {
    /// Wraps this store. Tasks that are created here are run by this node.
    pub fn new(tasks: Arc<dyn Tasks>, bus: Arc<dyn Bus>, node: NodeId) -> Self {
        Self {
            tasks,
            bus,
            node,
            take_over: OnceLock::new(),
        }
    }

    /// Sets the callback that takes over tasks whose replica is gone. Without it such tasks fail.
    /// Only the first call has an effect.
    pub fn on_takeover(&self, callback: TakeoverCallback) {
        let _ = self.take_over.set(callback);
    }

    /// The node of this replica.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Checks the tasks of a node that is gone or has left, so that they are taken over. Returns
    /// how many of them no replica works on yet.
    ///
    /// # Errors
    /// [`TasksError`] if the store cannot be reached.
    pub async fn look_after(&self, node: NodeId) -> Result<usize, TasksError> {
        let keys = self.tasks.running_at(node).await?;
        let mut left = 0;
        for key in &keys {
            match self.get(key, wall_clock::now()).await {
                Ok(found) => {
                    let is_left = |it: Arc<TaskRecord>| !it.is_over() && self.is_orphan(&it);
                    left += usize::from(found.is_some_and(is_left));
                }
                Err(TasksError::Store(error)) => return Err(TasksError::Store(error)),
                // An unreadable task must not hide the others.
                Err(error) => tracing::warn!(
                    task = key.id,
                    %error,
                    "a task of a replica that has ended cannot be read, and is not taken over"
                ),
            }
        }
        Ok(left)
    }

    /// Whether the node that created a task is gone.
    fn began_at_lost_node(&self, id: &str) -> bool {
        let node = id
            .split_once(SEPARATOR)
            .and_then(|(node, _)| NodeId::parse(node));
        node.is_some_and(|node| self.is_lost(node))
    }

    fn is_lost(&self, node: NodeId) -> bool {
        node != self.node && self.bus.is_gone(node)
    }

    /// Whether no replica works on a task.
    fn is_orphan(&self, record: &TaskRecord) -> bool {
        match &record.restart {
            Some(restart) => restart.node.is_none_or(|node| self.is_lost(node)),
            None => self.began_at_lost_node(&record.task.task_id),
        }
    }

    /// Stores that the task failed because its replica has ended.
    async fn fail(&self, key: &TaskKey, now: SystemTime) -> Result<Changed, TasksError> {
        let error = ErrorObject::internal(
            "the server process that ran the task has ended: call the tool again",
        );
        tracing::warn!(task = key.id, "a task failed: its replica has ended");
        let end = TaskChange::End(TaskEnd::Failed(error));
        self.tasks.change(key, end, now).await
    }

    /// Returns the task unchanged if its replica is present, another one can continue it, or it has
    /// ended. Otherwise the task is ended with a failure and returned.
    async fn settled(
        &self,
        record: Arc<TaskRecord>,
        now: SystemTime,
    ) -> Result<Arc<TaskRecord>, TasksError> {
        if record.is_over() || !self.is_orphan(&record) {
            return Ok(record);
        }
        let restart = record.restart.as_ref();
        if restart.is_some_and(Restart::may_be_taken_over)
            && let Some(take_over) = self.take_over.get()
        {
            take_over(Arc::clone(&record));
            return Ok(record);
        }
        match self.fail(&record.key(), now).await? {
            Changed::Now(record) | Changed::Over(record) => Ok(record),
            Changed::Unknown => Ok(record),
        }
    }

    /// Reads a task, and takes it over or ends it if its replica is gone.
    async fn find(
        &self,
        key: &TaskKey,
        now: SystemTime,
    ) -> Result<Option<Arc<TaskRecord>>, TasksError> {
        match self.tasks.get(key, now).await? {
            Some(record) => self.settled(record, now).await.map(Some),
            None => Ok(None),
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
        if let Some(restart) = &mut new.restart {
            restart.node = Some(self.node);
        }
        self.tasks.create(new, now)
    }

    fn get<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Arc<TaskRecord>>, TasksError>> {
        Box::pin(self.find(key, now))
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
            // Changes written in a turn are valid only in that turn.
            let is_of_client = !matches!(
                change,
                TaskChange::Run(_) | TaskChange::HandOver { .. } | TaskChange::TakeOver { .. }
            );
            if is_of_client
                && self.began_at_lost_node(&key.id)
                && self.find(key, now).await?.is_none()
            {
                return Ok(Changed::Unknown);
            }
            self.tasks.change(key, change, now).await
        })
    }

    fn restart<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Restart>, TasksError>> {
        self.tasks.restart(key, now)
    }

    fn running_at(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<TaskKey>, StoreError>> {
        self.tasks.running_at(node)
    }

    fn changed<'a>(&'a self, key: &'a TaskKey, seen: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut changed = pin!(self.tasks.changed(key, seen));
            // The replica that continued the task, once it is known.
            let mut runner = None;
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
                let is_lost = match runner {
                    Some(node) => self.is_lost(node),
                    None => self.began_at_lost_node(&key.id),
                };
                if !is_lost {
                    continue;
                }
                // If the task has ended, it either has a later version by now, or need not wake callers.
                match self.find(key, wall_clock::now()).await {
                    Ok(found) => {
                        let restart = found.as_ref().and_then(|record| record.restart.as_ref());
                        runner = restart.and_then(|restart| restart.node);
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a task whose replica has ended cannot be read");
                    }
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use turnbuckle_base::lock::Mutex;
    use turnbuckle_protocol::TaskStatus;

    use super::*;
    use crate::{JoinGuard, bus::MemoryBus, task::MemoryTasks};

    struct Replica {
        tasks: Arc<LeasedTasks>,
        _joined: JoinGuard,
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
            restart: None,
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

    #[tokio::test]
    async fn a_task_that_may_run_again_is_offered_and_goes_on() {
        let (tasks, bus) = (Arc::new(MemoryTasks::default()), MemoryBus::default());
        let (one, other) = (replica(1, &tasks, &bus), replica(2, &tasks, &bus));
        let restart = Restart::new("call".into(), "journal".into(), 1);
        let new = NewTask {
            restart: Some(restart),
            ..new("t")
        };
        let key = one.tasks.create(new, UNIX_EPOCH).await.unwrap().key();
        let offered = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&offered);
        other.tasks.on_takeover(Box::new(move |record| {
            taken.lock().push(record.restart.clone().unwrap().turn);
        }));
        other.tasks.get(&key, UNIX_EPOCH).await.unwrap();
        assert!(offered.lock().is_empty(), "its replica is there");
        drop(one);
        let seen = other.tasks.look_after(NodeId::new(1)).await.unwrap();
        assert_eq!(seen, 1);
        assert_eq!(*offered.lock(), [0]);
        // Changes by clients in the meantime are accepted.
        let answered = TaskChange::Answer(super::super::Answers::new());
        let changed = other.tasks.change(&key, answered, UNIX_EPOCH).await;
        assert!(matches!(changed, Ok(Changed::Now(_))), "{changed:?}");
        let take = TaskChange::TakeOver {
            turn: 0,
            node: NodeId::new(2),
        };
        let taken = other.tasks.change(&key, take, UNIX_EPOCH).await.unwrap();
        assert!(matches!(taken, Changed::Now(_)), "{taken:?}");
        offered.lock().clear();
        let found = other.tasks.get(&key, UNIX_EPOCH).await.unwrap().unwrap();
        assert_eq!(found.task.state.status(), TaskStatus::Working);
        assert!(offered.lock().is_empty(), "somebody works on it");
        // There is a limit: when the second replica ends, the task fails.
        drop(other);
        let third = replica(3, &tasks, &bus);
        third.tasks.on_takeover(Box::new(|_| panic!("too often")));
        let found = third.tasks.get(&key, UNIX_EPOCH).await.unwrap().unwrap();
        assert_eq!(found.task.state.status(), TaskStatus::Failed);
    }
}
