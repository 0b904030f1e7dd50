//! A call becomes a task.

use std::{
    future::{Future as _, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use turnbuckle_protocol::{
    CallToolResult, ClientCapabilities, ErrorObject, IdRef, JsonObject, Revision, TASKS_EXTENSION,
    TaskMetadata, TaskSupport, envelope,
    method::{Direction, available},
};
use turnbuckle_store::task::TaskRecord;
use turnbuckle_transport::Outbox;

use super::{Answering, Board, Workshop, room::Start, wire, work::Work, workshop::Place};
use crate::{
    Failure, Reject, answer,
    cancel::CancelOnDrop,
    catalog::ToolEntry,
    exchange::{Ending, Round, Running},
    method::Incoming,
    shared::Shared,
    sink::{Response, Sink as _, Wrote},
};

/// Whether a call becomes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// It does not.
    Never,
    /// Where its handler says so.
    WhenSaid,
    /// If it is not done at once.
    UnlessDone(Duration),
    /// It does, whatever it gives.
    AtOnce(Duration),
}

impl Wish {
    /// What becomes of a call of this tool.
    ///
    /// # Errors
    /// If the tool and the client do not agree on tasks.
    pub(crate) fn of(incoming: &Incoming<'_>, tool: &ToolEntry) -> Result<Self, Reject> {
        if incoming.revision.is_modern() {
            return Self::modern(incoming, tool);
        }
        let settings = &incoming.shared.tasks.settings;
        let asked = incoming
            .params
            .get("task")
            .filter(|_| speaks_of_tasks(incoming.revision));
        let Some(asked) = asked else {
            return match tool.task {
                // tasks: servers MUST answer -32601 where a task is required and none is asked for.
                Some(TaskSupport::Required) if speaks_of_tasks(incoming.revision) => Err(
                    unsupported(tool, "runs only as a task: call it with `task`"),
                ),
                Some(TaskSupport::Required) => {
                    let revision = incoming.revision;
                    let problem = format!("runs only as a task, which {revision} does not have");
                    Err(unsupported(tool, &problem))
                }
                _ => Ok(Self::Never),
            };
        };
        let asked = asked
            .parse::<TaskMetadata>()
            .map_err(|error| Reject::invalid_params(format!("`params.task`: {error}")))?;
        match tool.task {
            Some(TaskSupport::Optional | TaskSupport::Required) => {
                Ok(Self::AtOnce(settings.grant(asked.ttl)))
            }
            // tasks: who declares no capability MUST ignore the wish.
            _ if !incoming.shared.catalog().runs_tasks() => Ok(Self::Never),
            _ => Err(unsupported(
                tool,
                "does not run as a task: call it without `task`",
            )),
        }
    }

    fn modern(incoming: &Incoming<'_>, tool: &ToolEntry) -> Result<Self, Reject> {
        let ttl = incoming.shared.tasks.settings.ttl;
        match tool.task {
            Some(TaskSupport::Optional | TaskSupport::Required)
                if declares_tasks(incoming) && tool.begins_task =>
            {
                Ok(Self::WhenSaid)
            }
            Some(TaskSupport::Optional) if declares_tasks(incoming) => Ok(Self::UnlessDone(ttl)),
            Some(TaskSupport::Required) if declares_tasks(incoming) => Ok(Self::AtOnce(ttl)),
            Some(TaskSupport::Required) => Err(undeclared()),
            _ => Ok(Self::Never),
        }
    }
}

fn unsupported(tool: &ToolEntry, problem: &str) -> Reject {
    let error = ErrorObject::new(
        turnbuckle_protocol::error::code::METHOD_NOT_FOUND,
        format!("the tool `{}` {problem}", tool.wire.name),
    );
    Reject::of(error)
}

/// Whether calls of this revision may ask to become tasks.
fn speaks_of_tasks(revision: Revision) -> bool {
    available("tasks/result", revision, Direction::ToServer)
}

/// Whether a modern request declares that its client knows tasks.
pub(crate) fn declares_tasks(incoming: &Incoming<'_>) -> bool {
    let meta = incoming.params.meta();
    meta.and_then(|meta| meta.client_capabilities)
        .and_then(|raw| serde_json::from_str::<ClientCapabilities>(raw.get()).ok())
        .is_some_and(|client| client.extension(TASKS_EXTENSION).is_some())
}

/// tasks: a client that does not declare the extension MUST get -32021.
pub(crate) fn undeclared() -> Reject {
    let required = ClientCapabilities::new().with_extension(TASKS_EXTENSION, JsonObject::new());
    Reject::of(ErrorObject::missing_capability(
        format!("this needs the client to declare the extension `{TASKS_EXTENSION}`"),
        required,
    ))
}

/// What a call needs to become a task.
struct Launch {
    shared: Arc<Shared>,
    workshop: Arc<Workshop>,
    place: Place,
    board: Arc<Board>,
    round: Round<CallToolResult>,
    guard: CancelOnDrop,
    revision: Revision,
    standing: Option<Outbox>,
}

/// Runs a call that is or may become a task. `start` begins it with its board.
pub(super) fn launch(
    workshop: Arc<Workshop>,
    incoming: &Incoming<'_>,
    wish: Wish,
    start: Start<'_>,
) -> Answering {
    let mut response = Response::default();
    let place = match workshop.enter(incoming.peer.caller()) {
        Ok(place) => place,
        Err(reject) => {
            let (revision, id) = (incoming.revision, &incoming.id);
            response.put(|out| answer::write_reject(revision, id, reject, out));
            return Answering::Now(response);
        }
    };
    let board = Arc::new(match wish {
        Wish::WhenSaid | Wish::Never => Board::later(),
        Wish::UnlessDone(_) | Wish::AtOnce(_) => Board::immediate(),
    });
    let running = match begun(incoming.revision, start(incoming, Arc::clone(&board))) {
        Ok(running) => running,
        Err(failure) => {
            let (shared, revision) = (incoming.shared, incoming.revision);
            let outcome = Err::<CallToolResult, _>(failure);
            response.put(|out| answer::write(shared, revision, &incoming.id, outcome, out));
            return Answering::Now(response);
        }
    };
    let (round, cancel) = running.into_round();
    let mut launch = Launch {
        shared: Arc::clone(incoming.shared),
        workshop,
        place,
        board,
        round,
        guard: CancelOnDrop::new(cancel),
        revision: incoming.revision,
        standing: incoming.peer.standing(),
    };
    if let Wish::UnlessDone(_) = wish
        && let Some(ending) = launch.poll_once()
    {
        launch.guard.disarm();
        response.put(|out| ending.write(&launch.shared, launch.revision, &incoming.id, out));
        return Answering::Now(response);
    }
    let id = incoming.id.clone().into_static();
    Answering::Later(Box::pin(async move {
        match wish {
            Wish::UnlessDone(ttl) | Wish::AtOnce(ttl) => {
                launch.begin(ttl, &id, &mut response).await;
            }
            Wish::WhenSaid | Wish::Never => launch.wait(&id, &mut response).await,
        }
        response
    }))
}

/// A session gets a task for what it was promised one, also if the arguments do not fit; everybody
/// else hears of mistakes at once, and so does a session of those that are no result.
fn begun(
    revision: Revision,
    started: Result<Running<CallToolResult>, Failure>,
) -> Result<Running<CallToolResult>, Failure> {
    match started {
        Err(failure) if !revision.is_modern() && !matches!(failure, Failure::Reject(_)) => {
            Ok(Running::failed(failure))
        }
        started => started,
    }
}

impl Launch {
    /// What the call gives, if it is done without waiting.
    fn poll_once(&mut self) -> Option<Ending<CallToolResult>> {
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.round).poll(&mut context) {
            Poll::Ready(ending) => Some(ending),
            Poll::Pending => None,
        }
    }

    /// Runs the call until it ends, asks, or says that it goes to the background.
    async fn wait(mut self, id: &IdRef<'_>, response: &mut Response) {
        let ending = {
            let (round, board) = (&mut self.round, &self.board);
            let mut stirred = pin!(board.stirred());
            poll_fn(|context| {
                if let Poll::Ready(ending) = Pin::new(&mut *round).poll(context) {
                    return Poll::Ready(Some(ending));
                }
                while stirred.as_mut().poll(context).is_ready() {
                    stirred.set(board.stirred());
                }
                if board.is_wished() {
                    return Poll::Ready(None);
                }
                Poll::Pending
            })
            .await
        };
        match ending {
            None => {
                let ttl = self.workshop.settings.ttl;
                self.begin(ttl, id, response).await;
            }
            Some(ending) => {
                self.guard.disarm();
                response.put(|out| ending.write(&self.shared, self.revision, id, out));
            }
        }
    }

    /// Begins the task, and answers the call with it.
    async fn begin(mut self, ttl: Duration, id: &IdRef<'_>, response: &mut Response) {
        // tasks: a server MUST NOT answer with a task until it is durably created.
        let record = match self.place.begin(ttl).await {
            Ok(record) => record,
            Err(reject) => {
                response.put(|out| answer::write_reject(self.revision, id, reject, out));
                return;
            }
        };
        response.put(|out| {
            envelope::write_result(out, id, |out| {
                wire::created(&self.shared, self.revision, &record, out)
            })
            .expect("a task is plain JSON");
            Wrote::Result
        });
        self.go(record);
    }

    /// Lets the work go on by itself. The workshop ends it, or its own time.
    fn go(self, record: Arc<TaskRecord>) {
        self.board.begin(&record.task.task_id);
        if let Some(asking) = self.round.asking() {
            asking.on_task(&self.board);
        }
        let work = Work {
            workshop: self.workshop,
            place: self.place,
            board: self.board,
            round: self.round,
            guard: self.guard,
            revision: self.revision,
            standing: self.standing,
        };
        tokio::spawn(work.run(record));
    }
}
