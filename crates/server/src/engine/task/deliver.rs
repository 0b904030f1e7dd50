//! `tasks/result`: a session waits for the end of its task, and gets the questions of the task
//! meanwhile.

use std::{
    collections::BTreeSet,
    future::{Future as _, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::futures::Notified;
use turnbuckle_base::wall_clock;
use turnbuckle_protocol::{
    ErrorObject, IdRef, InputRequest, Meta, RelatedTask, Revision, TaskState, envelope,
    error::name_in_message,
};
use turnbuckle_session::round::{AskOutcome, Round};
use turnbuckle_store::task::{Answers, TaskChange, TaskRecord, millis};

use super::{
    RunningTasks,
    running_tasks::{QuestionClaim, failed},
    wire,
};
use crate::{
    Fault, Reject,
    client::{Peer, requests::ClientAnswer},
    engine::{Response, Sink as _, Wrote, answer},
};

/// An error instead of an answer. No question can be answered with such an object, so clients
/// cannot produce one by accident or on purpose.
#[derive(Serialize, Deserialize)]
pub(super) struct RefusedAnswer {
    #[serde(rename = "turnbuckle/refused")]
    refused: ErrorObject,
}

impl RefusedAnswer {
    /// Returns the error if this is one.
    pub(super) fn read(answer: &RawValue) -> Option<ErrorObject> {
        let refusal: Self = serde_json::from_str(answer.get()).ok()?;
        Some(refusal.refused)
    }
}

/// The questions of a task, as far as they are sent to the client.
struct Asks<'a> {
    tasks: &'a Arc<RunningTasks>,
    peer: &'a Arc<Peer>,
    revision: Revision,
    sent: Vec<Sent>,
    /// Questions that cannot be sent to this client.
    unsendable: BTreeSet<String>,
}

struct Sent {
    key: String,
    answer: BoxFuture<'static, MaybeAnswered>,
    _claim: QuestionClaim,
}

/// Waits for the end of a task, and writes the result that its call would have returned.
///
/// # Cancel safety
/// Dropping the future withdraws questions that the client has not answered; the task continues.
pub(crate) async fn result(
    tasks: Arc<RunningTasks>,
    peer: Arc<Peer>,
    revision: Revision,
    id: IdRef<'static>,
    task: String,
) -> Response {
    let mut response = Response::default();
    let ended = wait(&tasks, &peer, revision, &task).await;
    response.put(
        |out| match ended.and_then(|record| payload(&record, revision)) {
            Ok(payload) => {
                envelope::write_raw_result(out, &id, &payload);
                Wrote::Result
            }
            Err(reject) => answer::write_reject(revision, &id, reject, out),
        },
    );
    response
}

/// tasks: the result is exactly what the underlying request would have returned.
fn payload(record: &TaskRecord, revision: Revision) -> Result<Vec<u8>, Reject> {
    match &record.task.state {
        TaskState::Completed(text) => {
            let mut payload = Vec::new();
            wire::result(record, text, revision)
                .and_then(|result| result.write(&mut payload))
                .map_err(|error| Fault::new(error).into_reject())?;
            Ok(payload)
        }
        TaskState::Failed(error) => Err(Reject::of(error.clone())),
        _ => Err(Reject::of(ErrorObject::internal("the task was cancelled"))),
    }
}

async fn wait(
    tasks: &Arc<RunningTasks>,
    peer: &Arc<Peer>,
    revision: Revision,
    task: &str,
) -> Result<Arc<TaskRecord>, Reject> {
    let mut asks = Asks {
        tasks,
        peer,
        revision,
        sent: Vec::new(),
        unsendable: BTreeSet::new(),
    };
    loop {
        let mut handed_back = pin!(tasks.handed_back.notified());
        handed_back.as_mut().enable();
        let found = tasks.find(peer.caller(), task).await?;
        let record = found.ok_or_else(|| unknown(task))?;
        if record.is_over() {
            return Ok(record);
        }
        asks.follow(&record);
        if let Some((index, answer)) = asks.next(&record, handed_back).await? {
            asks.answered(task, index, answer).await?;
        }
    }
}

/// The answer of a client; `None` if the client disconnected.
type MaybeAnswered = Option<ClientAnswer>;

impl Asks<'_> {
    /// Waits for the first answer, and returns it with the index of its question. Returns `None` if
    /// the status of the task should be checked first.
    async fn next(
        &mut self,
        record: &TaskRecord,
        mut handed_back: Pin<&mut Notified<'_>>,
    ) -> Result<Option<(usize, MaybeAnswered)>, Reject> {
        let key = record.key();
        let mut changed = pin!(self.tasks.store.changed(&key, record.version));
        let mut expired = pin!(tokio::time::sleep(time_left(record)));
        poll_fn(|context| {
            for (index, sent) in self.sent.iter_mut().enumerate() {
                if let Poll::Ready(answer) = sent.answer.as_mut().poll(context) {
                    return Poll::Ready(Ok(Some((index, answer))));
                }
            }
            if let Poll::Ready(changed) = changed.as_mut().poll(context) {
                return Poll::Ready(changed.map(|()| None));
            }
            if handed_back.as_mut().poll(context).is_ready()
                || expired.as_mut().poll(context).is_ready()
            {
                return Poll::Ready(Ok(None));
            }
            Poll::Pending
        })
        .await
        .map_err(|error| failed(error.into()))
    }

    /// Sends open questions that have not been sent yet, and withdraws questions that are no longer
    /// open.
    fn follow(&mut self, record: &TaskRecord) {
        let open = record.open();
        self.sent
            .retain(|sent| open.is_some_and(|open| open.contains_key(&sent.key)));
        for (key, question) in open.into_iter().flatten() {
            if self.sent.iter().any(|sent| sent.key == *key) || self.unsendable.contains(key) {
                continue;
            }
            let Some(question) = self.in_session(key, question, &record.task.task_id) else {
                continue;
            };
            let claimed = self.tasks.claim(&record.task.task_id, key);
            if let Some(claimed) = claimed {
                let peer = Arc::clone(self.peer);
                self.sent.push(Sent {
                    key: key.clone(),
                    answer: Box::pin(async move { peer.request(&question, None).await }),
                    _claim: claimed,
                });
            }
        }
    }

    /// Converts a question for this session, if that is possible: the task may have begun in
    /// another session.
    fn in_session(&self, key: &str, question: &InputRequest, task: &str) -> Option<InputRequest> {
        let capabilities = self.peer.client()?.capabilities;
        let mut round = Round::new(self.revision, capabilities);
        let Ok(AskOutcome::Open) = round.ask(key, question) else {
            return None;
        };
        let mut question = round.withdraw(key)?.to_request();
        // tasks: a request of a task MUST name it.
        let meta = question.meta_mut();
        let own: Meta = meta.take().unwrap_or_default();
        *meta = Some(own.with_related_task(&RelatedTask::new(task)));
        Some(question)
    }

    /// Stores an answer. If the client disconnected, it has not answered, and another one may be
    /// asked.
    async fn answered(
        &mut self,
        task: &str,
        index: usize,
        answer: MaybeAnswered,
    ) -> Result<(), Reject> {
        let sent = self.sent.swap_remove(index);
        let answer = match answer {
            None => {
                self.unsendable.insert(sent.key);
                return Ok(());
            }
            Some(Ok(answer)) => answer,
            Some(Err(refused)) => to_raw_value(&RefusedAnswer { refused })
                .map_err(|error| Fault::new(error).into_reject())?,
        };
        let answers = Answers::from([(sent.key, answer)]);
        let caller = self.peer.caller();
        let change = TaskChange::Answer(answers);
        self.tasks.change(caller, task, change).await.map(drop)
    }
}

fn time_left(record: &TaskRecord) -> Duration {
    /// For tasks that never expire: the interval at which they are checked in any case.
    const LOOK_AGAIN: Duration = Duration::from_mins(1);
    let left = record
        .expires_ms()
        .map(|expires| Duration::from_millis(expires.saturating_sub(millis(wall_clock::now()))));
    left.map_or(LOOK_AGAIN, |left| left.max(Duration::from_millis(1)))
}

/// tasks: the error for an unknown task is −32602.
pub(crate) fn unknown(task: &str) -> Reject {
    let task: String = task.chars().take(64).collect();
    let task = name_in_message(&task);
    Reject::invalid_params(format!("unknown or expired task `{task}`"))
}
