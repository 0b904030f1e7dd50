//! The code that runs tasks, linked only into programs with a tool that may run as a task.

use std::sync::{Arc, atomic::Ordering};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{Id, Revision};
use turnbuckle_store::task::{MemoryTasks, Tasks};

use super::{
    Answering, RunningTasks, TaskMode, TaskRunner, TaskSettings,
    launch::launch,
    news::Watching,
    restart::Restarts,
    runner::{StartCall, TaskStore},
    take_over, tasks_cancel, tasks_get, tasks_list, tasks_result, tasks_update,
};
use crate::{
    Caller, Reject,
    client::CancelFlag,
    engine::{Incoming, Responder, TaskNews},
    quota::Quota,
};

/// Creates the task runner. Tasks are in memory unless there is a store for them.
pub(super) fn open(
    store: &TaskStore,
    settings: TaskSettings,
    closing: CancelFlag,
    kept: Arc<Quota>,
) -> Arc<dyn TaskRunner> {
    let (store, restarts): (Arc<dyn Tasks>, _) = match store {
        TaskStore::Memory => (Arc::new(MemoryTasks::default()), None),
        TaskStore::Given(store) => (Arc::clone(store), None),
        TaskStore::Leased(restarts) => {
            let leased = Arc::clone(&restarts.leased);
            (leased, Some(Arc::clone(restarts)))
        }
    };
    let tasks = RunningTasks::new(store, settings, closing, kept, restarts.clone());
    let tasks = Arc::new(tasks);
    if let Some(restarts) = restarts {
        adopt_with(&tasks, &restarts);
    }
    tasks
}

/// Continues the tasks of ended replicas with this runner.
fn adopt_with(tasks: &Arc<RunningTasks>, restarts: &Arc<Restarts>) {
    let (tasks, shared) = (Arc::downgrade(tasks), Arc::downgrade(restarts));
    restarts.leased.on_takeover(Box::new(move |record| {
        if let (Some(tasks), Some(restarts)) = (tasks.upgrade(), shared.upgrade()) {
            take_over::adopt(&tasks, &restarts, record);
        }
    }));
}

impl TaskRunner for RunningTasks {
    fn launch(
        self: Arc<Self>,
        responder: &Arc<Responder>,
        incoming: &Incoming<'_>,
        mode: TaskMode,
        start: StartCall<'_>,
    ) -> Answering {
        launch(self, responder, incoming, mode, start)
    }

    fn serve(
        self: Arc<Self>,
        responder: &Arc<Responder>,
        incoming: &Incoming<'_>,
    ) -> Result<Answering, Reject> {
        route(self, responder, incoming)
    }

    fn listen(
        self: Arc<Self>,
        caller: &Caller,
        subscription: Id,
        revision: Revision,
        tasks: &[String],
    ) -> Box<dyn TaskNews> {
        Box::new(Watching::new(self, caller, subscription, revision, tasks))
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, usize> {
        self.closing.set();
        Box::pin(async move {
            self.wait_for_all().await;
            self.handed_over.load(Ordering::Relaxed)
        })
    }
}

/// Serves a method of tasks that was admitted.
fn route(
    tasks: Arc<RunningTasks>,
    responder: &Arc<Responder>,
    incoming: &Incoming<'_>,
) -> Result<Answering, Reject> {
    match incoming.method {
        "tasks/get" => tasks_get::serve(tasks, responder, incoming),
        "tasks/update" => tasks_update::serve(tasks, incoming),
        "tasks/cancel" => tasks_cancel::serve(tasks, incoming),
        "tasks/result" => tasks_result::serve(tasks, incoming),
        "tasks/list" => tasks_list::serve(tasks, incoming),
        method => Err(Reject::method_not_found(method)),
    }
}
