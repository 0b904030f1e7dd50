//! Tasks of the extension for a legacy client: `tasks/result` polls the task until it is over, and
//! asks the client the task's questions (G31). The tasks are at a modern server or at another
//! replica of the gateway.

use std::{collections::HashSet, time::Duration};

use serde_json::{json, value::RawValue};
use tokio::time;
use turnbuckle_protocol::{
    LegacyTask, Revision, Task, TaskStatus,
    envelope::{Edit, Raw, RawText},
    error::name_in_message,
};
use turnbuckle_server::{Reject, RelayReply};

use super::{methods::TaskCall, modern_pass, replica, reseal::related_to};
use crate::{
    exchange::{call::Context, ear},
    translate::{self, Answer, FrontRequest, Question, Round},
};

/// The polling interval for a task whose server does not propose one.
const USUAL_POLL: Duration = Duration::from_secs(1);

/// The shortest and the longest polling interval.
const POLL: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(50)..=Duration::from_secs(30);

/// How many questions one task may ask in total.
const MAX_QUESTIONS: usize = 1_000;

/// A legacy client's request about a task that is accessed through the extension.
pub(super) struct ModernTask<'a> {
    request: &'a FrontRequest,
    server: &'a str,
    /// The id that the client knows.
    sealed: &'a str,
    place: Place<'a>,
}

enum Place<'a> {
    Server(&'a TaskCall),
    Replica(&'a Context, u64),
}

impl<'a> ModernTask<'a> {
    pub(super) fn at_server(call: &'a TaskCall) -> Self {
        Self {
            request: &call.request,
            server: &call.id.server,
            sealed: &call.sealed,
            place: Place::Server(call),
        }
    }

    /// A task whose session is at another replica.
    pub(super) fn at_replica(
        context: &'a Context,
        node: u64,
        request: &'a FrontRequest,
        server: &'a str,
        sealed: &'a str,
    ) -> Self {
        Self {
            request,
            server,
            sealed,
            place: Place::Replica(context, node),
        }
    }

    fn revision(&self) -> Revision {
        match self.place {
            Place::Server(call) => call.lane.revision(),
            Place::Replica(..) => Revision::LATEST,
        }
    }

    async fn send(&self, method: &str, round: &Round) -> Result<Answer, RelayReply> {
        match self.place {
            Place::Server(call) => modern_pass::send(call, method, round).await,
            Place::Replica(context, node) => {
                replica::send(context, node, self.request, method, self.sealed, round).await
            }
        }
    }
}

pub(super) async fn serve(call: ModernTask<'_>) -> RelayReply {
    let served = match call.request.method.as_str() {
        "tasks/get" => look(&call).await.map(|(task, _)| shown(&call, task)),
        "tasks/cancel" => cancel(&call).await,
        _ => result(&call).await,
    };
    served.unwrap_or_else(|reply| reply)
}

/// The status of a task, with the server's full answer.
pub(super) async fn look(call: &ModernTask<'_>) -> Result<(LegacyTask, Box<RawValue>), RelayReply> {
    let answer = call.send("tasks/get", &Round::None).await?;
    let Answer::Result(raw) = answer else {
        return Err(failed(call, &answer));
    };
    let Ok(mut task) = serde_json::from_str::<Task>(raw.get()) else {
        return Err(failed(call, &Answer::Result(raw)));
    };
    let is_error = Raw::from(&*raw).at(&["result", "isError"]);
    if is_error.is_some_and(|said| said.get() == "true") {
        // tasks: in 2025-11-25 the status of a task whose tool failed is `failed`.
        task.status = TaskStatus::Failed;
    }
    task.meta = None;
    let mut legacy = LegacyTask::from(task);
    // Members that belong to the task and not to its status are returned by `tasks/result`.
    legacy.other = turnbuckle_protocol::OtherMembers::new();
    Ok((legacy, raw))
}

fn failed(call: &ModernTask<'_>, answer: &Answer) -> RelayReply {
    let (from, to) = (call.revision(), call.request.revision);
    match answer {
        Answer::Error(raw) => translate::error(raw, from, to, None),
        Answer::Lost(error) => translate::lost(call.server, error),
        Answer::Result(_) => Reject::internal("the task cannot be read").into(),
    }
}

fn shown(call: &ModernTask<'_>, mut task: LegacyTask) -> RelayReply {
    call.sealed.clone_into(&mut task.task_id);
    RelayReply::Result(json!(task).to_string().into_bytes())
}

pub(super) fn terminal() -> RelayReply {
    Reject::invalid_params("the task has already ended and cannot be cancelled").into()
}

async fn cancel(call: &ModernTask<'_>) -> Result<RelayReply, RelayReply> {
    let (task, _) = look(call).await?;
    if task.status.is_terminal() {
        return Ok(terminal());
    }
    let answer = call.send("tasks/cancel", &Round::None).await?;
    if !matches!(answer, Answer::Result(_)) {
        return Err(failed(call, &answer));
    }
    let (mut task, _) = look(call).await?;
    if !task.status.is_terminal() {
        // The server has accepted the cancellation, and a session expects the new status immediately.
        task.status = TaskStatus::Cancelled;
    }
    Ok(shown(call, task))
}

/// Waits for the end of a task, and asks the client the task's questions meanwhile.
async fn result(call: &ModernTask<'_>) -> Result<RelayReply, RelayReply> {
    let mut asked = HashSet::new();
    loop {
        let (task, raw) = look(call).await?;
        let raw = Raw::from(&*raw);
        match task.status {
            TaskStatus::Completed | TaskStatus::Failed => return Ok(ended(call, raw)),
            TaskStatus::Cancelled => {
                return Err(Reject::invalid_params("the task was cancelled").into());
            }
            TaskStatus::InputRequired => ask(call, raw, &mut asked).await?,
            _ => {}
        }
        time::sleep(pause(task.poll_interval)).await;
    }
}

/// The polling interval if the server proposes this many milliseconds.
pub(super) fn pause(wish: Option<u64>) -> Duration {
    let pause = wish.map_or(USUAL_POLL, Duration::from_millis);
    pause.clamp(*POLL.start(), *POLL.end())
}

/// The result or error of a task that is over.
fn ended(call: &ModernTask<'_>, raw: Raw<'_>) -> RelayReply {
    let (from, to) = (call.revision(), call.request.revision);
    if let Some(error) = raw.member("error") {
        return translate::error(error.value(), from, to, None);
    }
    let Some(result) = raw.member("result") else {
        return Reject::internal("the task ended without a result").into();
    };
    // The result in a task may or may not state its type.
    let translated = translate::result("tools/call", result.value(), from, to, None);
    let related = translated.and_then(|result| {
        let raw = serde_json::from_slice::<&RawValue>(&result);
        let related = raw
            .ok()
            .and_then(|raw| related_to(Raw::from(raw), call.sealed));
        related.ok_or_else(|| Reject::internal("the result of the task cannot be read"))
    });
    match related {
        Ok(result) => RelayReply::Result(result.raw().get().as_bytes().to_vec()),
        Err(reject) => reject.into(),
    }
}

/// Asks the client the new questions one by one, and passes the answers to the server.
async fn ask(
    call: &ModernTask<'_>,
    raw: Raw<'_>,
    asked: &mut HashSet<String>,
) -> Result<(), RelayReply> {
    let request = call.request;
    let questions = raw.member("inputRequests").map(Raw::members);
    for (key, entry) in questions.unwrap_or_default() {
        // tasks: each key is used for one question, which is listed until the server has processed
        // the answer.
        if asked.len() >= MAX_QUESTIONS || !asked.insert(key.clone().into_owned()) {
            continue;
        }
        let declared = Question::of_entry(entry)
            .filter(|question| question.is_declared(&request.capabilities, request.revision));
        let params = declared.as_ref().and_then(|question| {
            let (params, _) = question.for_session(call.revision(), request.revision)?;
            let params = params.unwrap_or_else(|| RawText::from(Raw::EMPTY_OBJECT));
            related_to(params.raw(), call.sealed)
        });
        let (Some(question), Some(params)) = (declared, params) else {
            let (server, key) = (call.server, name_in_message(&key));
            return Err(Reject::internal(format!(
                "server `{server}` sent an input request (`{key}`) that this client does not support"
            ))
            .into());
        };
        let answer = match ear::ask(request, &question.method, Some(params.raw())).await {
            Some(Ok(answer)) => answer,
            // An answer cannot contain an error of the client, so the error ends the request.
            Some(Err(error)) => return Err(error.into()),
            None => return Err(Reject::internal("the client disconnected").into()),
        };
        let bare = Edit::new(Raw::from(&*answer)).drop(&["_meta"]).finish();
        let bare = bare.map_err(|_| Reject::invalid_params("an answer must be an object"))?;
        let answers = format!("{{{}:{}}}", json!(key), bare.raw().get());
        let updated = call
            .send("tasks/update", &Round::Answers(answers, None))
            .await?;
        if !matches!(updated, Answer::Result(_)) {
            return Err(failed(call, &updated));
        }
    }
    Ok(())
}
