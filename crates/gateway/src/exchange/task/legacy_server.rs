//! Tasks of a legacy server for a modern client: the client uses the extension, and the server gets
//! `task` params and `tasks/result` (G18).

use std::{sync::Arc, time::Duration};

use serde_json::{json, value::RawValue};
use tokio::time;
use turnbuckle_client::{Attribution, RelayEvent, RelayRequest};
use turnbuckle_protocol::{
    LegacyTask, Task, TaskStatus,
    envelope::{Edit, Raw},
    error::code,
};
use turnbuckle_server::{Reject, RelayReply};

use super::{
    methods::TaskCall,
    reseal::unrelated,
    table::{KnownTask, NewTask},
    task_lane::TaskLane,
};
use crate::translate::{self, Answer, Question, answer, not_offered, refusal};

/// How long a server may take to return the status of a task.
const STATUS_WITHIN: Duration = Duration::from_mins(1);

/// How long to wait for questions of the server after `tasks/result` was called.
const ASKS_WITHIN: Duration = Duration::from_millis(500);

/// The status of a task of a legacy server, unchanged.
pub(super) async fn look(call: &TaskCall) -> Result<Box<RawValue>, RelayReply> {
    match send(call, "tasks/get").await {
        Answer::Result(raw) => Ok(raw),
        other => Err(failed(call, &other)),
    }
}

/// The result that contains a task, with additional members.
pub(super) fn shown(task: &Task, id: &str, kind: &str, more: &[(&str, String)]) -> RelayReply {
    let text = json!(task).to_string();
    let Ok(raw) = RawValue::from_string(text) else {
        return Reject::internal("the task cannot be written").into();
    };
    let Some(bare) = unrelated(Raw::from(&raw)) else {
        return Reject::internal("the task cannot be written").into();
    };
    let mut edit = Edit::new(bare.raw())
        .set_text(&["taskId"], id)
        .set_text(&["resultType"], kind);
    for (name, value) in more {
        edit = edit.set(&[*name], value.clone());
    }
    match edit.finish() {
        Ok(text) => RelayReply::Result(text.raw().get().as_bytes().to_vec()),
        Err(error) => Reject::internal(error.to_string()).into(),
    }
}

async fn send(call: &TaskCall, method: &str) -> Answer {
    let params = Edit::new(Raw::EMPTY_OBJECT).set_text(&["taskId"], &call.id.own);
    let params = params.finish().ok();
    let record = call.request.record.as_ref();
    if let Some(record) = record {
        record.sent(
            &call.id.server,
            call.lane.revision(),
            method,
            params.as_ref(),
        );
    }
    let request = RelayRequest::new(method, params);
    let sent = call
        .lane
        .connection
        .relay(request.with_deadline(STATUS_WITHIN));
    let mut sent = match sent {
        Ok(sent) => sent,
        Err(error) => return Answer::Lost(error),
    };
    loop {
        let event = sent.next().await;
        if let Some(record) = record {
            record.heard(&event);
        }
        match event {
            RelayEvent::Result(raw) => return Answer::Result(raw),
            RelayEvent::Error(raw) => return Answer::Error(raw),
            RelayEvent::Lost(error) => return Answer::Lost(error),
            _ => {}
        }
    }
}

fn failed(call: &TaskCall, answer: &Answer) -> RelayReply {
    let (from, to) = (call.lane.revision(), call.request.revision);
    match answer {
        Answer::Error(raw) => translate::error(raw, from, to, None),
        Answer::Lost(error) => translate::lost(&call.id.server, error),
        Answer::Result(_) => Reject::internal("the task cannot be read").into(),
    }
}

pub(super) fn acknowledged() -> RelayReply {
    RelayReply::Result(br#"{"resultType":"complete"}"#.to_vec())
}

/// A request of a modern client about a task of a legacy server.
pub(super) struct LegacyTaskCall(pub(super) TaskCall);

impl LegacyTaskCall {
    pub(super) async fn serve(self) -> RelayReply {
        match self.0.request.method.as_str() {
            "tasks/get" => self.get().await.unwrap_or_else(|reply| reply),
            "tasks/update" => self.update(),
            _ => self.cancel().await,
        }
    }

    async fn get(&self) -> Result<RelayReply, RelayReply> {
        let raw = look(&self.0).await?;
        let Ok(task) = serde_json::from_str::<LegacyTask>(raw.get()) else {
            return Err(failed(&self.0, &Answer::Result(raw)));
        };
        let mut task = Task::from(task);
        match task.status {
            TaskStatus::Completed | TaskStatus::Failed => match send(&self.0, "tasks/result").await
            {
                Answer::Result(raw) => {
                    // tasks: a tool's failure is a result like any other, so the task has completed.
                    task.status = TaskStatus::Completed;
                    let result = self.inlined(&raw)?;
                    Ok(self.shown(&task, &[("result", result)]))
                }
                Answer::Error(raw) => {
                    task.status = TaskStatus::Failed;
                    Ok(self.shown(&task, &[("error", raw.get().to_owned())]))
                }
                lost @ Answer::Lost(_) => Err(failed(&self.0, &lost)),
            },
            TaskStatus::InputRequired => {
                let asked = self.asked(task.ttl_ms).await;
                Ok(self.shown(&task, &[("inputRequests", asked)]))
            }
            _ => Ok(self.shown(&task, &[])),
        }
    }

    fn shown(&self, task: &Task, more: &[(&str, String)]) -> RelayReply {
        shown(task, &self.0.sealed, "complete", more)
    }

    /// The result to include in a task, without the related-task metadata.
    fn inlined(&self, raw: &RawValue) -> Result<String, Reject> {
        let (from, to) = (self.0.lane.revision(), self.0.request.revision);
        let result = translate::result("tools/call", raw, from, to, None)?;
        let bare = serde_json::from_slice::<&RawValue>(&result)
            .ok()
            .and_then(|raw| unrelated(Raw::from(raw)));
        let bare = bare.ok_or_else(|| Reject::internal("the result of the task cannot be read"))?;
        Ok(bare.raw().get().to_owned())
    }

    fn update(&self) -> RelayReply {
        let answers = self.0.request.params().member("inputResponses");
        let answers = answers.map(Raw::members).unwrap_or_default();
        if let Some(known) = &self.0.known {
            for (key, response) in answers {
                if response.is_object()
                    && let Some(ask) = known.answer(&key)
                {
                    let answer = answer(response.value(), self.0.lane.revision());
                    if let Some(record) = &self.0.request.record {
                        record.answer_sent(&answer);
                    }
                    ask.answer(&answer);
                }
            }
        }
        acknowledged()
    }

    async fn cancel(&self) -> RelayReply {
        match send(&self.0, "tasks/cancel").await {
            Answer::Result(_) => acknowledged(),
            // A task that is over cannot be cancelled. The client wanted the task to end, so this
            // is a success.
            Answer::Error(raw) => {
                let code = Raw::from(&*raw)
                    .member("code")
                    .and_then(|raw| raw.parse().ok());
                match code {
                    Some(code::INVALID_PARAMS) if self.is_over().await => acknowledged(),
                    _ => failed(&self.0, &Answer::Error(raw)),
                }
            }
            lost @ Answer::Lost(_) => failed(&self.0, &lost),
        }
    }

    async fn is_over(&self) -> bool {
        let Ok(raw) = look(&self.0).await else {
            return false;
        };
        let task = serde_json::from_str::<LegacyTask>(raw.get());
        task.is_ok_and(|task| task.status.is_terminal())
    }

    /// The questions of the task. They arrive while `tasks/result` is being waited for.
    async fn asked(&self, ttl: Option<u64>) -> String {
        let call = &self.0;
        let known = match &call.known {
            Some(known) => Arc::clone(known),
            None => call.context.tasks.enter(NewTask {
                id: call.id.clone(),
                caller: call.request.caller().map(str::to_owned),
                is_listed: call.request.is_identified(),
                sealed: call.sealed.clone(),
                lane: Some(TaskLane::of(&call.member, &call.lane)),
                ttl,
                finished: None,
            }),
        };
        known.hold(|| self.wait_for_result(&known));
        let mut told = std::pin::pin!(known.asked.notified());
        told.as_mut().enable();
        if !known.is_asking() {
            let _ = time::timeout(ASKS_WITHIN, told).await;
        }
        known.input_requests()
    }

    /// Waits for `tasks/result` in a spawned task, which ends with the server's task, its session,
    /// or when the gateway forgets the task.
    fn wait_for_result(&self, known: &Arc<KnownTask>) -> Option<tokio::task::AbortHandle> {
        let call = &self.0;
        let params = Edit::new(Raw::EMPTY_OBJECT).set_text(&["taskId"], &call.id.own);
        let request = RelayRequest::new("tasks/result", params.finish().ok());
        let relayed = call.lane.connection.relay(request.without_deadline());
        let mut waited = relayed.ok()?;
        let (lane, known) = (call.lane.enter(), Arc::downgrade(known));
        let request = Arc::clone(&call.request);
        let waiting = tokio::spawn(async move {
            loop {
                match waited.next().await {
                    RelayEvent::Ask(ask) => {
                        let question = Question::new(ask.method(), ask.params().map(Raw::from));
                        let is_ours =
                            matches!(ask.attribution(), Attribution::Stream | Attribution::Task)
                                || lane.hub.is_alone(request.caller());
                        let is_declared =
                            question.is_declared(&request.capabilities, request.revision);
                        match known.upgrade().filter(|_| is_ours) {
                            Some(known) if is_declared => known.ask(question, ask),
                            Some(_) => {
                                let client = &request.capabilities;
                                ask.refuse(&not_offered(&question, client, request.revision));
                            }
                            None => ask.refuse(&refusal(&question)),
                        }
                    }
                    RelayEvent::Result(_) | RelayEvent::Error(_) | RelayEvent::Lost(_) => return,
                    _ => {}
                }
            }
        });
        Some(waiting.abort_handle())
    }
}
