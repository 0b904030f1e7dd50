//! Changes of tasks, for a `subscriptions/listen` that names them.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::future::BoxFuture;
use turnbuckle_base::wall_clock;
use turnbuckle_protocol::{Id, Revision, envelope};
use turnbuckle_store::task::{TaskKey, TaskRecord};

use super::{RunningTasks, running_tasks, wire};
use crate::{
    Caller,
    engine::{TaskNews, listen::Tagged},
};

/// The number of tasks that one listen request may name; more than a person or a model can follow.
const MAX_TASKS: usize = 100;

/// The maximum length of an id that is remembered, in bytes. The server's own ids are shorter, so
/// longer ids name no task.
const MAX_ID_BYTES: usize = 128;

/// The tasks of a filter that the server accepts. Unknown tasks are accepted too, so that the
/// answer does not reveal which tasks exist.
pub(crate) fn listened(wish: &[String]) -> Vec<String> {
    let mut listened: Vec<String> = Vec::new();
    for id in wish.iter().filter(|id| id.len() <= MAX_ID_BYTES) {
        if listened.len() < MAX_TASKS && !listened.contains(id) {
            listened.push(id.clone());
        }
    }
    listened
}

/// The tasks to which a listen request has subscribed.
pub(super) struct Watching {
    tasks: Arc<RunningTasks>,
    subscription: Id,
    revision: Revision,
    watched: Vec<Watch>,
}

struct Watch {
    key: TaskKey,
    next: BoxFuture<'static, Option<Arc<TaskRecord>>>,
}

impl Watching {
    /// Reports changes of these tasks, beginning with their current status. Unknown tasks and tasks
    /// of other callers are ignored silently.
    pub(super) fn new(
        tasks: Arc<RunningTasks>,
        caller: &Caller,
        subscription: Id,
        revision: Revision,
        ids: &[String],
    ) -> Self {
        let owner = running_tasks::owner(caller);
        let watch = |id: &String| {
            let key = TaskKey::new(&owner, id);
            Watch {
                next: next(&tasks, &key, 0),
                key,
            }
        };
        let watched = ids.iter().map(watch).collect();
        Self {
            tasks,
            subscription,
            revision,
            watched,
        }
    }
}

impl TaskNews for Watching {
    fn poll(&mut self, context: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) {
        let Self {
            tasks,
            subscription,
            revision,
            watched,
        } = self;
        watched.retain_mut(|watch| {
            while let Poll::Ready(found) = watch.next.as_mut().poll(context) {
                let Some(record) = found else { return false };
                if let Some(message) = message(&record, subscription, *revision) {
                    take(&message);
                }
                if record.is_over() {
                    return false;
                }
                watch.next = next(tasks, &watch.key, record.version);
            }
            true
        });
    }
}

/// Waits for a version of the task above this one; `None` if there is no such task.
fn next(
    tasks: &Arc<RunningTasks>,
    key: &TaskKey,
    seen: u64,
) -> BoxFuture<'static, Option<Arc<TaskRecord>>> {
    let (tasks, key) = (Arc::clone(tasks), key.clone());
    Box::pin(async move {
        if let Err(error) = tasks.store.changed(&key, seen).await {
            tracing::error!(%error, "cannot wait for changes of a task");
            return None;
        }
        let found = tasks.store.get(&key, wall_clock::now()).await;
        found.unwrap_or_else(|error| {
            tracing::error!(%error, "a task cannot be read from the store");
            None
        })
    })
}

fn message(record: &TaskRecord, subscription: &Id, revision: Revision) -> Option<Vec<u8>> {
    let mut task = wire::detailed(record, revision);
    task.meta = None;
    let params = Tagged::new(task, subscription);
    let mut message = Vec::new();
    envelope::write_notification(&mut message, "notifications/tasks", &params).ok()?;
    Some(message)
}
