//! What runs tasks, as it is linked into a program with a tool that may run as one.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{Id, Revision};
use turnbuckle_store::task::{MemoryTasks, Tasks};

use super::{
    Answering, RunningTasks, TaskMode, TaskRunner, TaskSettings, launch::launch, news::Watching,
    runner::StartCall, tasks_cancel, tasks_get, tasks_list, tasks_result, tasks_update,
};
use crate::{
    Caller, Reject,
    client::CancelFlag,
    engine::{Incoming, Responder, TaskNews},
    quota::Quota,
};

/// What runs tasks, with the tasks in memory unless there is a store for them.
pub(super) fn open(
    store: Option<Arc<dyn Tasks>>,
    settings: TaskSettings,
    closing: CancelFlag,
    kept: Arc<Quota>,
) -> Arc<dyn TaskRunner> {
    let store = store.unwrap_or_else(|| Arc::new(MemoryTasks::default()));
    Arc::new(RunningTasks::new(store, settings, closing, kept))
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

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        self.closing.set();
        Box::pin(async move { self.wait_for_all().await })
    }
}

/// Serves a method of tasks that may be called.
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
