//! Tasks of this client, in sessions of 2025-11-25: a server can send a request as a task, and then
//! poll, await, list and cancel that task.
//!
//! The tasks belong to the connection: no other server sees them, and they end with it.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use tokio::task::{AbortHandle, JoinSet};
use turnbuckle_base::{lock::Mutex, wall_clock};
use turnbuckle_protocol::{
    ErrorObject, Id, InputRequest, LegacyCreateTaskResult, LegacyListTasksResult, LegacyTask,
    Lower as _, Meta, RelatedTask, TaskMetadata, TaskState,
    envelope::{Members, Request},
    error::problem_in_message,
    method::{self, available},
};
use turnbuckle_store::task::{
    Changed, MemoryLimits, MemoryTasks, NewTask, TaskChange, TaskEnd, TaskKey, TaskRecord, Tasks,
    TasksError,
};

use super::Link;

/// The limits on the tasks of one connection.
const MAX_TASKS: usize = 64;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How long a task is kept: a user may take a while, but tasks of a server that never asks for them
/// must be removed.
const TTL: Duration = Duration::from_mins(10);
const LONGEST_TTL: Duration = Duration::from_hours(1);
const SHORTEST_TTL: Duration = Duration::from_secs(1);

/// The poll interval that the server is asked to use.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How many requests about tasks may wait for their answers at once.
const MAX_WAITING: usize = 256;

/// The owner of all tasks: there is one server at the other end.
const OWNER: &str = "server";

/// The tasks of this client.
pub(super) struct OwnTasks {
    table: Arc<TaskTable>,
    waiting: JoinSet<()>,
}

struct TaskTable {
    link: Arc<Link>,
    store: MemoryTasks,
    count: AtomicU64,
    running: Mutex<HashMap<String, AbortHandle>>,
}

impl OwnTasks {
    pub(super) fn new(link: Arc<Link>) -> Self {
        let mut limits = MemoryLimits::default();
        limits.per_owner = MAX_TASKS;
        limits.tasks = MAX_TASKS;
        limits.bytes = MAX_BYTES;
        limits.bytes_per_owner = MAX_BYTES;
        let table = TaskTable {
            link,
            store: MemoryTasks::new(limits),
            count: AtomicU64::new(0),
            running: Mutex::default(),
        };
        Self {
            table: Arc::new(table),
            waiting: JoinSet::new(),
        }
    }

    /// Serves a request about tasks. Returns false if the request is about something else.
    pub(super) fn serve(&mut self, request: &Request<'_>) -> bool {
        let is_about_tasks = matches!(
            &*request.method,
            "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel"
        );
        if !is_about_tasks || !self.table.is_declared() {
            return false;
        }
        let id = request.id.clone().into_owned();
        let method = request.method.clone().into_owned();
        let asked = TaskQuery::read(&request.params);
        let table = Arc::clone(&self.table);
        self.spawn(id, move |id| async move {
            match asked {
                Ok(query) => table.tell(&method, query, &id).await,
                Err(error) => table.refuse(&id, &error),
            }
        });
        true
    }

    /// Takes a request that is sent as a task. Returns any other request.
    pub(super) fn take(
        &mut self,
        id: &turnbuckle_protocol::IdRef<'_>,
        asked: InputRequest,
    ) -> Option<InputRequest> {
        let wanted_task = asked.task().cloned();
        let Some(wanted_task) = wanted_task.filter(|_| self.table.takes(&asked)) else {
            return Some(asked);
        };
        let table = Arc::clone(&self.table);
        self.spawn(id.clone().into_owned(), move |id| async move {
            table.begin(&id, asked, &wanted_task).await;
        });
        None
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        id: Id,
        work: impl FnOnce(Id) -> F,
    ) {
        while self.waiting.try_join_next().is_some() {}
        if self.waiting.len() >= MAX_WAITING {
            let message = format!("{MAX_WAITING} requests about tasks are already waiting");
            return self.table.refuse(&id, &ErrorObject::internal(message));
        }
        self.waiting.spawn(work(id));
    }
}

/// The task that a request names.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskQuery {
    #[serde(default)]
    task_id: String,
    cursor: Option<String>,
}

impl TaskQuery {
    fn read(params: &Members<'_>) -> Result<Self, ErrorObject> {
        serde_json::from_str(params.to_raw().get())
            .map_err(|error| ErrorObject::invalid_params(problem_in_message(&error)))
    }

    fn key(&self) -> TaskKey {
        TaskKey::new(OWNER, &self.task_id)
    }
}

impl TaskTable {
    /// Whether this client has declared tasks in this session.
    fn is_declared(&self) -> bool {
        let revision = self.link.revision();
        available("tasks/result", revision, method::Direction::ToClient)
            && self.link.profile().capabilities(revision).tasks.is_some()
    }

    /// tasks: a receiver without the capability MUST process the request as usual.
    fn takes(&self, asked: &InputRequest) -> bool {
        let revision = self.link.revision();
        let tasks = self.link.profile().capabilities(revision).tasks;
        let requests = tasks.and_then(|tasks| tasks.requests);
        available("tasks/result", revision, method::Direction::ToClient)
            && requests.is_some_and(|requests| match asked {
                InputRequest::CreateMessage(_) => requests.sampling.is_some(),
                InputRequest::Elicit(_) => requests.elicitation.is_some(),
                _ => false,
            })
    }

    /// Answers with a task, and then runs the request.
    async fn begin(self: Arc<Self>, id: &Id, asked: InputRequest, wanted_task: &TaskMetadata) {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let ttl = wanted_task.ttl.map_or(TTL, Duration::from_millis);
        let new = NewTask {
            key: TaskKey::new(OWNER, format!("ask-{number}")),
            ttl: Some(ttl.clamp(SHORTEST_TTL, LONGEST_TTL)),
            poll_interval: Some(POLL_INTERVAL),
            payer: None,
            restart: None,
        };
        let record = match self.store.create(new, wall_clock::now()).await {
            Ok(record) => record,
            Err(full) => return self.refuse(id, &failed(&full)),
        };
        let created = LegacyCreateTaskResult::from(record.task.summary());
        self.answer(id, &created);
        let key = record.key();
        let work = tokio::spawn(Arc::clone(&self).work(key.clone(), asked));
        self.running
            .lock()
            .insert(key.id.clone(), work.abort_handle());
        // Aborted when this future is dropped: at the end of the connection, or when the task is
        // cancelled.
        let _ending = AbortOnDrop(work.abort_handle());
        let _ = work.await;
        self.running.lock().remove(&key.id);
    }

    async fn work(self: Arc<Self>, key: TaskKey, asked: InputRequest) {
        let link = &self.link;
        let answered = link.answer_ask(asked, None).await;
        let end = match answered {
            Ok(mut answer) => {
                answer.lower(link.revision());
                match to_raw_value(&answer) {
                    Ok(result) => TaskEnd::Completed {
                        result,
                        is_error: false,
                        message: None,
                    },
                    Err(error) => TaskEnd::Failed(ErrorObject::internal(error.to_string())),
                }
            }
            Err(unanswered) => TaskEnd::Failed(unanswered.to_error()),
        };
        let ended = self
            .store
            .change(&key, TaskChange::End(end), wall_clock::now())
            .await;
        if let Err(full) = ended {
            let end = TaskChange::End(TaskEnd::Failed(failed(&full)));
            let _ = self.store.change(&key, end, wall_clock::now()).await;
        }
    }

    async fn tell(&self, method: &str, query: TaskQuery, id: &Id) {
        let told = match method {
            "tasks/list" => self.list(&query).await.map(|list| self.answer(id, &list)),
            "tasks/cancel" => self.cancel(&query).await.map(|task| self.answer(id, &task)),
            "tasks/get" => self.find(&query).await.map(|record| {
                self.answer(id, &LegacyTask::from(record.task.summary()));
            }),
            _ => self.result(&query, id).await,
        };
        if let Err(error) = told {
            self.refuse(id, &error);
        }
    }

    async fn find(&self, query: &TaskQuery) -> Result<Arc<TaskRecord>, ErrorObject> {
        let found = self.store.get(&query.key(), wall_clock::now()).await;
        found
            .map_err(|error| failed(&error))?
            .ok_or_else(|| ErrorObject::invalid_params("the task is unknown or has expired"))
    }

    async fn list(&self, query: &TaskQuery) -> Result<LegacyListTasksResult, ErrorObject> {
        let cursor = query.cursor.as_deref();
        let page = self.store.list(OWNER, cursor, MAX_TASKS, wall_clock::now());
        let page = page.await.map_err(|error| failed(&error))?;
        let tasks = page.tasks.iter().map(|record| record.task.summary().into());
        let mut listed = LegacyListTasksResult::new(tasks.collect());
        listed.next_cursor = page.next.map(Into::into);
        Ok(listed)
    }

    async fn cancel(&self, query: &TaskQuery) -> Result<LegacyTask, ErrorObject> {
        let end = TaskChange::End(TaskEnd::Cancelled { reason: None });
        let changed = self
            .store
            .change(&query.key(), end, wall_clock::now())
            .await;
        match changed.map_err(|error| failed(&error))? {
            Changed::Now(record) => {
                if let Some(work) = self.running.lock().remove(&query.task_id) {
                    work.abort();
                }
                Ok(record.task.summary().into())
            }
            Changed::Over(_) => Err(ErrorObject::invalid_params("the task has already ended")),
            Changed::Unknown => Err(ErrorObject::invalid_params("the task is unknown")),
        }
    }

    /// tasks: waits until the task has ended, and then returns the result of the original request.
    async fn result(&self, query: &TaskQuery, id: &Id) -> Result<(), ErrorObject> {
        loop {
            let record = self.find(query).await?;
            match &record.task.state {
                TaskState::Completed(result) => {
                    let task_id = query.task_id.clone();
                    let meta = Meta::new().with_related_task(&RelatedTask::new(task_id));
                    let mut object: turnbuckle_protocol::JsonObject =
                        serde_json::from_str(result.get())
                            .map_err(|error| ErrorObject::internal(error.to_string()))?;
                    object.insert("_meta".to_owned(), meta.0.into());
                    self.answer(id, &object);
                    return Ok(());
                }
                TaskState::Failed(error) => return Err(error.clone()),
                TaskState::Cancelled => {
                    return Err(ErrorObject::internal("the task was cancelled"));
                }
                _ => {}
            }
            // Polled at intervals, because no event is sent when the task expires.
            let key = query.key();
            let changed = self.store.changed(&key, record.version);
            let _ = tokio::time::timeout(POLL_INTERVAL, changed).await;
        }
    }

    fn answer<R: Serialize>(&self, id: &Id, result: &R) {
        self.link.respond(&id.as_ref(), Ok(result));
    }

    fn refuse(&self, id: &Id, error: &ErrorObject) {
        self.link.respond::<()>(&id.as_ref(), Err(error));
    }
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn failed(error: &TasksError) -> ErrorObject {
    match error {
        TasksError::BadCursor => ErrorObject::invalid_params(error.to_string()),
        other => ErrorObject::internal(other.to_string()),
    }
}
