//! The task methods, for each combination of eras.

use std::sync::Arc;

use serde_json::value::RawValue;
use turnbuckle_protocol::{TASKS_EXTENSION, TaskStatus, envelope::Raw};
use turnbuckle_server::{Reject, RelayReply};

use super::{
    create::undeclared,
    id::{TaskId, unknown},
    legacy_server::LegacyTaskCall,
    list, modern_pass,
    modern_server::{self, ModernTask},
    session_pass,
    table::KnownTask,
};
use crate::{
    exchange::call::Context,
    translate::FrontRequest,
    upstream::{LaneUse, Member},
};

/// A request about a task.
pub(super) struct TaskCall {
    pub(super) context: Arc<Context>,
    pub(super) request: Arc<FrontRequest>,
    pub(super) member: Arc<Member>,
    pub(super) lane: LaneUse,
    pub(super) id: TaskId,
    /// The id that the client knows.
    pub(super) sealed: String,
    pub(super) known: Option<Arc<KnownTask>>,
}

/// Whether the client declares support for tasks.
pub(super) fn declares(request: &FrontRequest) -> bool {
    request.capabilities.extension(TASKS_EXTENSION).is_some()
}

/// Whether a modern server supports the tasks extension.
pub(in crate::exchange) fn has_tasks(lane: &LaneUse) -> bool {
    let can = lane.connection.server().capabilities();
    let extensions = can.and_then(|can| can.extensions.as_ref());
    lane.revision().is_modern() && extensions.is_some_and(|all| all.contains_key(TASKS_EXTENSION))
}

/// Whether a method is about tasks.
pub(crate) fn is_task_method(method: &str) -> bool {
    matches!(
        method,
        "tasks/get" | "tasks/update" | "tasks/cancel" | "tasks/result" | "tasks/list"
    )
}

/// Serves a task method.
pub(crate) async fn serve(
    context: Arc<Context>,
    request: FrontRequest,
    members: Vec<Arc<Member>>,
) -> RelayReply {
    serve_again(context, Arc::new(request), members).await
}

/// Serves a request that may be served more than once.
pub(super) async fn serve_again(
    context: Arc<Context>,
    request: Arc<FrontRequest>,
    members: Vec<Arc<Member>>,
) -> RelayReply {
    let is_modern = request.revision.is_modern();
    if is_modern && !declares(&request) {
        return undeclared();
    }
    if request.method == "tasks/list" {
        return list::serve(&context, &request, &members).await;
    }
    let (id, sealed) = match TaskId::open(&context, &request) {
        Ok(opened) => opened,
        Err(reject) => return reject.into(),
    };
    match id.other_node(&context) {
        Some(node) if is_modern => {
            if let Some(reply) = context.elsewhere(node, &request).await {
                return reply;
            }
        }
        // Ask the replica even if it was silent for a moment: the task is gone only if the replica
        // has ended.
        Some(node) if context.has_replicas() && !id.is_left_by(&context, node, &request) => {
            let task = ModernTask::at_replica(&context, node, &request, &id.server, &sealed);
            return modern_server::serve(task).await;
        }
        _ => {}
    }
    let known = context.tasks.find(&id);
    if let Some(finished) = known.as_ref().and_then(|it| it.finished.as_ref()) {
        return if is_modern {
            finished.serve_modern(&request.method, &sealed)
        } else {
            finished.serve(&request.method, &sealed)
        };
    }
    let call = match TaskCall::of(context, request, &members, id, sealed).await {
        Ok(call) => call,
        Err(reply) => return reply,
    };
    let (known, request) = (call.known.clone(), Arc::clone(&call.request));
    let reply = match (is_modern, call.lane.revision().is_modern()) {
        (true, true) => modern_pass::serve(call).await,
        (true, false) => LegacyTaskCall(call).serve().await,
        (false, true) => modern_server::serve(ModernTask::at_server(&call)).await,
        (false, false) => session_pass::serve(call).await,
    };
    if let Some(known) = known {
        known.note(says_it_is_over(&request.method, &reply));
    }
    reply
}

/// Whether a reply about a task says that the task is over.
fn says_it_is_over(method: &str, reply: &RelayReply) -> bool {
    let RelayReply::Result(result) = reply else {
        return false;
    };
    let status = || {
        let raw = serde_json::from_slice::<&RawValue>(result).ok()?;
        let status = Raw::from(raw).member("status")?;
        serde_json::from_str::<TaskStatus>(status.get()).ok()
    };
    match method {
        "tasks/result" | "tasks/cancel" => true,
        "tasks/get" => status().is_some_and(|status| status.is_terminal()),
        _ => false,
    }
}

impl TaskCall {
    /// Makes the call for a request about this task.
    pub(super) async fn of(
        context: Arc<Context>,
        request: Arc<FrontRequest>,
        members: &[Arc<Member>],
        id: TaskId,
        sealed: String,
    ) -> Result<Self, RelayReply> {
        let member = members.iter().find(|it| it.id.as_str() == id.server);
        let member = Arc::clone(member.ok_or_else(unknown)?);
        let lane = match id.session(&context)? {
            // The task belonged to a process that has ended.
            None if member.plan.spec.is_process() => return Err(unknown().into()),
            None => member.lane(&request).await?,
            Some(number) => member.lane_of(number).ok_or_else(|| {
                Reject::invalid_params("the task is gone: the session with its server has ended")
            })?,
        };
        Ok(Self {
            known: context.tasks.find(&id),
            context,
            request,
            member,
            lane,
            id,
            sealed,
        })
    }
}
