//! The door to tasks: all that the rest of the server wants of them goes through it.
//!
//! What is behind it is a quarter of a small server. Only a tool that may run as a task mentions
//! how the door is opened, so a program without such a tool is linked without what it leads to.

use std::sync::{Arc, OnceLock};

use turnbuckle_protocol::{CallToolResult, Id};
use turnbuckle_store::task::Tasks;

use super::{Board, TaskNews, TaskSettings, Wish};
use crate::{
    Caller, Failure, Reject,
    cancel::CancelFlag,
    exchange::{Running, Step},
    handler::BoxFuture,
    method::Incoming,
    sink::{Response, Sink},
};

/// Where tasks run, as the rest of the server sees it.
pub(crate) trait Room: Send + Sync {
    /// Runs a call that is or may become a task. `start` begins it with its board.
    fn launch(self: Arc<Self>, incoming: &Incoming<'_>, wish: Wish, start: Start<'_>) -> Answering;

    /// Serves a method of tasks.
    fn serve(self: Arc<Self>, method: &str, incoming: &Incoming<'_>) -> Result<Answering, Reject>;

    /// Hears of tasks of a caller, for a subscription.
    fn listen(
        self: Arc<Self>,
        caller: &Caller,
        subscription: Id,
        tasks: &[String],
    ) -> Box<dyn TaskNews>;

    /// Ends all tasks, and says so where they are kept.
    fn close(self: Arc<Self>) -> BoxFuture<()>;
}

/// Begins a call.
pub(crate) type Start<'a> =
    &'a dyn Fn(&Incoming<'_>, Arc<Board>) -> Result<Running<CallToolResult>, Failure>;

/// Makes a room, with a store if the author gave one. The flag says that the server ends.
pub(crate) type Open = fn(Option<Arc<dyn Tasks>>, TaskSettings, CancelFlag) -> Arc<dyn Room>;

/// When an answer comes.
pub(crate) enum Answering {
    Now(Response),
    Later(BoxFuture<Response>),
}

impl Answering {
    /// Appends an answer that is there.
    pub(crate) fn step(self, out: &mut impl Sink) -> Step {
        match self {
            Self::Later(response) => Step::Later(response),
            Self::Now(response) => {
                let wrote = response.wrote;
                out.put(|out| {
                    out.extend_from_slice(&response.into_message());
                    wrote
                });
                Step::Done
            }
        }
    }
}

/// How the tasks of a server run, and where, once there is a tool that may.
#[derive(Default)]
pub(crate) struct Entrance {
    pub(crate) settings: TaskSettings,
    store: Option<Arc<dyn Tasks>>,
    room: OnceLock<Arc<dyn Room>>,
    /// The server ends.
    closing: CancelFlag,
}

impl Entrance {
    pub(crate) fn new(store: Option<Arc<dyn Tasks>>, settings: TaskSettings) -> Self {
        Self {
            settings,
            store,
            ..Self::default()
        }
    }

    /// The room, opened by whoever needs it first.
    pub(crate) fn room(&self, open: Open) -> Arc<dyn Room> {
        let room = self.room.get_or_init(|| {
            open(
                self.store.clone(),
                self.settings.clone(),
                self.closing.clone(),
            )
        });
        Arc::clone(room)
    }

    /// Ends all tasks, and lets none begin any more.
    pub(crate) async fn close(&self) {
        self.closing.set();
        if let Some(room) = self.room.get() {
            Arc::clone(room).close().await;
        }
    }
}
