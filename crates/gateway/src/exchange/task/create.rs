//! Calls that become tasks.

use serde_json::{Value, json, value::RawValue};
use turnbuckle_client::RelayEvent;
use turnbuckle_host::shared::timestamp;
use turnbuckle_protocol::{
    ClientCapabilities, ErrorObject, JsonObject, LegacyCreateTaskResult, LegacyTask,
    TASKS_EXTENSION, Task, TaskStatus, TaskSupport,
    envelope::{Edit, Raw},
};
use turnbuckle_server::{Reject, RelayReply};

use super::{
    finished::Finished,
    id::TaskId,
    legacy_server::shown,
    methods::declares,
    reseal,
    table::{MAX_FINISHED_BYTES, NewTask},
    task_lane::TaskLane,
};
use crate::{
    exchange::call::Exchange,
    translate::{Answer, Question, Round, is_task, refusal},
    upstream::{Lane, Member},
};

/// How long a task is kept that was already over when it was created.
const FINISHED_TTL_MS: u64 = 600_000;

pub(super) fn undeclared() -> RelayReply {
    let mut needed = ClientCapabilities::new();
    let extensions = needed.extensions.get_or_insert_default();
    extensions.insert(TASKS_EXTENSION.to_owned(), Value::Object(JsonObject::new()));
    let message = "this needs the tasks extension, which the client did not declare";
    ErrorObject::missing_capability(message, needed).into()
}

/// Whether a call of a modern client becomes a task on a legacy server.
pub(in crate::exchange) fn becomes_task(exchange: &Exchange) -> Result<bool, RelayReply> {
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

/// Runs a call of a modern client as a task of a legacy server. If the server answers immediately,
/// returns its result.
pub(in crate::exchange) async fn create(exchange: Exchange) -> RelayReply {
    let mut open = match exchange.enter().await {
        Ok(open) => open,
        Err(reply) => return reply,
    };
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
                // A task asks questions only while its result is being waited for.
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
    match enter(exchange, &task.task_id, task.ttl_ms, None) {
        Ok(sealed) => shown(&task, &sealed, "task", &[]),
        Err(reject) => reject.into(),
    }
}

/// Translates a task result of a modern server for its client; `None` if the result is not a task.
pub(in crate::exchange) fn created_by_modern(
    exchange: &Exchange,
    raw: &RawValue,
) -> Option<RelayReply> {
    if !is_task(raw) {
        return None;
    }
    let result = Raw::from(raw);
    let Ok(task) = serde_json::from_str::<Task>(raw.get()) else {
        let message = format!(
            "server `{}` returned a task that cannot be read",
            exchange.server()
        );
        return Some(Reject::internal(message).into());
    };
    let sealed = match enter(exchange, &task.task_id, task.ttl_ms, None) {
        Ok(sealed) => sealed,
        Err(reject) => return Some(reject.into()),
    };
    if exchange.from().is_modern() {
        let edited = reseal::resealed(result, &sealed)?;
        return Some(RelayReply::Result(edited.raw().get().as_bytes().to_vec()));
    }
    let mut task = task;
    task.task_id = sealed;
    Some(written(&LegacyCreateTaskResult::from(task)))
}

/// The reply of a legacy server to a legacy client. If it contains a task, the task's id is sealed.
pub(in crate::exchange) fn created_in_session(
    exchange: &Exchange,
    reply: RelayReply,
) -> RelayReply {
    let RelayReply::Result(result) = &reply else {
        return reply;
    };
    let Ok(raw) = serde_json::from_slice::<&RawValue>(result) else {
        return reply;
    };
    let created = serde_json::from_str::<LegacyCreateTaskResult>(raw.get());
    let Ok(LegacyCreateTaskResult { task, .. }) = created else {
        return reply;
    };
    match enter(exchange, &task.task_id, task.ttl, None) {
        Ok(sealed) => {
            let edit = Edit::new(Raw::from(raw)).set_text(&["task", "taskId"], &sealed);
            match edit.finish() {
                Ok(edited) => RelayReply::Result(edited.raw().get().as_bytes().to_vec()),
                Err(error) => Reject::internal(error.to_string()).into(),
            }
        }
        Err(reject) => reject.into(),
    }
}

/// Makes a completed task from the immediate result of a modern server, for a legacy client that
/// requested a task (G31).
pub(in crate::exchange) fn finished(exchange: &Exchange, reply: RelayReply) -> RelayReply {
    let RelayReply::Result(result) = &reply else {
        return reply;
    };
    if result.len() > MAX_FINISHED_BYTES {
        let message = "the result is too large for a task; call the tool without a task";
        return Reject::internal(message).into();
    }
    let is_failed = serde_json::from_slice::<&RawValue>(result)
        .ok()
        .and_then(|raw| Raw::from(raw).member("isError"))
        .is_some_and(|said| said.get() == "true");
    let mut task = Task::new(local_id(), timestamp());
    task.status = if is_failed {
        TaskStatus::Failed
    } else {
        TaskStatus::Completed
    };
    task.ttl_ms = Some(FINISHED_TTL_MS);
    let own = task.task_id.clone();
    let legacy = LegacyTask::from(task);
    let kept = Finished {
        task: json!(legacy).to_string(),
        result: result.clone(),
    };
    match enter(exchange, &own, legacy.ttl, Some(kept)) {
        Ok(sealed) => {
            let mut task = Task::from(legacy);
            task.task_id = sealed;
            written(&LegacyCreateTaskResult::from(task))
        }
        Err(reject) => reject.into(),
    }
}

fn local_id() -> String {
    let number = u128::from_be_bytes(crate::seal::random());
    format!("gateway-{number:032x}")
}

fn written(result: &LegacyCreateTaskResult) -> RelayReply {
    RelayReply::Result(json!(result).to_string().into_bytes())
}

/// Whether a server knows its tasks in this session only. A process is a session, whatever its
/// revision: another process of the same server does not have its tasks, or has others under the
/// same ids.
fn knows_in_session(member: &Member, lane: &Lane) -> bool {
    !lane.revision().is_modern() || member.plan.spec.is_process()
}

/// Registers a new task. Returns the id for the client.
fn enter(
    exchange: &Exchange,
    own: &str,
    ttl: Option<u64>,
    finished: Option<Finished>,
) -> Result<String, Reject> {
    let (context, server) = (&exchange.context, exchange.server());
    let mut lane = None;
    let id = if finished.is_some() {
        TaskId::of_process(context, server, own)
    } else if knows_in_session(&exchange.member, &exchange.lane) {
        lane = Some(TaskLane::of(&exchange.member, &exchange.lane));
        TaskId::of_session(context, server, &exchange.lane, own)
    } else if exchange.member.plan.spec.is_pipe() && context.has_replicas() {
        // A server inside the gateway: each replica has one, and they may or may not share their tasks.
        TaskId::of_mounted(context, server, own)
    } else {
        TaskId::of_server(server, own)
    };
    let caller = exchange.request.caller();
    let sealed = id.seal(context, caller)?;
    context.tasks.enter(NewTask {
        id,
        caller: caller.map(str::to_owned),
        is_listed: exchange.request.is_identified(),
        sealed: sealed.clone(),
        lane,
        ttl,
        finished,
    });
    Ok(sealed)
}
