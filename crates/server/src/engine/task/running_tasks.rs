//! `RunningTasks`: the store of tasks, the limits on running tasks, and shutdown.

use std::{
    collections::{BTreeSet, HashMap},
    pin::pin,
    sync::{Arc, atomic::AtomicUsize},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use tokio::sync::Notify;
use turnbuckle_base::{
    lock::{Mutex, MutexGuard},
    wall_clock,
};
use turnbuckle_protocol::{JsonObject, ServerTasksCapability, error::code};
use turnbuckle_store::task::{
    Changed, NewTask, Restart, TaskChange, TaskKey, TaskPage, TaskRecord, Tasks, TasksError,
};

use super::{TaskSettings, restart::Restarts};
use crate::{
    Caller, Fault, Reject,
    client::CancelFlag,
    engine::budget::SMALL_BYTES,
    quota::{CallerKey, Over, Quota, Share},
};

/// The number of random bytes in a task's id. They protect the task if callers cannot be
/// distinguished.
const ID_BYTES: usize = 16;

/// The number of tasks in a page of `tasks/list`. Without their results they are small.
const PAGE_SIZE: usize = 100;

/// How long the shutdown waits until all tasks have stored their end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// The running tasks of a server, and their store.
pub(crate) struct RunningTasks {
    pub(crate) store: Arc<dyn Tasks>,
    pub(crate) settings: TaskSettings,
    table: Mutex<TaskTable>,
    /// The quota for the arguments of running tasks.
    kept: Arc<Quota>,
    /// Set when the server shuts down.
    pub(crate) closing: CancelFlag,
    idle: Notify,
    /// Questions that are being asked now, so that each is asked only once.
    asked: Mutex<BTreeSet<(String, String)>>,
    pub(crate) handed_back: Notify,
    /// Set if other replicas may continue tasks.
    pub(super) restarts: Option<Arc<Restarts>>,
    /// How many tasks were left to other replicas.
    pub(super) handed_over: AtomicUsize,
}

#[derive(Default)]
struct TaskTable {
    slots: usize,
    callers: HashMap<CallerKey, usize>,
    running: HashMap<String, CancelFlag>,
}

impl RunningTasks {
    pub(super) fn new(
        store: Arc<dyn Tasks>,
        settings: TaskSettings,
        closing: CancelFlag,
        kept: Arc<Quota>,
        restarts: Option<Arc<Restarts>>,
    ) -> Self {
        Self {
            store,
            settings,
            kept,
            table: Mutex::default(),
            closing,
            idle: Notify::new(),
            asked: Mutex::default(),
            handed_back: Notify::new(),
            restarts,
            handed_over: AtomicUsize::new(0),
        }
    }

    /// Takes a slot for a task of this caller. Its arguments of this size count against the quota
    /// of `payer`.
    pub(super) fn enter(
        self: &Arc<Self>,
        caller: &Caller,
        payer: CallerKey,
        bytes: usize,
    ) -> Result<TaskSlot, Reject> {
        let refuse = |message: String| Reject::new(code::INTERNAL_ERROR, message);
        if self.closing.is_set() {
            return Err(refuse("the server is shutting down".into()));
        }
        let mut table = self.table();
        let own = table.callers.get(&payer).copied().unwrap_or(0);
        let (max, own_max) = (
            self.settings.max_running,
            self.settings.max_running_per_caller,
        );
        if own >= own_max {
            let message = format!(
                "{own_max} tasks of yours are running: wait until one ends, or raise \
                 `TaskSettings::max_running_per_caller`"
            );
            return Err(refuse(message));
        }
        if table.slots >= max {
            let message = format!(
                "{max} tasks are running here: try again when some have ended, or raise \
                 `TaskSettings::max_running`"
            );
            return Err(refuse(message));
        }
        let held = self.hold(payer, bytes).map_err(refuse)?;
        table.slots += 1;
        table.callers.insert(payer, own + 1);
        Ok(TaskSlot {
            tasks: Arc::clone(self),
            owner: owner(caller),
            payer,
            id: None,
            cancel: CancelFlag::default(),
            _held: held,
        })
    }

    /// Counts the arguments of a task against the quota while it runs.
    fn hold(&self, payer: CallerKey, bytes: usize) -> Result<Option<Share>, String> {
        if bytes <= SMALL_BYTES {
            return Ok(None);
        }
        let mut share = self.kept.share(payer);
        // The other half is reserved for sessions, which would otherwise have to end.
        match share.add_spare(bytes) {
            Ok(()) => Ok(Some(share)),
            Err(Over::Caller(limit)) => Err(format!(
                "there is no memory for a task with arguments of {bytes} bytes: your tasks would keep \
                 more than {limit} bytes; wait until a task ends, or raise \
                 `MemoryBudget::kept_per_caller`"
            )),
            Err(Over::Total(limit)) => Err(format!(
                "there is no memory for a task with arguments of {bytes} bytes: all tasks would keep more \
                 than {limit} bytes; try again later, or raise `MemoryBudget::kept`"
            )),
        }
    }

    /// Finds a task of a caller.
    pub(crate) async fn find(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<Option<Arc<TaskRecord>>, Reject> {
        let key = TaskKey::new(owner(caller), id);
        self.store
            .get(&key, wall_clock::now())
            .await
            .map_err(failed)
    }

    /// Changes a task of a caller. If it was cancelled, it stops immediately.
    pub(crate) async fn change(
        &self,
        caller: &Caller,
        id: &str,
        change: TaskChange,
    ) -> Result<Changed, Reject> {
        let is_end = matches!(change, TaskChange::End(_));
        let key = TaskKey::new(owner(caller), id);
        let changed = self.store.change(&key, change, wall_clock::now()).await;
        let changed = changed.map_err(failed)?;
        if is_end && let Changed::Now(_) = &changed {
            // If it runs on another replica, the store notifies that replica.
            let cancel = self.table().running.get(id).cloned();
            cancel.iter().for_each(CancelFlag::set);
        }
        Ok(changed)
    }

    /// Returns a page of the tasks of a caller.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        after: Option<&str>,
        now: SystemTime,
    ) -> Result<TaskPage, Reject> {
        let listed = self.store.list(&owner(caller), after, PAGE_SIZE, now).await;
        listed.map_err(failed)
    }

    /// Reserves a question of a task for as long as the guard lives; `None` if it is already being
    /// asked.
    pub(super) fn claim(self: &Arc<Self>, id: &str, key: &str) -> Option<QuestionClaim> {
        let taken = (id.to_owned(), key.to_owned());
        let is_free = self.asked().insert(taken.clone());
        is_free.then(|| QuestionClaim {
            tasks: Arc::clone(self),
            taken,
        })
    }

    /// Waits until all tasks have ended, because the server is shutting down.
    pub(super) async fn wait_for_all(&self) {
        let all_ended = async {
            loop {
                let mut idle = pin!(self.idle.notified());
                idle.as_mut().enable();
                if self.table().slots == 0 {
                    return;
                }
                idle.await;
            }
        };
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, all_ended)
            .await
            .is_err()
        {
            let left = self.table().slots;
            tracing::error!(
                left,
                "some tasks could not be stored as ended before the shutdown"
            );
        }
    }

    fn table(&self) -> MutexGuard<'_, TaskTable> {
        self.table.lock()
    }

    fn asked(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.asked.lock()
    }
}

/// The tasks capability in sessions of this caller.
pub(crate) fn capability(caller: &Caller) -> ServerTasksCapability {
    let yes = || Some(JsonObject::new());
    let mut capability = ServerTasksCapability::default();
    capability.list = yes().filter(|_| caller.is_identified());
    capability.cancel = yes();
    let requests = capability.requests.get_or_insert_default();
    requests.tools.get_or_insert_default().call = yes();
    capability
}

/// The owner of a caller's tasks.
pub(super) fn owner(caller: &Caller) -> String {
    match caller.id() {
        Some(id) => format!("caller:{id}"),
        None => "local".to_owned(),
    }
}

/// The error for the client if the store fails.
pub(super) fn failed(error: TasksError) -> Reject {
    match error {
        TasksError::OwnerFull { .. } | TasksError::OwnerBytes { .. } | TasksError::Full => {
            Reject::new(code::INTERNAL_ERROR, error.to_string())
        }
        TasksError::BadCursor => Reject::invalid_params(error.to_string()),
        TasksError::Store(error) => Fault::new(error).into_unavailable(),
        error => Fault::new(error).into_reject(),
    }
}

/// The slot of one task. Dropping it frees the slot.
pub(super) struct TaskSlot {
    tasks: Arc<RunningTasks>,
    owner: String,
    payer: CallerKey,
    id: Option<String>,
    /// Set when the task is cancelled.
    pub(super) cancel: CancelFlag,
    /// The share of the quota for its arguments.
    _held: Option<Share>,
}

impl TaskSlot {
    /// Creates the task in the store, where every replica finds it from now on. If `restart` is
    /// set, other replicas may continue it.
    pub(super) async fn begin(
        &mut self,
        id: &str,
        ttl: Duration,
        restart: Option<Restart>,
    ) -> Result<Arc<TaskRecord>, Reject> {
        let new = NewTask {
            key: TaskKey::new(&self.owner, id),
            ttl: Some(ttl),
            poll_interval: Some(self.tasks.settings.poll_interval),
            payer: Some(format!("{:x}", self.payer.number())),
            restart,
        };
        let plain = NewTask {
            restart: None,
            ..new.clone()
        };
        let mut created = self.tasks.store.create(new, wall_clock::now()).await;
        if let Err(TasksError::TooLarge { bytes }) = created {
            tracing::warn!(
                bytes,
                "a task started that other replicas cannot continue: its call is too large"
            );
            created = self.tasks.store.create(plain, wall_clock::now()).await;
        }
        let record = created.map_err(failed)?;
        // The store may have extended the id.
        self.take(&record.task.task_id);
        tracing::debug!(
            task = record.task.task_id,
            owner = self.owner,
            "a task started"
        );
        Ok(record)
    }

    /// Records which task runs in this slot.
    pub(super) fn take(&mut self, id: &str) {
        let mut table = self.tasks.table();
        table.running.insert(id.to_owned(), self.cancel.clone());
        drop(table);
        self.id = Some(id.to_owned());
    }
}

/// Returns a random id for a task, which cannot be guessed.
pub(super) fn new_id() -> Result<String, Reject> {
    let mut id = [0; ID_BYTES];
    getrandom::fill(&mut id).map_err(|error| {
        Fault::new(format!(
            "could not get random bytes from the operating system: {error}"
        ))
        .into_reject()
    })?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(id))
}

impl Drop for TaskSlot {
    fn drop(&mut self) {
        let mut table = self.tasks.table();
        table.slots -= 1;
        if let Some(own) = table.callers.get_mut(&self.payer) {
            *own -= 1;
            if *own == 0 {
                table.callers.remove(&self.payer);
            }
        }
        if let Some(id) = &self.id {
            table.running.remove(id);
        }
        let is_idle = table.slots == 0;
        drop(table);
        if is_idle {
            self.tasks.idle.notify_waiters();
        }
    }
}

/// A question that is being asked. Dropping it allows others to ask it.
pub(super) struct QuestionClaim {
    tasks: Arc<RunningTasks>,
    taken: (String, String),
}

impl Drop for QuestionClaim {
    fn drop(&mut self) {
        self.tasks.asked().remove(&self.taken);
        self.tasks.handed_back.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_store::task::MemoryTasks;

    use super::*;

    fn tasks(settings: TaskSettings) -> Arc<RunningTasks> {
        let store = Arc::new(MemoryTasks::default());
        Arc::new(RunningTasks::new(
            store,
            settings,
            CancelFlag::default(),
            Quota::new(200_000, 100_000),
            None,
        ))
    }

    #[test]
    fn places_are_counted_and_given_back() {
        let settings = TaskSettings::default()
            .max_running(3)
            .max_running_per_caller(2);
        let tasks = tasks(settings);
        // Callers without an id are distinguished by the address from which they call.
        let enter = |address: &str| tasks.enter(&Caller::local(), CallerKey::digest(address), 0);
        let first = enter("one").unwrap();
        let _second = enter("one").unwrap();
        let refused = enter("one").err().unwrap();
        assert!(refused.as_error().message.contains("2 tasks of yours"));
        let _third = enter("two").unwrap();
        let refused = enter("two").err().unwrap();
        assert!(refused.as_error().message.contains("3 tasks are running"));
        drop(first);
        assert!(enter("one").is_ok());
    }

    #[test]
    fn arguments_are_paid_for_while_a_task_runs() {
        let tasks = tasks(TaskSettings::default());
        let enter = |who: &str, bytes| tasks.enter(&Caller::local(), CallerKey::digest(who), bytes);
        let refused =
            |entered: Result<TaskSlot, Reject>| entered.err().unwrap().as_error().message.clone();
        let first = enter("one", 40_000).unwrap();
        let said = refused(enter("one", 20_000));
        assert!(said.contains("`MemoryBudget::kept_per_caller`"), "{said}");
        let _second = enter("two", 45_000).unwrap();
        let said = refused(enter("three", 20_000));
        assert!(said.contains("`MemoryBudget::kept`"), "{said}");
        // Small arguments are not counted; the number of tasks limits them.
        let _small = enter("three", 10_000).unwrap();
        drop(first);
        enter("one", 40_000).unwrap();
    }

    #[test]
    fn one_asks_and_others_take_over() {
        let tasks = tasks(TaskSettings::default());
        let first = tasks.claim("t1", "seat").unwrap();
        assert!(tasks.claim("t1", "seat").is_none());
        assert!(tasks.claim("t2", "seat").is_some());
        drop(first);
        assert!(tasks.claim("t1", "seat").is_some());
    }

    #[test]
    fn a_caller_by_the_name_of_local_is_not_the_local_caller() {
        assert_ne!(owner(&Caller::new("local")), owner(&Caller::local()));
    }
}
