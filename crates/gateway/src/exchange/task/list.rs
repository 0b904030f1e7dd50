//! `tasks/list` of a legacy client: the tasks that the gateway knows of this caller, so that one caller
//! does not see those of another (G31).

use std::sync::Arc;

use serde_json::json;
use turnbuckle_protocol::{LegacyListTasksResult, LegacyTask};
use turnbuckle_server::RelayReply;

use super::{
    legacy_server,
    methods::TaskCall,
    modern_server::{self, ModernTask},
    replica,
    table::KnownTask,
};
use crate::{exchange::call::Context, translate::FrontRequest, upstream::Member};

pub(super) async fn serve(
    context: &Arc<Context>,
    request: &Arc<FrontRequest>,
    members: &[Arc<Member>],
) -> RelayReply {
    let known = context.tasks.of_caller(request.caller());
    let mut tasks = Vec::new();
    for known in known {
        if let Some(task) = look(context, request, members, &known).await {
            tasks.push(task);
        }
    }
    match replica::list(context, request).await {
        Ok(others) => tasks.extend(others),
        Err(reply) => return reply,
    }
    let result = LegacyListTasksResult::new(tasks);
    RelayReply::Result(json!(result).to_string().into_bytes())
}

/// How a task is doing; `None` if its server has it no more.
async fn look(
    context: &Arc<Context>,
    request: &Arc<FrontRequest>,
    members: &[Arc<Member>],
    known: &Arc<KnownTask>,
) -> Option<LegacyTask> {
    let mut task = if let Some(finished) = &known.finished {
        serde_json::from_str(&finished.task).ok()?
    } else {
        let (context, request) = (Arc::clone(context), Arc::clone(request));
        let (id, sealed) = (known.id.clone(), known.sealed.clone());
        let call = TaskCall::of(context, request, members, id, sealed).await;
        let call = call.ok()?;
        if call.lane.revision().is_modern() {
            modern_server::look(&ModernTask::at_server(&call))
                .await
                .ok()?
                .0
        } else {
            let raw = legacy_server::look(&call).await.ok()?;
            serde_json::from_str::<LegacyTask>(raw.get()).ok()?
        }
    };
    task.task_id.clone_from(&known.sealed);
    Some(task)
}
