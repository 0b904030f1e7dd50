//! A task at work: the call is driven on, what it asks and says is written down, and what clients
//! answer is brought to it.

use std::{
    collections::BTreeSet,
    future::{Future as _, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use turnbuckle_base::wall_clock;
use turnbuckle_protocol::{CallToolResult, ErrorObject, InputRequests, Revision, envelope};
use turnbuckle_store::task::{
    Changed, TaskChange, TaskEnd, TaskKey, TaskRecord, TasksError, millis,
};
use turnbuckle_transport::Outbox;

use super::{RunningTasks, deliver::RefusedAnswer, ending, running_tasks::TaskSlot, wire};
use crate::{
    Failure,
    client::CancelOnDrop,
    engine::{
        answer::Responder,
        exchange::{CallRun, Ending},
    },
    handler::TaskChannel,
};

/// Attempts to write something down before a store counts as lost, and the pause after the first;
/// each is twice as long as the one before, which makes six seconds in all.
const ATTEMPTS: u32 = 7;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// A task at work.
pub(super) struct Work {
    pub(super) tasks: Arc<RunningTasks>,
    pub(super) slot: TaskSlot,
    pub(super) channel: Arc<TaskChannel>,
    pub(super) run: CallRun<CallToolResult>,
    pub(super) guard: CancelOnDrop,
    pub(super) revision: Revision,
    pub(super) responder: Arc<Responder>,
    /// The outbox for notifications to the session.
    pub(super) standing: Option<Outbox>,
}

/// What happens next.
enum TaskEvent {
    /// The call came to its end.
    Done(Result<CallToolResult, Failure>),
    /// Its open questions are others now.
    Asks(InputRequests),
    /// It said how far it is.
    Says(String),
    /// Something happened to the task where it is kept.
    Changed,
    /// The server ends.
    Closing,
    /// The task was cancelled here, or its time is over.
    Stopped,
}

/// What is known of the task.
struct Known {
    key: TaskKey,
    record: Arc<TaskRecord>,
    /// The keys of the questions that are written down.
    asked: Vec<String>,
    /// The keys of the answers that the call has.
    taken: BTreeSet<String>,
}

impl Work {
    /// Works until the end, whichever it is.
    pub(super) async fn run(mut self, record: Arc<TaskRecord>) {
        let mut known = Known {
            key: record.key(),
            record,
            asked: Vec::new(),
            taken: BTreeSet::new(),
        };
        loop {
            let change = match self.next(&known).await {
                TaskEvent::Done(outcome) => {
                    self.guard.disarm();
                    let end = ending::of(&self.responder, outcome, self.revision);
                    // What the call held is released before its end is reported.
                    drop(self.run);
                    return finish(&self.tasks, &known, end, self.standing.as_ref()).await;
                }
                TaskEvent::Closing => {
                    drop((self.run, self.guard));
                    let end = ending::shut_down();
                    return finish(&self.tasks, &known, end, self.standing.as_ref()).await;
                }
                TaskEvent::Stopped => return,
                TaskEvent::Changed => match self.look(&mut known).await {
                    Some(()) => continue,
                    None => return,
                },
                TaskEvent::Asks(open) => {
                    known.asked = open.keys().cloned().collect();
                    TaskChange::Ask(open)
                }
                TaskEvent::Says(words) => TaskChange::Say(words),
            };
            match write_down(&self.tasks, &known.key, change).await {
                Ok(Changed::Now(record)) => self.see(&mut known, record),
                Ok(Changed::Over(_) | Changed::Unknown) => return,
                Err(_) => {
                    drop((self.run, self.guard));
                    let end = ending::lost();
                    return finish(&self.tasks, &known, end, self.standing.as_ref()).await;
                }
            }
        }
    }

    async fn next(&mut self, known: &Known) -> TaskEvent {
        let Self {
            tasks,
            slot,
            channel,
            run,
            ..
        } = self;
        let mut cancelled = pin!(slot.cancel.wait());
        let mut closing = pin!(tasks.closing.wait());
        let mut stirred = pin!(channel.changed());
        let mut changed = pin!(tasks.store.changed(&known.key, known.record.version));
        let mut expired = pin!(expired(&known.record));
        poll_fn(|context| {
            if cancelled.as_mut().poll(context).is_ready()
                || expired.as_mut().poll(context).is_ready()
            {
                return Poll::Ready(TaskEvent::Stopped);
            }
            if closing.as_mut().poll(context).is_ready() {
                return Poll::Ready(TaskEvent::Closing);
            }
            if let Poll::Ready(ending) = Pin::new(&mut *run).poll(context) {
                return Poll::Ready(TaskEvent::Done(ending.into_outcome()));
            }
            let open = run
                .asking()
                .and_then(|asking| asking.open_unless(&known.asked));
            if let Some(open) = open {
                return Poll::Ready(TaskEvent::Asks(open));
            }
            // Registered before the look, so that nothing is said in between.
            let is_stirred = stirred.as_mut().poll(context).is_ready();
            if let Some(words) = channel.take_words() {
                return Poll::Ready(TaskEvent::Says(words));
            }
            if is_stirred {
                // A wish of a task that has begun, or words that were taken already.
                context.waker().wake_by_ref();
                stirred.set(channel.changed());
            }
            // A store that cannot be watched is looked at when there is something to write.
            match changed.as_mut().poll(context) {
                Poll::Ready(Ok(())) => Poll::Ready(TaskEvent::Changed),
                Poll::Ready(Err(error)) => {
                    tracing::error!(%error, "a task cannot be watched");
                    changed.set(Box::pin(std::future::pending()));
                    Poll::Pending
                }
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Brings new answers to the call; `None` if the task is over or gone.
    async fn look(&mut self, known: &mut Known) -> Option<()> {
        let found = self.tasks.store.get(&known.key, wall_clock::now()).await;
        let record = match found {
            Ok(found) => found.filter(|record| !record.is_over())?,
            Err(error) => {
                tracing::error!(%error, "a task cannot be looked at");
                tokio::time::sleep(FIRST_PAUSE).await;
                return Some(());
            }
        };
        if let Some(asking) = self.run.asking() {
            for (key, answer) in &record.answers {
                if !known.taken.insert(key.clone()) {
                    continue;
                }
                if let Some(error) = RefusedAnswer::read(answer) {
                    self.channel.refuse(key.clone(), error);
                } else if let Err(bad) = asking.take_answer(key, answer) {
                    let error = ErrorObject::invalid_params(bad.to_string());
                    self.channel.refuse(key.clone(), error);
                }
            }
            known.asked.retain(|key| !record.answers.contains_key(key));
            self.channel.answered();
        }
        self.see(known, record);
        Some(())
    }

    fn see(&self, known: &mut Known, record: Arc<TaskRecord>) {
        tell(self.standing.as_ref(), &known.record, &record);
        known.record = record;
    }
}

impl Ending<CallToolResult> {
    /// A task has begun, so its call cannot pause; if it does, that is our fault.
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        match self {
            Self::Done(outcome) => outcome,
            Self::Paused(_) => Err(Failure::Fault(crate::Fault::new("a task was paused"))),
        }
    }
}

/// Waits until the time of a task is over.
async fn expired(record: &TaskRecord) {
    match record.expires_ms() {
        None => std::future::pending().await,
        Some(expires) => {
            let left = expires.saturating_sub(millis(wall_clock::now()));
            tokio::time::sleep(Duration::from_millis(left)).await;
        }
    }
}

/// Lets something happen to the task, with patience for a store that is away for a moment.
async fn write_down(
    tasks: &RunningTasks,
    key: &TaskKey,
    change: TaskChange,
) -> Result<Changed, TasksError> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        let done = tasks
            .store
            .change(key, change.clone(), wall_clock::now())
            .await;
        match done {
            Err(TasksError::Store(error)) => tracing::warn!(%error, "a task is written again"),
            done => return done,
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    tasks.store.change(key, change, wall_clock::now()).await
}

/// Stores how the task ended.
async fn finish(tasks: &RunningTasks, known: &Known, end: TaskEnd, standing: Option<&Outbox>) {
    let mut done = write_down(tasks, &known.key, TaskChange::End(end)).await;
    if let Err(TasksError::TooLarge { bytes }) = done {
        let end = TaskChange::End(ending::too_large(bytes));
        done = write_down(tasks, &known.key, end).await;
    }
    match done {
        Ok(Changed::Now(record)) => {
            tracing::debug!(task = known.key.id, status = ?record.task.state.status(), "a task ended");
            tell(standing, &known.record, &record);
        }
        // It was cancelled, or has been forgotten.
        Ok(Changed::Over(_) | Changed::Unknown) => {}
        Err(error) => tracing::error!(task = known.key.id, %error, "the end of a task is lost"),
    }
}

/// Notifies a session that the status of its task changed, if the session reads at all. tasks:
/// requestors MUST NOT rely on it, so this does not wait.
fn tell(standing: Option<&Outbox>, before: &TaskRecord, now: &TaskRecord) {
    let Some(outbox) = standing else { return };
    if before.task.state.status() == now.task.state.status() {
        return;
    }
    let mut message = Vec::new();
    let method = "notifications/tasks/status";
    if envelope::write_notification(&mut message, method, &wire::legacy(now)).is_ok() {
        let _ = outbox.try_send_with(|out| out.extend_from_slice(&message));
    }
}
