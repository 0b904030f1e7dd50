//! Tasks of a legacy server for a modern client: the extension in front, `task` params and
//! `tasks/result` behind (G18).
//!
//! The id that a client sees is sealed: it names the server, the session and the server's own id, so
//! that it belongs to one caller and leads back to where the task runs.

use std::{collections::HashMap, sync::Arc, time::Duration};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{RelayAsk, RelayEvent, RelayRequest};
use turnbuckle_protocol::{
    ClientCapabilities, ErrorObject, JsonObject, LegacyCreateTaskResult, LegacyTask,
    TASKS_EXTENSION, Task, TaskSupport,
    envelope::{Edit, Raw},
    error::code,
};
use turnbuckle_server::{Reject, RelayReply};
use turnbuckle_session::round::RequestDigest;

use super::call::{Context, Exchange};
use crate::translate::{self, Answer, FrontRequest, Question, Round, answer, refusal};
use crate::upstream::{Lane, Member};

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// How long an id can be used: longer than a server keeps a task.
const ID_LASTS: Duration = Duration::from_hours(24 * 7);

/// How many tasks are held open for their questions.
const MAX_HELD: usize = 256;

/// How many questions of one task may be open.
const MAX_QUESTIONS: usize = 32;

/// How long a server may take to say how a task is doing.
const STATUS_WITHIN: Duration = Duration::from_mins(1);

/// What the id of a task means.
#[derive(Serialize, Deserialize)]
struct TaskId {
    server: String,
    own: String,
    /// What the session of the task was opened with.
    capabilities: ClientCapabilities,
}

/// What the tasks of all servers ask.
#[derive(Default)]
pub(crate) struct TaskTable(Mutex<HashMap<(String, String), Arc<HeldTask>>>);

/// A task whose result is waited for, to hear what it asks.
#[derive(Default)]
struct HeldTask(Mutex<HeldState>);

#[derive(Default)]
struct HeldState {
    asked: usize,
    open: IndexMap<String, (Question, RelayAsk)>,
}

/// Whether a client may be given tasks.
fn declares(request: &FrontRequest) -> bool {
    request.capabilities.extension(TASKS_EXTENSION).is_some()
}

fn undeclared() -> RelayReply {
    let mut needed = ClientCapabilities::new();
    let extensions = needed.extensions.get_or_insert_default();
    extensions.insert(TASKS_EXTENSION.to_owned(), Value::Object(JsonObject::new()));
    let message = "this needs the tasks extension, which the client did not declare";
    ErrorObject::missing_capability(message, needed).into()
}

/// Whether a call becomes a task on the server.
pub(super) fn becomes_task(exchange: &Exchange) -> Result<bool, RelayReply> {
    if exchange.request.method != "tools/call" {
        return Ok(false);
    }
    let can = exchange.lane.connection.server().capabilities();
    let tasks = can.and_then(|can| can.tasks.as_ref());
    let calls = tasks.and_then(|tasks| tasks.requests.as_ref());
    let calls = calls.and_then(|requests| requests.tools.as_ref());
    if calls.is_none_or(|tools| tools.call.is_none()) {
        return Ok(false);
    }
    let own = exchange.own_name().unwrap_or_default();
    let lists = exchange.member.upstream.lists();
    let tool = lists
        .tools
        .entries
        .iter()
        .find(|tool| tool.value.name == own);
    let support = tool.and_then(|tool| tool.value.execution.as_ref()?.task_support.clone());
    match support {
        Some(TaskSupport::Required) if !declares(&exchange.request) => Err(undeclared()),
        Some(TaskSupport::Required | TaskSupport::Optional) => Ok(declares(&exchange.request)),
        _ => Ok(false),
    }
}

/// Runs a call as a task. A server that answers at once gives its result.
pub(super) async fn create(exchange: Exchange) -> RelayReply {
    let mut open = exchange.enter();
    let mut call = match exchange.start(&Round::Task) {
        Ok(call) => call,
        Err(reply) => return reply,
    };
    loop {
        let event = Exchange::next(&mut call, &mut open).await;
        return match exchange.hear(event).await {
            Some(RelayEvent::Result(raw)) => created(&exchange, raw),
            Some(RelayEvent::Error(raw)) => exchange.finish(&Answer::Error(raw)),
            Some(RelayEvent::Lost(error)) => exchange.finish(&Answer::Lost(error)),
            Some(RelayEvent::Ask(ask)) => {
                let question = Question::new(ask.method(), ask.params().map(Raw::from));
                ask.refuse(&refusal(&question));
                continue;
            }
            _ => continue,
        };
    }
}

fn created(exchange: &Exchange, raw: Box<RawValue>) -> RelayReply {
    let Ok(result) = serde_json::from_str::<LegacyCreateTaskResult>(raw.get()) else {
        return exchange.finish(&Answer::Result(raw));
    };
    let task = Task::from(result);
    let id = TaskId {
        server: exchange.server().to_owned(),
        own: task.task_id.clone(),
        capabilities: exchange.request.capabilities.clone(),
    };
    let context = &exchange.context;
    let caller = exchange.request.caller();
    match context.sealer.seal(&id, caller, digest(), ID_LASTS) {
        Ok(sealed) => reply(&task, &sealed, "task", &[]),
        Err(reject) => reject.into(),
    }
}

fn digest() -> RequestDigest {
    RequestDigest::named("task", "")
}

/// The result that shows a task, with more members.
fn reply(task: &Task, id: &str, kind: &str, more: &[(&str, String)]) -> RelayReply {
    let text = json!(task).to_string();
    let Ok(raw) = RawValue::from_string(text) else {
        return Reject::internal("the task cannot be written").into();
    };
    let mut edit = Edit::new(Raw::from(&raw))
        .set_text(&["taskId"], id)
        .set_text(&["resultType"], kind)
        .drop(&["_meta", RELATED_TASK]);
    for (name, value) in more {
        edit = edit.set(&[*name], value.clone());
    }
    match edit.finish() {
        Ok(text) => RelayReply::Result(text.raw().get().as_bytes().to_vec()),
        Err(error) => Reject::internal(error.to_string()).into(),
    }
}

/// Serves a method of the extension.
pub(crate) async fn serve(
    context: Arc<Context>,
    request: FrontRequest,
    member: Arc<Member>,
) -> RelayReply {
    if !declares(&request) {
        return undeclared();
    }
    let Some(sealed) = request.text(&["taskId"]) else {
        return Reject::invalid_params("`params.taskId` must be a string").into();
    };
    let unknown = || Reject::invalid_params(format!("there is no task `{sealed}`"));
    let opened = context
        .sealer
        .open::<TaskId>(&sealed, request.caller(), digest());
    let id = match opened {
        Ok(id) if id.server == member.id.as_str() => id,
        _ => return unknown().into(),
    };
    let lane = member.lane_with(&id.capabilities, request.caller()).await;
    let lane = match lane {
        Ok(lane) => lane,
        Err(reply) => return reply,
    };
    let served = Served {
        context,
        request,
        member,
        lane: Arc::clone(&lane),
        id,
        sealed,
    };
    let reply = match served.request.method.as_str() {
        "tasks/get" => served.get().await,
        "tasks/update" => served.update(),
        _ => served.cancel().await,
    };
    drop(lane);
    reply
}

struct Served {
    context: Arc<Context>,
    request: FrontRequest,
    member: Arc<Member>,
    lane: Arc<Lane>,
    id: TaskId,
    sealed: String,
}

impl Served {
    async fn ask(&self, method: &str) -> Answer {
        let params = Edit::new(Raw::EMPTY_OBJECT).set_text(&["taskId"], &self.id.own);
        let request = RelayRequest::new(method, params.finish().ok());
        let call = self
            .lane
            .connection
            .relay(request.with_deadline(STATUS_WITHIN));
        let mut call = match call {
            Ok(call) => call,
            Err(error) => return Answer::Lost(error),
        };
        loop {
            match call.next().await {
                RelayEvent::Result(raw) => return Answer::Result(raw),
                RelayEvent::Error(raw) => return Answer::Error(raw),
                RelayEvent::Lost(error) => return Answer::Lost(error),
                _ => {}
            }
        }
    }

    fn failed(&self, answer: &Answer) -> RelayReply {
        let (from, to) = (self.lane.revision(), self.request.revision);
        match answer {
            Answer::Error(raw) => translate::error(raw, from, to, None),
            Answer::Lost(error) => translate::lost(self.member.id.as_str(), error),
            Answer::Result(_) => Reject::internal("the task cannot be read").into(),
        }
    }

    async fn get(&self) -> RelayReply {
        let answered = self.ask("tasks/get").await;
        let Answer::Result(raw) = &answered else {
            return self.failed(&answered);
        };
        let Ok(task) = serde_json::from_str::<LegacyTask>(raw.get()) else {
            return self.failed(&answered);
        };
        let mut task = Task::from(task);
        let status = json!(task.status);
        match status.as_str().unwrap_or_default() {
            "completed" | "failed" => match self.ask("tasks/result").await {
                Answer::Result(raw) => {
                    // tasks: what a tool reports as its failure is a result like any other.
                    set_status(&mut task, "completed");
                    let (from, to) = (self.lane.revision(), self.request.revision);
                    let result = translate::result("tools/call", &raw, from, to, None);
                    match result.map(inlined) {
                        Ok(result) => self.reply(&task, &[("result", result)]),
                        Err(reject) => reject.into(),
                    }
                }
                Answer::Error(raw) => {
                    set_status(&mut task, "failed");
                    self.reply(&task, &[("error", raw.get().to_owned())])
                }
                lost @ Answer::Lost(_) => self.failed(&lost),
            },
            "input_required" => {
                let asked = self.hold().await;
                self.reply(&task, &[("inputRequests", asked)])
            }
            _ => self.reply(&task, &[]),
        }
    }

    fn reply(&self, task: &Task, more: &[(&str, String)]) -> RelayReply {
        reply(task, &self.sealed, "complete", more)
    }

    fn update(&self) -> RelayReply {
        let held = self.context.tasks.find(&self.id);
        let answers = self.request.params().member("inputResponses");
        let answers = answers.map(Raw::members).unwrap_or_default();
        if let Some(held) = held {
            let mut state = held.0.lock();
            for (key, response) in answers {
                if response.is_object()
                    && let Some((_, ask)) = state.open.shift_remove(&*key)
                {
                    ask.answer(&answer(response.value(), self.lane.revision()));
                }
            }
        }
        acknowledged()
    }

    async fn cancel(&self) -> RelayReply {
        match self.ask("tasks/cancel").await {
            Answer::Result(_) => acknowledged(),
            // A task that is over stays as it is, and a client that asks for its end has it.
            Answer::Error(raw) => {
                let code = Raw::from(&*raw)
                    .member("code")
                    .and_then(|raw| raw.parse().ok());
                match code {
                    Some(code::INVALID_PARAMS) if self.is_known().await => acknowledged(),
                    _ => self.failed(&Answer::Error(raw)),
                }
            }
            lost @ Answer::Lost(_) => self.failed(&lost),
        }
    }

    async fn is_known(&self) -> bool {
        matches!(self.ask("tasks/get").await, Answer::Result(_))
    }

    /// Waits for the result of the task, which is how a session hears what it asks. Gives what is open
    /// now.
    async fn hold(&self) -> String {
        let held = match self.context.tasks.find(&self.id) {
            Some(held) => held,
            None => match self.context.tasks.enter(&self.id) {
                Some(held) => {
                    self.wait_for_result(&held);
                    held
                }
                None => return "{}".to_owned(),
            },
        };
        // The server asks as soon as it hears that somebody waits.
        for _ in 0..50 {
            if !held.0.lock().open.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut state = held.0.lock();
        state.open.retain(|_, (_, ask)| !ask.is_withdrawn());
        let entries: Vec<String> = state
            .open
            .iter()
            .map(|(key, (question, _))| format!("{}:{}", json!(key), question.to_entry()))
            .collect();
        format!("{{{}}}", entries.join(","))
    }

    fn wait_for_result(&self, held: &Arc<HeldTask>) {
        let params = Edit::new(Raw::EMPTY_OBJECT).set_text(&["taskId"], &self.id.own);
        let request = RelayRequest::new("tasks/result", params.finish().ok());
        let Ok(mut call) = self.lane.connection.relay(request.without_deadline()) else {
            return self.context.tasks.remove(&self.id.server, &self.id.own);
        };
        let (held, lane) = (Arc::clone(held), self.lane.enter());
        let subject = format!("tasks/result {}", self.id.own);
        let mut open = lane.hub.enter(self.request.caller(), subject);
        let capabilities = self.request.capabilities.clone();
        let revision = self.request.revision;
        let (context, server, own) = (
            Arc::clone(&self.context),
            self.id.server.clone(),
            self.id.own.clone(),
        );
        // It ends with the task, or with the session of the server.
        tokio::spawn(async move {
            loop {
                let event = tokio::select! {
                    event = call.next() => event,
                    ask = open.ask() => RelayEvent::Ask(ask),
                };
                match event {
                    RelayEvent::Ask(ask) => {
                        let params = ask.params().map(Raw::from);
                        let question = Question::new(ask.method(), params);
                        let mut state = held.0.lock();
                        if state.open.len() < MAX_QUESTIONS
                            && question.is_declared(&capabilities, revision)
                        {
                            state.asked += 1;
                            let key = format!("ask-{}", state.asked);
                            state.open.insert(key, (question, ask));
                        } else {
                            ask.refuse(&refusal(&question));
                        }
                    }
                    RelayEvent::Result(_) | RelayEvent::Error(_) | RelayEvent::Lost(_) => break,
                    _ => {}
                }
            }
            context.tasks.remove(&server, &own);
            drop(lane);
        });
    }
}

fn acknowledged() -> RelayReply {
    RelayReply::Result(br#"{"resultType":"complete"}"#.to_vec())
}

fn set_status(task: &mut Task, status: &str) {
    if let Ok(status) = serde_json::from_value(json!(status)) {
        task.status = status;
    }
}

/// A result inside of a task, which says nothing of the task itself.
fn inlined(result: Vec<u8>) -> String {
    let text = String::from_utf8(result).unwrap_or_default();
    let Ok(raw) = RawValue::from_string(text) else {
        return "{}".to_owned();
    };
    let edit = Edit::new(Raw::from(&raw))
        .drop(&["_meta", RELATED_TASK])
        .finish();
    edit.map_or_else(|_| raw.get().to_owned(), |text| text.raw().get().to_owned())
}

impl TaskTable {
    fn find(&self, id: &TaskId) -> Option<Arc<HeldTask>> {
        let key = (id.server.clone(), id.own.clone());
        self.0.lock().get(&key).cloned()
    }

    fn enter(&self, id: &TaskId) -> Option<Arc<HeldTask>> {
        let mut held = self.0.lock();
        if held.len() >= MAX_HELD {
            return None;
        }
        let task = Arc::<HeldTask>::default();
        held.insert((id.server.clone(), id.own.clone()), Arc::clone(&task));
        Some(task)
    }

    fn remove(&self, server: &str, own: &str) {
        self.0.lock().remove(&(server.to_owned(), own.to_owned()));
    }
}

/// Whether a method of the extension is served here.
pub(crate) fn is_task_method(method: &str) -> bool {
    matches!(method, "tasks/get" | "tasks/update" | "tasks/cancel")
}
