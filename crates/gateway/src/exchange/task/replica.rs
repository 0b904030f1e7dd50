//! Tasks at another replica of the gateway, for a legacy client. That replica is asked like a
//! modern client would ask it, because this needs no session there.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tokio::{task::JoinSet, time};
use turnbuckle_protocol::{
    LegacyListTasksResult, LegacyTask, Revision,
    envelope::{Raw, RawText},
    error::code,
};
use turnbuckle_server::{Reject, RelayReply};

use crate::{
    exchange::call::Context,
    translate::{Answer, FrontRequest, Own, Round},
};

/// How long another replica may take to list its tasks.
const LIST_WITHIN: Duration = Duration::from_secs(5);

/// Sends a request about a task to another replica, with the id that the client knows.
pub(super) async fn send(
    context: &Context,
    node: u64,
    request: &FrontRequest,
    method: &str,
    sealed: &str,
    round: &Round,
) -> Result<Answer, RelayReply> {
    let params = params(request, Some(sealed), round)?;
    let params = params.as_ref().map_or(Raw::EMPTY_OBJECT, RawText::raw);
    let reply = context.serve_at(node, request, method, params).await;
    match reply {
        Some(RelayReply::Result(result)) => match read(&result) {
            Some(raw) => Ok(Answer::Result(raw)),
            None => Err(Reject::internal("the task cannot be read").into()),
        },
        Some(RelayReply::Error(_, error)) => match read(error.raw().get().as_bytes()) {
            Some(raw) => Ok(Answer::Error(raw)),
            None => Err(Reject::internal("the task cannot be read").into()),
        },
        Some(reply) => Err(reply),
        None => Err(
            Reject::invalid_params("the task is gone: the gateway that ran it has ended").into(),
        ),
    }
}

/// The tasks of the caller at all other replicas. The tasks of a replica that does not answer are
/// left out; the client can still request each of them.
pub(super) async fn list(context: &Arc<Context>, request: &Arc<FrontRequest>) -> Vec<LegacyTask> {
    // Only an identified caller is the same caller at each replica.
    if request.caller().is_none() {
        return Vec::new();
    }
    let mut asked = JoinSet::new();
    for node in context.other_replicas(request) {
        let (context, request) = (Arc::clone(context), Arc::clone(request));
        asked.spawn(async move {
            let listed = time::timeout(LIST_WITHIN, list_at(&context, node, &request)).await;
            listed.unwrap_or_else(|_| Err("it did not answer in time".to_owned()))
        });
    }
    let mut tasks = Vec::new();
    for listed in asked.join_all().await {
        match listed {
            Ok(listed) => tasks.extend(listed),
            Err(reason) => {
                tracing::warn!(
                    reason,
                    "another replica of the gateway did not list its tasks"
                );
            }
        }
    }
    tasks
}

/// The tasks of the caller at another replica. The list is empty if the replica has ended, or runs
/// a version that does not list them.
async fn list_at(
    context: &Context,
    node: u64,
    request: &FrontRequest,
) -> Result<Vec<LegacyTask>, String> {
    const METHOD: &str = "tasks/list";
    let params = params(request, None, &Round::None);
    let params = params.map_err(|reject| reject.as_error().message.clone())?;
    let params = params.as_ref().map_or(Raw::EMPTY_OBJECT, RawText::raw);
    match context.serve_at(node, request, METHOD, params).await {
        Some(RelayReply::Result(result)) => {
            let listed = serde_json::from_slice::<LegacyListTasksResult>(&result);
            listed.map(|it| it.tasks).map_err(|it| it.to_string())
        }
        None | Some(RelayReply::Error(code::METHOD_NOT_FOUND, _)) => Ok(Vec::new()),
        Some(RelayReply::Error(_, error)) => Err(error.raw().get().to_owned()),
        Some(RelayReply::Reject(reject)) => Err(reject.as_error().message.clone()),
        Some(_) => Err("it answered with something other than a list of tasks".to_owned()),
    }
}

/// The params of a request in the form for another replica.
fn params(
    request: &FrontRequest,
    sealed: Option<&str>,
    round: &Round,
) -> Result<Option<RawText>, Reject> {
    let own = Own {
        name: sealed.map(|sealed| (&["taskId"] as &[_], sealed)),
        has_tasks: true,
        ..Own::default()
    };
    // Replicas use the newest revision among each other.
    request.params_for(Revision::LATEST, &own, round)
}

fn read(json: &[u8]) -> Option<Box<RawValue>> {
    serde_json::from_slice(json).ok()
}
