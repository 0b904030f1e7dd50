//! Changes of tasks, for a `subscriptions/listen` that names them.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::SystemTime,
};

use serde::Serialize;
use turnbuckle_protocol::{DetailedTask, Id, envelope};
use turnbuckle_store::task::{TaskKey, TaskRecord};
use turnbuckle_transport::Outbox;

use super::{Workshop, wire, workshop};
use crate::{Caller, handler::BoxFuture};

/// Tasks that one listen may name. More than a person or a model has an eye on.
const MAX_TASKS: usize = 100;

/// Bytes of an id that is one of ours, with room to spare: what is longer names nothing, and need
/// not be remembered.
const MAX_ID_BYTES: usize = 128;

/// The tasks of a wish that are listened to. The existence of none is given away by it.
pub(crate) fn listened(wish: &[String]) -> Vec<String> {
    let mut listened: Vec<String> = Vec::new();
    for id in wish.iter().filter(|id| id.len() <= MAX_ID_BYTES) {
        if listened.len() < MAX_TASKS && !listened.contains(id) {
            listened.push(id.clone());
        }
    }
    listened
}

/// What a listen request hears of tasks.
pub(crate) trait TaskNews: Send {
    /// Takes what is new; whoever takes is woken when there is more.
    fn poll(&mut self, context: &mut Context<'_>, take: &mut dyn FnMut(&[u8]));
}

/// Tells on a connection that carries other messages too, until the end.
pub(crate) async fn tell_until(
    mut tasks: Box<dyn TaskNews>,
    mut ended: BoxFuture<()>,
    outbox: &Outbox,
) {
    loop {
        let mut news: Vec<Vec<u8>> = Vec::new();
        let is_over = poll_fn(|context| {
            if ended.as_mut().poll(context).is_ready() {
                return Poll::Ready(true);
            }
            tasks.poll(context, &mut |message| news.push(message.to_vec()));
            if news.is_empty() {
                Poll::Pending
            } else {
                Poll::Ready(false)
            }
        });
        if is_over.await {
            return;
        }
        for message in &news {
            // A peer that is gone needs none.
            let _ = outbox.send(message).await;
        }
    }
}

/// The tasks that a listen request hears of.
pub(super) struct Watching {
    workshop: Arc<Workshop>,
    subscription: Id,
    watched: Vec<Watch>,
}

struct Watch {
    key: TaskKey,
    next: BoxFuture<Option<Arc<TaskRecord>>>,
}

impl Watching {
    /// Hears of these tasks, first of how they stand. Whoever names the task of somebody else, or
    /// none, hears nothing and is not told why.
    pub(super) fn new(
        workshop: Arc<Workshop>,
        caller: &Caller,
        subscription: Id,
        tasks: &[String],
    ) -> Self {
        let owner = workshop::owner(caller);
        let watch = |id: &String| {
            let key = TaskKey::new(&owner, id);
            Watch {
                next: next(&workshop, &key, 0),
                key,
            }
        };
        let watched = tasks.iter().map(watch).collect();
        Self {
            workshop,
            subscription,
            watched,
        }
    }
}

impl TaskNews for Watching {
    fn poll(&mut self, context: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) {
        let Self {
            workshop,
            subscription,
            watched,
        } = self;
        watched.retain_mut(|watch| {
            while let Poll::Ready(found) = watch.next.as_mut().poll(context) {
                let Some(record) = found else { return false };
                if let Some(message) = message(&record, subscription) {
                    take(&message);
                }
                if record.is_over() {
                    return false;
                }
                watch.next = next(workshop, &watch.key, record.version);
            }
            true
        });
    }
}

/// The task when it has a version above this; `None` if it is not there.
fn next(workshop: &Arc<Workshop>, key: &TaskKey, seen: u64) -> BoxFuture<Option<Arc<TaskRecord>>> {
    let (workshop, key) = (Arc::clone(workshop), key.clone());
    Box::pin(async move {
        if let Err(error) = workshop.store.changed(&key, seen).await {
            tracing::error!(%error, "a task cannot be watched");
            return None;
        }
        let found = workshop.store.get(&key, SystemTime::now()).await;
        found.unwrap_or_else(|error| {
            tracing::error!(%error, "a task cannot be looked at");
            None
        })
    })
}

fn message(record: &TaskRecord, subscription: &Id) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    struct Tagged<'a> {
        #[serde(flatten)]
        task: DetailedTask,
        #[serde(rename = "_meta")]
        meta: Tag<'a>,
    }
    #[derive(Serialize)]
    struct Tag<'a> {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
        subscription: &'a Id,
    }

    let mut task = wire::detailed(record);
    task.meta = None;
    let meta = Tag { subscription };
    let mut message = Vec::new();
    let params = Tagged { task, meta };
    envelope::write_notification(&mut message, "notifications/tasks", &params).ok()?;
    Some(message)
}
