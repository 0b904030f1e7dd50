//! `TaskRunner`: the trait by which the rest of the server uses tasks.
//!
//! The code that runs tasks is a quarter of a small server. It is mentioned only by tools that may
//! run as tasks, with `link`, so a program without such a tool does not contain it.

use std::sync::{Arc, OnceLock};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CallToolResult, Id, Revision};
use turnbuckle_store::task::Tasks;

use super::{TaskMode, TaskSettings, restart::Restarts};
use crate::{
    Caller, Failure, Reject,
    client::CancelFlag,
    engine::{Incoming, Responder, Response, Sink, StartedCall, TaskNews},
    handler::TaskChannel,
    quota::Quota,
};

/// The task runner, as the rest of the server uses it.
pub(crate) trait TaskRunner: Send + Sync {
    /// Runs a call that is or may become a task. `start` starts it with its channel.
    fn launch(
        self: Arc<Self>,
        responder: &Arc<Responder>,
        incoming: &Incoming<'_>,
        mode: TaskMode,
        start: StartCall<'_>,
    ) -> Answering;

    /// Serves a method of tasks.
    fn serve(
        self: Arc<Self>,
        responder: &Arc<Responder>,
        incoming: &Incoming<'_>,
    ) -> Result<Answering, Reject>;

    /// Subscribes to tasks of a caller.
    fn listen(
        self: Arc<Self>,
        caller: &Caller,
        subscription: Id,
        revision: Revision,
        tasks: &[String],
    ) -> Box<dyn TaskNews>;

    /// Ends all tasks, and stores that they ended. Returns how many were left to other replicas.
    fn close(self: Arc<Self>) -> BoxFuture<'static, usize>;
}

/// Starts a call with its channel.
pub(crate) type StartCall<'a> =
    &'a dyn Fn(Arc<TaskChannel>) -> Result<StartedCall<CallToolResult>, Failure>;

/// Creates a runner with this store. The flag is set when the server shuts down; the quota is for
/// the arguments of running tasks.
type OpenRunner = fn(&TaskStore, TaskSettings, CancelFlag, Arc<Quota>) -> Arc<dyn TaskRunner>;

/// Creates the runner. Set by the first tool that may run as a task.
static OPEN: OnceLock<OpenRunner> = OnceLock::new();

/// Links the task runner into the program.
pub(super) fn link(open: OpenRunner) {
    let _ = OPEN.set(open);
}

/// Where tasks are stored.
pub(crate) enum TaskStore {
    /// In the memory of this process.
    Memory,
    /// In the author's store.
    Given(Arc<dyn Tasks>),
    /// In the store that all replicas share.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "only HTTP has replicas")
    )]
    Leased(Arc<Restarts>),
}

/// An answer, or the future of an answer.
pub(crate) enum Answering {
    Now(Response),
    Later(BoxFuture<'static, Response>),
}

impl Answering {
    /// Appends an answer that is ready, and returns an answer that follows later.
    pub(crate) fn put(self, out: &mut impl Sink) -> Option<BoxFuture<'static, Response>> {
        match self {
            Self::Later(response) => Some(response),
            Self::Now(response) => {
                response.put_into(out);
                None
            }
        }
    }
}

/// The settings and the runner of tasks. The runner exists only if there is a tool that needs it.
pub(crate) struct TaskHost {
    pub(crate) settings: TaskSettings,
    store: TaskStore,
    runner: OnceLock<Arc<dyn TaskRunner>>,
    /// Set when the server shuts down.
    closing: CancelFlag,
    /// The quota for the arguments of running tasks.
    kept: Arc<Quota>,
}

impl TaskHost {
    pub(crate) fn new(store: TaskStore, settings: TaskSettings, kept: Arc<Quota>) -> Self {
        Self {
            settings,
            store,
            runner: OnceLock::new(),
            closing: CancelFlag::default(),
            kept,
        }
    }

    /// Returns the task runner, which is created for the first call that needs it.
    pub(crate) fn runner(&self) -> Option<Arc<dyn TaskRunner>> {
        let open = OPEN.get()?;
        let runner = self.runner.get_or_init(|| {
            let (settings, closing) = (self.settings.clone(), self.closing.clone());
            open(&self.store, settings, closing, Arc::clone(&self.kept))
        });
        Some(Arc::clone(runner))
    }

    /// Ends all tasks, and prevents new ones. Returns how many were left to other replicas.
    pub(crate) async fn close(&self) -> usize {
        self.closing.set();
        match self.runner.get() {
            Some(runner) => Arc::clone(runner).close().await,
            None => 0,
        }
    }

    /// Whether the server is shutting down, so that no task may begin.
    #[cfg(feature = "http")]
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.is_set()
    }

    /// Returns the data for continuing tasks of other replicas, if there are other replicas.
    #[cfg(feature = "http")]
    pub(crate) fn restarts(&self) -> Option<&Arc<Restarts>> {
        match &self.store {
            TaskStore::Leased(restarts) => Some(restarts),
            TaskStore::Memory | TaskStore::Given(_) => None,
        }
    }
}
