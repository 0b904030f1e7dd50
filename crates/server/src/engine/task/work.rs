//! A task at work: the call is driven on, what it asks and says is written down, and what clients
//! answer is brought to it.

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

/// Attempts to write something down before a store counts as lost, and the pause after the first;
/// each is twice as long as the one before, which makes six seconds in all.
const ATTEMPTS: u32 = 7;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// How long an effect that must happen once may take to finish when the server ends.
const MEMO_TIMEOUT: Duration = Duration::from_secs(5);

/// A task at work.
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
    /// The outbox for notifications to the session.
    pub(super) standing: Option<Outbox>,
    /// If other replicas may go on with the task.
    pub(super) turn: Option<Turn>,
    /// When the server ends, until when effects that run may finish.
    pub(super) deadline: Option<Instant>,
}

/// What happens next.
enum TaskEvent {
    /// The call came to its end.
    Done(Result<CallToolResult, Failure>),
    /// Its open questions are others now.
    Asks(InputRequests),
    /// The call reported progress.
    Says(String),
    /// Something is to be stored of its journal.
    Remembers,
    /// The server ends, and an effect has to finish first.
    Waits,
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
            let (change, journal) = match self.next(&known).await {
                TaskEvent::Done(outcome) => {
                    self.guard.disarm();
                    let end = ending::of(&self.responder, outcome, self.revision, &self.tool);
                    // What the call held is released before its end is reported.
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

    /// Leaves the task to another replica, or says that the server ends.
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
                tracing::debug!(task = known.key.id, "a task is left to other replicas");
                self.tasks.handed_over.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        let (end, turn) = (ending::shut_down(), self.turn.as_ref());
        finish(&self.tasks, known, end, turn, self.standing.as_ref()).await;
    }

    /// Lets something happen to the task, with what is known of the call by now.
    async fn write(
        &mut self,
        key: &TaskKey,
        change: Option<TaskChange>,
        remember: Remember,
    ) -> Result<Changed, TasksError> {
        let Some(turn) = &self.turn else {
            // Only the journal of what others may go on with is stored.
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
                "no other replica can go on with a task: its journal is too large"
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
                // An effect that must happen once is not left half done, unless it takes too long.
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
            // Registered before the look, so that nothing is said in between.
            let is_stirred = stirred.as_mut().poll(context).is_ready();
            if let Some(words) = channel.take_words() {
                return Poll::Ready(TaskEvent::Says(words));
            }
            if channel.unstored().is_some() {
                return Poll::Ready(TaskEvent::Remembers);
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
            Ok(found) => found.filter(|record| self.is_ours(record))?,
            Err(error) => {
                tracing::error!(%error, "a task cannot be looked at");
                tokio::time::sleep(FIRST_PAUSE).await;
                return Some(());
            }
        };
        self.bring(known, &record);
        self.see(known, record);
        Some(())
    }

    /// Whether the task is not over, and is run here.
    fn is_ours(&self, record: &TaskRecord) -> bool {
        let turn = self.turn.as_ref();
        !record.is_over() && turn.is_none_or(|turn| turn.is_in(record))
    }

    /// Brings the answers that are new to the call.
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
    /// A task has begun, so its call cannot pause; if it does, that is our fault.
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        match self {
            Self::Done(outcome) => outcome,
            Self::Paused(_) => Err(Failure::Fault(crate::Fault::new("a task was paused"))),
        }
    }
}

/// What of the journal is stored with a change.
#[derive(Clone, Copy)]
enum Remember {
    Nothing,
    All,
}

/// Waits until this time, if there is one.
async fn late(deadline: Option<Instant>) {
    match deadline {
        None => std::future::pending().await,
        Some(deadline) => tokio::time::sleep_until(deadline).await,
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

/// Changes the task, and tries again while the store cannot be reached for a moment.
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
