//! `tasks/list` of a legacy client: the gateway's own list of this caller's tasks, so that no
//! caller sees the tasks of another (G31).

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::{task::JoinSet, time};
use turnbuckle_protocol::{LegacyListTasksResult, LegacyTask};
use turnbuckle_server::{Reject, RelayReply};

use super::{
    legacy_server,
    methods::TaskCall,
    modern_server::{self, ModernTask},
    replica,
    table::KnownTask,
};
use crate::{exchange::call::Context, translate::FrontRequest, upstream::Member};

/// How long a server may take to return the status of a listed task. Replicas wait longer for each
/// other than this.
const LOOK_WITHIN: Duration = Duration::from_secs(2);

pub(super) async fn serve(
    context: &Arc<Context>,
    request: &Arc<FrontRequest>,
    members: &[Arc<Member>],
) -> RelayReply {
    // tasks: a server that cannot distinguish its callers MUST NOT list their tasks.
    if !request.is_identified() {
        return Reject::method_not_found("tasks/list").into();
    }
    let here = look_at_all(context, request, members);
    let (mut tasks, others) = tokio::join!(here, replica::list(context, request));
    tasks.extend(others);
    let result = LegacyListTasksResult::new(tasks);
    RelayReply::Result(json!(result).to_string().into_bytes())
}

/// The status of the caller's tasks that this process knows, oldest first. A task is left out if
/// its server does not answer in time.
async fn look_at_all(
    context: &Arc<Context>,
    request: &Arc<FrontRequest>,
    members: &[Arc<Member>],
) -> Vec<LegacyTask> {
    let known = context.tasks.of_caller(request.caller());
    let members: Arc<[_]> = members.into();
    let mut looks = JoinSet::new();
    for (place, known) in known.into_iter().enumerate() {
        let (context, request) = (Arc::clone(context), Arc::clone(request));
        let members = Arc::clone(&members);
        looks.spawn(async move {
            let look = look(&context, &request, &members, &known);
            let looked = time::timeout(LOOK_WITHIN, look).await;
            let looked = looked.unwrap_or_else(|_| {
                let server = &known.id.server;
                tracing::warn!(server, "left out a task, because its server did not answer");
                None
            });
            looked.map(|task| (place, task))
        });
    }
    let mut tasks: Vec<_> = looks.join_all().await.into_iter().flatten().collect();
    tasks.sort_unstable_by_key(|(place, _)| *place);
    tasks.into_iter().map(|(_, task)| task).collect()
}

/// The status of a task; `None` if its server no longer has it.
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
    known.note(task.status.is_terminal());
    task.task_id.clone_from(&known.sealed);
    Some(task)
}
