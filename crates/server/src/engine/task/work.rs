//! Runs a task: polls the call, stores its questions and its progress, and passes it the answers of
//! clients.

use std::{
    collections::BTreeSet,
    future::{Future as _, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use tokio::time::Instant;
use turnbuckle_base::wall_clock;
use turnbuckle_protocol::{CallToolResult, ErrorObject, InputRequests, Revision, envelope};
use turnbuckle_store::task::{
    Changed, JournalChange, TaskChange, TaskEnd, TaskKey, TaskRecord, TasksError, millis,
};
use turnbuckle_transport::Outbox;

use super::{
    RunningTasks, deliver::RefusedAnswer, ending, restart::Turn, running_tasks::TaskSlot, wire,
};
use crate::{
    Failure,
    client::CancelOnDrop,
    engine::{
        answer::{Responder, ResultOf},
        exchange::{CallRun, Ending},
    },
    handler::TaskChannel,
};

/// How many times a change is tried before the store counts as lost, and the pause after the first
/// attempt. Each pause is twice as long as the one before, six seconds in all.
const ATTEMPTS: u32 = 7;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// How long an effect that must happen only once may take to finish when the server shuts down.
const MEMO_TIMEOUT: Duration = Duration::from_secs(5);

/// A running task.
pub(super) struct Work {
    pub(super) tasks: Arc<RunningTasks>,
    pub(super) slot: TaskSlot,
    pub(super) channel: Arc<TaskChannel>,
    pub(super) run: CallRun<CallToolResult>,
    pub(super) guard: CancelOnDrop,
    pub(super) revision: Revision,
    pub(super) responder: Arc<Responder>,
    /// The tool that was called.
    pub(super) tool: ResultOf<'static>,
    /// The outbox for notifications to the session, if there is one.
    pub(super) standing: Option<Outbox>,
    /// Set if other replicas may continue the task.
    pub(super) turn: Option<Turn>,
    /// The time until which running effects may finish, once the server is shutting down.
    pub(super) deadline: Option<Instant>,
}

/// The next event of a running task.
enum TaskEvent {
    /// The call has ended.
    Done(Result<CallToolResult, Failure>),
    /// The call has other open questions than before.
    Asks(InputRequests),
    /// The call reported progress.
    Says(String),
    /// The journal has additions that must be stored.
    Remembers,
    /// The server is shutting down, and an effect has to finish first.
    Waits,
    /// The task was changed in the store.
    Changed,
    /// The server is shutting down.
    Closing,
    /// The task was cancelled on this replica, or it has expired.
    Stopped,
}

/// The state of the task as this replica knows it.
struct Known {
    key: TaskKey,
    record: Arc<TaskRecord>,
    /// The keys of the questions that are stored.
    asked: Vec<String>,
    /// The keys of the answers that the call has received.
    taken: BTreeSet<String>,
}

impl Work {
    /// Runs the task to its end.
    pub(super) async fn run(mut self, record: Arc<TaskRecord>) {
        let mut known = Known {
            key: record.key(),
            record,
            asked: Vec::new(),
            taken: BTreeSet::new(),
        };
        loop {
            let (change, journal) = match self.next(&known).await {
                TaskEvent::Done(outcome) => {
                    self.guard.disarm();
                    let end = ending::of(&self.responder, outcome, self.revision, &self.tool);
                    // The resources of the call are released before its end is reported.
                    drop(self.run);
                    let turn = self.turn.as_ref();
                    return finish(&self.tasks, &known, end, turn, self.standing.as_ref()).await;
                }
                TaskEvent::Closing => return self.close(&known).await,
                TaskEvent::Stopped => return,
                TaskEvent::Waits => continue,
                TaskEvent::Changed => match self.look(&mut known).await {
                    Some(()) => continue,
                    None => return,
                },
                TaskEvent::Asks(open) => {
                    known.asked = open.keys().cloned().collect();
                    (Some(TaskChange::Ask(open)), Remember::All)
                }
                TaskEvent::Says(words) => (Some(TaskChange::Say(words)), Remember::Nothing),
                TaskEvent::Remembers => (None, Remember::All),
            };
            match self.write(&known.key, change, journal).await {
                Ok(Changed::Now(record)) => {
                    self.bring(&mut known, &record);
                    self.see(&mut known, record);
                }
                Ok(Changed::Over(_) | Changed::Unknown) => return,
                Err(_) => {
                    drop((self.run, self.guard));
                    let (end, turn) = (ending::lost(), self.turn.as_ref());
                    return finish(&self.tasks, &known, end, turn, self.standing.as_ref()).await;
                }
            }
        }
    }

    /// Hands over the task to another replica, or stores that the server shut down.
    async fn close(self, known: &Known) {
        drop((self.run, self.guard));
        if let Some(turn) = &self.turn
            && self.channel.keeps_journal()
        {
            let hand_over = TaskChange::HandOver { turn: turn.number };
            let handed = write_down(&self.tasks, &known.key, hand_over).await;
            if let Ok(Changed::Now(record)) = handed
                && record.restart.is_some()
            {
                tracing::debug!(
                    task = known.key.id,
                    "a task was handed over to other replicas"
                );
                self.tasks.handed_over.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        let (end, turn) = (ending::shut_down(), self.turn.as_ref());
        finish(&self.tasks, known, end, turn, self.standing.as_ref()).await;
    }

    /// Changes the task, and stores the current journal with the change.
    async fn write(
        &mut self,
        key: &TaskKey,
        change: Option<TaskChange>,
        remember: Remember,
    ) -> Result<Changed, TasksError> {
        let Some(turn) = &self.turn else {
            // The journal is stored only if other replicas may continue the task.
            let change = change.unwrap_or(TaskChange::Ask(InputRequests::new()));
            return write_down(&self.tasks, key, change).await;
        };
        let added = self.channel.unstored();
        let journal = match remember {
            Remember::All if self.channel.keeps_journal() => {
                let journal = turn.restarts.journal(&key.id, &self.run);
                journal.map_or(JournalChange::GiveUp, JournalChange::Now)
            }
            _ => JournalChange::Same,
        };
        let is_new = matches!(journal, JournalChange::Now(_));
        let gives_up = matches!(journal, JournalChange::GiveUp);
        let mut written = write_down(&self.tasks, key, turn.change(journal, change.clone())).await;
        if is_new && let Err(TasksError::TooLarge { bytes }) = written {
            tracing::warn!(
                task = key.id,
                bytes,
                "other replicas cannot continue a task: its journal is too large"
            );
            let change = turn.change(JournalChange::GiveUp, change);
            written = write_down(&self.tasks, key, change).await;
            self.channel.give_up_journal();
        } else if gives_up && written.is_ok() {
            self.channel.give_up_journal();
        } else if let Some(added) = added.filter(|_| is_new && written.is_ok()) {
            self.channel.mark_stored(added);
        }
        written
    }

    async fn next(&mut self, known: &Known) -> TaskEvent {
        let Self {
            tasks,
            slot,
            channel,
            run,
            turn,
            deadline,
            ..
        } = self;
        if deadline.is_none() && tasks.closing.is_set() {
            *deadline = Some(Instant::now() + MEMO_TIMEOUT);
        }
        let mut cancelled = pin!(slot.cancel.wait());
        let mut closing = pin!(tasks.closing.wait());
        let mut late = pin!(late(*deadline));
        let mut stirred = pin!(channel.changed());
        let mut changed = pin!(tasks.store.changed(&known.key, known.record.version));
        let mut expired = pin!(expired(&known.record));
        poll_fn(|context| {
            if cancelled.as_mut().poll(context).is_ready()
                || expired.as_mut().poll(context).is_ready()
            {
                return Poll::Ready(TaskEvent::Stopped);
            }
            if tasks.closing.is_set() || closing.as_mut().poll(context).is_ready() {
                // An effect that must happen only once is allowed to finish, unless it takes too
                // long.
                let asking = run.asking().filter(|_| turn.is_some());
                let is_busy = asking.is_some_and(|asking| asking.has_memo_running());
                if !is_busy || late.as_mut().poll(context).is_ready() {
                    return Poll::Ready(TaskEvent::Closing);
                }
                if deadline.is_none() {
                    return Poll::Ready(TaskEvent::Waits);
                }
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
            // Polled before the channel is read, so that no report in between is missed.
            let is_stirred = stirred.as_mut().poll(context).is_ready();
            if let Some(words) = channel.take_words() {
                return Poll::Ready(TaskEvent::Says(words));
            }
            if channel.unstored().is_some() {
                return Poll::Ready(TaskEvent::Remembers);
            }
            if is_stirred {
                // The notification was for a task that has begun already, or for a report that was
                // already taken.
                context.waker().wake_by_ref();
                stirred.set(channel.changed());
            }
            // If the store cannot be watched, the task is checked when there is something to store.
            match changed.as_mut().poll(context) {
                Poll::Ready(Ok(())) => Poll::Ready(TaskEvent::Changed),
                Poll::Ready(Err(error)) => {
                    tracing::error!(%error, "cannot wait for changes of a task");
                    changed.set(Box::pin(std::future::pending()));
                    Poll::Pending
                }
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Reads the task from the store, and passes new answers to the call; `None` if the task has
    /// ended or does not exist.
    async fn look(&mut self, known: &mut Known) -> Option<()> {
        let found = self.tasks.store.get(&known.key, wall_clock::now()).await;
        let record = match found {
            Ok(found) => found.filter(|record| self.is_ours(record))?,
            Err(error) => {
                tracing::error!(%error, "a task cannot be read from the store");
                tokio::time::sleep(FIRST_PAUSE).await;
                return Some(());
            }
        };
        self.bring(known, &record);
        self.see(known, record);
        Some(())
    }

    /// Whether the task has not ended and runs on this replica.
    fn is_ours(&self, record: &TaskRecord) -> bool {
        let turn = self.turn.as_ref();
        !record.is_over() && turn.is_none_or(|turn| turn.is_in(record))
    }

    /// Passes new answers to the call.
    fn bring(&self, known: &mut Known, record: &TaskRecord) {
        let Some(asking) = self.run.asking() else {
            return;
        };
        let before = known.taken.len();
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
        if known.taken.len() > before {
            self.channel.answered();
        }
    }

    fn see(&self, known: &mut Known, record: Arc<TaskRecord>) {
        tell(self.standing.as_ref(), &known.record, &record);
        known.record = record;
    }
}

impl Ending<CallToolResult> {
    /// The call of a task cannot pause; if it does, that is a fault of this crate.
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        match self {
            Self::Done(outcome) => outcome,
            Self::Paused(_) => Err(Failure::Fault(crate::Fault::new(
                "the call of a task asked for another round, which tasks do not have",
            ))),
        }
    }
}

/// Whether the journal is stored with a change.
#[derive(Clone, Copy)]
enum Remember {
    Nothing,
    All,
}

/// Waits until this time; forever if there is none.
async fn late(deadline: Option<Instant>) {
    match deadline {
        None => std::future::pending().await,
        Some(deadline) => tokio::time::sleep_until(deadline).await,
    }
}

/// Waits until a task has expired.
async fn expired(record: &TaskRecord) {
    match record.expires_ms() {
        None => std::future::pending().await,
        Some(expires) => {
            let left = expires.saturating_sub(millis(wall_clock::now()));
            tokio::time::sleep(Duration::from_millis(left)).await;
        }
    }
}

/// Changes the task. It tries again if the store cannot be reached for a moment.
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
            Err(TasksError::Store(error)) => tracing::warn!(
                %error,
                "a task could not be stored; trying again"
            ),
            done => return done,
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    tasks.store.change(key, change, wall_clock::now()).await
}

/// Stores the end of the task.
async fn finish(
    tasks: &RunningTasks,
    known: &Known,
    end: TaskEnd,
    turn: Option<&Turn>,
    standing: Option<&Outbox>,
) {
    let change = |end| match turn {
        None => TaskChange::End(end),
        Some(turn) => turn.change(JournalChange::Same, Some(TaskChange::End(end))),
    };
    let mut done = write_down(tasks, &known.key, change(end)).await;
    if let Err(TasksError::TooLarge { bytes }) = done {
        done = write_down(tasks, &known.key, change(ending::too_large(bytes))).await;
    }
    match done {
        Ok(Changed::Now(record)) => {
            tracing::debug!(task = known.key.id, status = ?record.task.state.status(), "a task ended");
            tell(standing, &known.record, &record);
        }
        // The task was cancelled, or it is no longer stored.
        Ok(Changed::Over(_) | Changed::Unknown) => {}
        Err(error) => tracing::error!(
            task = known.key.id,
            %error,
            "the end of a task could not be stored"
        ),
    }
}

/// Notifies a session that the status of its task changed, if there is space for the message.
/// tasks: requestors MUST NOT rely on these notifications, so this does not wait.
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
