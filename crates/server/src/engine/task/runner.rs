//! `TaskRunner`: the trait by which the rest of the server uses tasks.
//!
//! What runs tasks is a quarter of a small server. Only a tool that may run as a task mentions it,
//! with `link`, so a program without such a tool is linked without it.

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

/// Where tasks run, as the rest of the server sees it.
pub(crate) trait TaskRunner: Send + Sync {
    /// Runs a call that is or may become a task. `start` begins it with its channel.
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

    /// Hears of tasks of a caller, for a subscription.
    fn listen(
        self: Arc<Self>,
        caller: &Caller,
        subscription: Id,
        revision: Revision,
        tasks: &[String],
    ) -> Box<dyn TaskNews>;

    /// Ends all tasks, and says so where they are kept. Returns how many are left to other replicas.
    fn close(self: Arc<Self>) -> BoxFuture<'static, usize>;
}

/// Begins a call with its channel.
pub(crate) type StartCall<'a> =
    &'a dyn Fn(Arc<TaskChannel>) -> Result<StartedCall<CallToolResult>, Failure>;

/// Makes a runner, with a store if the author gave one. The flag says that the server ends; the quota
/// pays for what running tasks hold.
type OpenRunner = fn(&TaskStore, TaskSettings, CancelFlag, Arc<Quota>) -> Arc<dyn TaskRunner>;

/// How a runner is made. Set by the first tool that may run as a task.
static OPEN: OnceLock<OpenRunner> = OnceLock::new();

/// Links what runs tasks into the program.
pub(super) fn link(open: OpenRunner) {
    let _ = OPEN.set(open);
}

/// Where tasks are kept.
pub(crate) enum TaskStore {
    /// In the memory of this process.
    Memory,
    /// Where the author said.
    Given(Arc<dyn Tasks>),
    /// Where all replicas find them.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "only HTTP has replicas")
    )]
    Leased(Arc<Restarts>),
}

/// When an answer comes.
pub(crate) enum Answering {
    Now(Response),
    Later(BoxFuture<'static, Response>),
}

impl Answering {
    /// Appends an answer that is there, and returns one that comes later.
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

/// How the tasks of a server run, and where, once there is a tool that may.
pub(crate) struct TaskHost {
    pub(crate) settings: TaskSettings,
    store: TaskStore,
    runner: OnceLock<Arc<dyn TaskRunner>>,
    /// The server ends.
    closing: CancelFlag,
    /// Pays for what running tasks hold.
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

    /// What runs tasks, made for the first call that needs it.
    pub(crate) fn runner(&self) -> Option<Arc<dyn TaskRunner>> {
        let open = OPEN.get()?;
        let runner = self.runner.get_or_init(|| {
            let (settings, closing) = (self.settings.clone(), self.closing.clone());
            open(&self.store, settings, closing, Arc::clone(&self.kept))
        });
        Some(Arc::clone(runner))
    }

    /// Ends all tasks, and lets none begin any more. Returns how many are left to other replicas.
    pub(crate) async fn close(&self) -> usize {
        self.closing.set();
        match self.runner.get() {
            Some(runner) => Arc::clone(runner).close().await,
            None => 0,
        }
    }

    /// Whether tasks may still begin here.
    #[cfg(feature = "http")]
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.is_set()
    }

    /// For tasks that other replicas may go on with, if there are other replicas.
    #[cfg(feature = "http")]
    pub(crate) fn restarts(&self) -> Option<&Arc<Restarts>> {
        match &self.store {
            TaskStore::Leased(restarts) => Some(restarts),
            TaskStore::Memory | TaskStore::Given(_) => None,
        }
    }
}
