//! Starts a task for a call.

use std::{
    future::{Future as _, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use turnbuckle_protocol::{CallToolResult, IdRef, Revision, envelope};
use turnbuckle_store::task::Restart;
use turnbuckle_transport::Limits;

use super::{
    Answering, RunningTasks, TaskMode,
    restart::Turn,
    runner::StartCall,
    running_tasks::{new_id, owner},
    stored_call::StoredCall,
    wire,
    work::Work,
};
use crate::{
    Failure,
    engine::{
        Incoming, Responder, Response, Sink as _, StartedCall,
        answer::{self, ResultOf},
        exchange::Ending,
    },
    handler::TaskChannel,
};

/// A call that may become a task.
struct Launch {
    responder: Arc<Responder>,
    work: Work,
    /// The id of the task, if the call becomes one.
    id: String,
    /// The call in the form in which it is stored for other replicas, if they may continue the
    /// task.
    kept: Option<String>,
}

/// Runs a call that is or may become a task. `start` starts it with its channel.
pub(super) fn launch(
    tasks: Arc<RunningTasks>,
    responder: &Arc<Responder>,
    incoming: &Incoming<'_>,
    mode: TaskMode,
    start: StartCall<'_>,
) -> Answering {
    let mut response = Response::default();
    let entered = tasks.enter(
        incoming.caller(),
        incoming.peer.quota_key(),
        weight(incoming),
    );
    let (slot, task) = match entered.and_then(|slot| Ok((slot, new_id()?))) {
        Ok(entered) => entered,
        Err(reject) => {
            let (revision, id) = (incoming.revision, incoming.id);
            response.put(|out| answer::write_reject(revision, id, reject, out));
            return Answering::Now(response);
        }
    };
    let channel = Arc::new(match mode {
        TaskMode::WhenSaid | TaskMode::Never => TaskChannel::later(),
        TaskMode::UnlessDone(_) | TaskMode::AtOnce(_) => TaskChannel::immediate(),
    });
    let running = match begun(incoming.revision, start(Arc::clone(&channel))) {
        Ok(running) => running,
        Err(failure) => {
            let outcome = Err::<CallToolResult, _>(failure);
            let (revision, id) = (incoming.revision, incoming.id);
            let tool = ResultOf::Request(incoming.params);
            response.put(|out| responder.write(revision, id, outcome, &tool, out));
            return Answering::Now(response);
        }
    };
    let (run, guard) = running.into_run();
    let kept = tasks.restarts.as_ref().and_then(|restarts| {
        let call = StoredCall::of(incoming, &task, owner(incoming.caller()))?;
        restarts.keep(&call)
    });
    let mut launch = Launch {
        responder: Arc::clone(responder),
        id: task,
        kept,
        work: Work {
            tasks,
            slot,
            channel,
            run,
            guard,
            revision: incoming.revision,
            responder: Arc::clone(responder),
            tool: ResultOf::Request(incoming.params).into_static(),
            standing: incoming.peer.standing(),
            turn: None,
            deadline: None,
        },
    };
    if let TaskMode::UnlessDone(_) = mode
        && let Some(ending) = launch.poll_once()
    {
        launch.end(ending, incoming.id, &mut response);
        return Answering::Now(response);
    }
    let id = incoming.id.clone().into_static();
    Answering::Later(Box::pin(async move {
        match mode {
            TaskMode::UnlessDone(ttl) | TaskMode::AtOnce(ttl) => {
                launch.begin(ttl, &id, &mut response).await;
            }
            TaskMode::WhenSaid | TaskMode::Never => launch.wait(&id, &mut response).await,
        }
        response
    }))
}

/// The memory for the arguments of a call while it runs, in bytes.
fn weight(incoming: &Incoming<'_>) -> usize {
    incoming.params.get("arguments").map_or(0, |arguments| {
        arguments.get().len() + Limits::bytes_of_nodes(arguments.nodes())
    })
}

/// In a session, arguments that do not match also end in a task, because the client asked for a
/// task. Other clients get the error as the answer to their call, and so does a session if the
/// error is a JSON-RPC error.
fn begun(
    revision: Revision,
    started: Result<StartedCall<CallToolResult>, Failure>,
) -> Result<StartedCall<CallToolResult>, Failure> {
    match started {
        Err(failure) if !revision.is_modern() && !matches!(failure, Failure::Reject(_)) => {
            Ok(StartedCall::failed(failure))
        }
        started => started,
    }
}

impl Launch {
    /// Returns the outcome of the call, if it is ready without waiting.
    fn poll_once(&mut self) -> Option<Ending<CallToolResult>> {
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.work.run).poll(&mut context) {
            Poll::Ready(ending) => Some(ending),
            Poll::Pending => None,
        }
    }

    /// Runs the call until it ends, asks a question, or moves to the background.
    async fn wait(mut self, id: &IdRef<'_>, response: &mut Response) {
        let ending = {
            let (run, channel) = (&mut self.work.run, &self.work.channel);
            let mut stirred = pin!(channel.changed());
            poll_fn(|context| {
                if let Poll::Ready(ending) = Pin::new(&mut *run).poll(context) {
                    return Poll::Ready(Some(ending));
                }
                while stirred.as_mut().poll(context).is_ready() {
                    stirred.set(channel.changed());
                }
                if channel.wants_to_begin() {
                    return Poll::Ready(None);
                }
                Poll::Pending
            })
            .await
        };
        match ending {
            None => {
                let ttl = self.work.tasks.settings.ttl;
                self.begin(ttl, id, response).await;
            }
            Some(ending) => self.end(ending, id, response),
        }
    }

    /// Answers a call that did not become a task.
    fn end(self, ending: Ending<CallToolResult>, id: &IdRef<'_>, response: &mut Response) {
        let revision = self.work.revision;
        self.work.guard.disarm();
        let tool = &self.work.tool;
        response.put(|out| ending.write(&self.responder, revision, id, tool, out));
    }

    /// Returns the data that other replicas need to continue the task, if they may.
    fn restart(&mut self) -> Option<Restart> {
        let restarts = self.work.tasks.restarts.as_ref()?;
        let journal = restarts.journal(&self.id, &self.work.run)?;
        let takeovers = self.work.tasks.settings.max_takeovers;
        Some(Restart::new(self.kept.take()?, journal, takeovers))
    }

    /// Creates the task, and answers the call with it.
    async fn begin(mut self, ttl: Duration, id: &IdRef<'_>, response: &mut Response) {
        // tasks: a server MUST NOT answer with a task until it is durably created.
        let revision = self.work.revision;
        let restart = self.restart();
        let record = match self.work.slot.begin(&self.id, ttl, restart).await {
            Ok(record) => record,
            Err(reject) => {
                response.put(|out| answer::write_reject(revision, id, reject, out));
                return;
            }
        };
        response.put_with(|out| {
            envelope::write_result(out, id, |out| {
                wire::created(&self.responder, revision, &record, out)
            })
            .expect("a task is plain JSON");
        });
        if let (Some(restarts), Some(restart)) = (&self.work.tasks.restarts, &record.restart) {
            self.work.channel.keep_journal();
            self.work.turn = Some(Turn {
                restarts: Arc::clone(restarts),
                number: restart.turn,
            });
        }
        self.work.channel.begin(&record.task.task_id);
        if let Some(asking) = self.work.run.asking() {
            asking.on_task(&self.work.channel);
        }
        // This task ends when the work is done, when the task expires, or when the server shuts
        // down.
        tokio::spawn(self.work.run(record));
    }
}
