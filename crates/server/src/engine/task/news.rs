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

/// Tasks that one listen may name. More than a person or a model has an eye on.
const MAX_TASKS: usize = 100;

/// The longest id that is remembered, in bytes: longer than any id of ours, so that longer ones
/// name nothing.
const MAX_ID_BYTES: usize = 128;

/// The tasks of a filter that are listened to. It gives nothing away: those that do not exist are
/// among them.
pub(crate) fn listened(wish: &[String]) -> Vec<String> {
    let mut listened: Vec<String> = Vec::new();
    for id in wish.iter().filter(|id| id.len() <= MAX_ID_BYTES) {
        if listened.len() < MAX_TASKS && !listened.contains(id) {
            listened.push(id.clone());
        }
    }
    listened
}

/// The tasks that a listen request has subscribed to.
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
    /// Reports changes of these tasks, beginning with their current status. A task of another
    /// caller or an unknown one is ignored silently.
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

/// The task when it has a version above this; `None` if it is not there.
fn next(
    tasks: &Arc<RunningTasks>,
    key: &TaskKey,
    seen: u64,
) -> BoxFuture<'static, Option<Arc<TaskRecord>>> {
    let (tasks, key) = (Arc::clone(tasks), key.clone());
    Box::pin(async move {
        if let Err(error) = tasks.store.changed(&key, seen).await {
            tracing::error!(%error, "a task cannot be watched");
            return None;
        }
        let found = tasks.store.get(&key, wall_clock::now()).await;
        found.unwrap_or_else(|error| {
            tracing::error!(%error, "a task cannot be looked at");
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
