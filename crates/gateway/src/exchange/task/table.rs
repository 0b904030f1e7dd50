//! The tasks of callers, and their open questions.

use std::{sync::Arc, time::Duration};

use indexmap::IndexMap;
use tokio::time::Instant;
use tokio::{sync::Notify, task::AbortHandle};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::RelayAsk;

use super::{
    finished::Finished,
    id::TaskId,
    task_lane::{HeldLane, TaskLane},
};
use crate::translate::{Question, refusal};

/// How many tasks one process keeps track of.
const MAX_TASKS: usize = 2_048;

/// How many tasks of one caller are tracked.
const MAX_PER_CALLER: usize = 64;

/// How many questions of one task may be open.
const MAX_QUESTIONS: usize = 32;

/// How long a task is tracked if its server does not state how long it keeps it.
const USUAL_TTL: Duration = Duration::from_hours(1);

/// The longest time that a task is tracked.
const MAX_TTL: Duration = Duration::from_hours(24);

/// The largest kept result of a call that was answered before it became a task.
pub(super) const MAX_FINISHED_BYTES: usize = 1024 * 1024;

/// The tasks that callers have.
#[derive(Default)]
pub(crate) struct TaskTable(Mutex<Tasks>);

#[derive(Default)]
struct Tasks {
    known: IndexMap<TaskId, Arc<KnownTask>>,
    is_closed: bool,
}

/// A task of a caller.
pub(super) struct KnownTask {
    pub(super) id: TaskId,
    pub(super) caller: Option<String>,
    /// Whether its caller is identified, so that the task may be listed.
    is_listed: bool,
    /// The id that the caller sees.
    pub(super) sealed: String,
    until: Instant,
    /// The session that the task runs in, which is kept open for it.
    lane: HeldLane,
    /// The result, if the server answered immediately.
    pub(super) finished: Option<Finished>,
    asks: Mutex<OpenAsks>,
    /// Notified when the task asks a question.
    pub(super) asked: Notify,
}

/// The open questions of a task.
#[derive(Default)]
struct OpenAsks {
    count: usize,
    open: IndexMap<String, (Question, RelayAsk)>,
    /// The spawned task that waits for `tasks/result`, because sessions receive questions only meanwhile.
    holder: Option<AbortHandle>,
}

/// A new task to track.
pub(super) struct NewTask {
    pub(super) id: TaskId,
    pub(super) caller: Option<String>,
    pub(super) is_listed: bool,
    pub(super) sealed: String,
    pub(super) lane: Option<TaskLane>,
    /// For how many milliseconds the server keeps it.
    pub(super) ttl: Option<u64>,
    pub(super) finished: Option<Finished>,
}

impl TaskTable {
    pub(super) fn find(&self, id: &TaskId) -> Option<Arc<KnownTask>> {
        self.0.lock().known.get(id).cloned()
    }

    /// Registers a task. If there are too many, the oldest task of the caller is forgotten; its
    /// server still has it, unless its process ran for this task alone.
    pub(super) fn enter(&self, new: NewTask) -> Arc<KnownTask> {
        let ttl = new
            .ttl
            .map_or(USUAL_TTL, Duration::from_millis)
            .min(MAX_TTL);
        let task = Arc::new(KnownTask {
            id: new.id.clone(),
            caller: new.caller,
            is_listed: new.is_listed,
            sealed: new.sealed,
            until: Instant::now() + ttl,
            lane: HeldLane::new(new.lane),
            finished: new.finished,
            asks: Mutex::default(),
            asked: Notify::new(),
        });
        let mut tasks = self.0.lock();
        if tasks.is_closed {
            return task;
        }
        let mut forgotten = tasks.forget_old();
        let is_own = |other: &Arc<KnownTask>| other.caller == task.caller;
        if tasks.known.values().filter(|it| is_own(it)).count() >= MAX_PER_CALLER
            && let Some(oldest) = tasks.known.values().position(is_own)
        {
            forgotten.extend(tasks.known.shift_remove_index(oldest).map(|it| it.1));
        }
        if tasks.known.len() >= MAX_TASKS {
            forgotten.extend(tasks.known.shift_remove_index(0).map(|it| it.1));
        }
        tasks.known.insert(new.id, Arc::clone(&task));
        drop(tasks);
        end_all(&forgotten);
        task
    }

    /// Whether a caller has tasks here.
    pub(crate) fn has_any_of(&self, caller: Option<&str>) -> bool {
        let tasks = self.0.lock();
        let mut all = tasks.known.values();
        all.any(|task| task.is_listed && task.caller.as_deref() == caller)
    }

    /// The tasks of a caller that may be listed, oldest first.
    pub(super) fn of_caller(&self, caller: Option<&str>) -> Vec<Arc<KnownTask>> {
        let mut tasks = self.0.lock();
        let forgotten = tasks.forget_old();
        let all = tasks.known.values();
        let own = all
            .filter(|task| task.is_listed && task.caller.as_deref() == caller)
            .cloned()
            .collect();
        drop(tasks);
        end_all(&forgotten);
        own
    }

    /// Forgets expired tasks, and releases processes that are no longer needed.
    pub(crate) fn tidy(&self) {
        let (forgotten, known) = {
            let mut tasks = self.0.lock();
            let forgotten = tasks.forget_old();
            (forgotten, tasks.known.values().cloned().collect::<Vec<_>>())
        };
        end_all(&forgotten);
        for task in known {
            task.lane.tidy(Instant::now());
        }
    }

    /// Forgets all tasks and stops waiting for their questions.
    pub(crate) fn close(&self) {
        let known = {
            let mut tasks = self.0.lock();
            tasks.is_closed = true;
            std::mem::take(&mut tasks.known)
        };
        for task in known.values() {
            task.end();
        }
    }
}

fn end_all(tasks: &[Arc<KnownTask>]) {
    for task in tasks {
        task.end();
    }
}

impl Tasks {
    fn forget_old(&mut self) -> Vec<Arc<KnownTask>> {
        let now = Instant::now();
        let (old, known) = std::mem::take(&mut self.known)
            .into_iter()
            .partition::<IndexMap<_, _>, _>(|(_, task)| task.until <= now);
        self.known = known;
        old.into_values().collect()
    }
}

impl KnownTask {
    /// Records that the client has asked about the task, and whether the task was over.
    pub(super) fn note(&self, is_over: bool) {
        self.lane.note(is_over, Instant::now());
    }

    /// Adds a question, if the limit allows it.
    pub(super) fn ask(&self, question: Question, ask: RelayAsk) {
        {
            let mut asks = self.asks.lock();
            if asks.open.len() < MAX_QUESTIONS {
                asks.count += 1;
                let key = format!("ask-{}", asks.count);
                asks.open.insert(key, (question, ask));
                drop(asks);
                return self.asked.notify_waiters();
            }
        }
        ask.refuse(&refusal(&question));
    }

    pub(super) fn is_asking(&self) -> bool {
        !self.asks.lock().open.is_empty()
    }

    /// Removes a question in order to answer it.
    pub(super) fn answer(&self, key: &str) -> Option<RelayAsk> {
        let (_, ask) = self.asks.lock().open.shift_remove(key)?;
        Some(ask)
    }

    /// The open questions, as the `inputRequests` for a modern client.
    pub(super) fn input_requests(&self) -> String {
        let mut asks = self.asks.lock();
        asks.open.retain(|_, (_, ask)| !ask.is_withdrawn());
        let entries: Vec<String> = asks
            .open
            .iter()
            .map(|(key, (question, _))| {
                format!("{}:{}", serde_json::json!(key), question.to_entry())
            })
            .collect();
        format!("{{{}}}", entries.join(","))
    }

    /// Starts waiting for questions in a spawned task, unless one is already waiting.
    pub(super) fn hold(&self, begin: impl FnOnce() -> Option<AbortHandle>) {
        let mut asks = self.asks.lock();
        let is_held = asks.holder.as_ref().is_some_and(|it| !it.is_finished());
        if !is_held {
            asks.holder = begin();
        }
    }

    /// Stops waiting for questions. Open questions are answered with an error.
    fn end(&self) {
        let mut asks = self.asks.lock();
        if let Some(holder) = asks.holder.take() {
            holder.abort();
        }
        let open = std::mem::take(&mut asks.open);
        drop(asks);
        drop(open);
    }
}
