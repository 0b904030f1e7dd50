//! Open requests to a legacy client, and the futures that wait for their answers.

use std::{collections::HashMap, sync::Arc};

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::time::Instant;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::{
    ErrorObject, Id, IdRef, ProgressNotificationParams,
    envelope::{self, MalformedKind},
};
#[cfg(feature = "http")]
use turnbuckle_session::requests::Ids;
use turnbuckle_session::{
    RequestTable,
    progress::{Coalesced, Pace},
    requests::Deadline,
};
use turnbuckle_transport::{Pacer, Rate};

/// The client's answer.
pub(crate) type ClientAnswer = Result<Box<RawValue>, ErrorObject>;

/// The listener for the client's progress with a question.
pub(crate) type OnProgress = Arc<dyn Fn(ProgressNotificationParams) + Send + Sync>;

/// The rate of progress reports about one question: the same as for a call.
const PROGRESS: (u32, u32) = (200, 50);

/// The requests of one session that have no answer yet.
#[derive(Default)]
pub(crate) struct Requests {
    table: Mutex<RequestTable<oneshot::Sender<ClientAnswer>>>,
    /// The listeners for the progress of requests, by id, which is also the token.
    listeners: Mutex<HashMap<Id, Arc<ProgressListener>>>,
}

/// The listener for the progress of one request. When it is dropped, because the answer has arrived
/// or is no longer awaited, it reports the client's last progress.
struct ProgressListener {
    hear: OnProgress,
    reports: Mutex<Coalesced<ProgressNotificationParams>>,
    pacer: Pacer,
}

impl ProgressListener {
    fn take(&self, report: ProgressNotificationParams) {
        let pace = if self.pacer.take(Instant::now()) {
            Pace::Due
        } else {
            Pace::TooSoon
        };
        let due = self.reports.lock().offer(report.progress, report, pace);
        if let Some(report) = due {
            (self.hear)(report);
        }
    }
}

/// The last progress is reported even if it follows another report too soon.
impl Drop for ProgressListener {
    fn drop(&mut self) {
        if let Some(report) = self.reports.lock().take_waiting() {
            (self.hear)(report);
        }
    }
}

impl Requests {
    /// Requests whose ids begin with this prefix, so that other replicas know to which replica the
    /// answers belong.
    #[cfg(feature = "http")]
    pub(crate) fn prefixed(prefix: &str) -> Self {
        Self {
            table: Mutex::new(RequestTable::with_ids(Ids::prefixed(prefix))),
            listeners: Mutex::default(),
        }
    }

    fn table(&self) -> MutexGuard<'_, RequestTable<oneshot::Sender<ClientAnswer>>> {
        self.table.lock()
    }

    /// Takes `notifications/progress`. progress: a notification for no open request is ignored.
    pub(crate) fn progress(&self, report: ProgressNotificationParams) {
        let listener = self.listeners.lock().get(&report.progress_token.0).cloned();
        if let Some(listener) = listener {
            listener.take(report);
        }
    }

    /// Enters a request and returns its id and the receiver of its answer. A person may take hours
    /// to fill in a form, so there is no deadline: the request ends with the call or with the
    /// connection.
    pub(crate) fn enter(
        self: &Arc<Self>,
    ) -> Result<(Waiting, oneshot::Receiver<ClientAnswer>), String> {
        let (sender, receiver) = oneshot::channel();
        let id = self
            .table()
            .insert(sender, Deadline::never(), Instant::now().into_std())
            .map_err(|full| full.to_string())?;
        Ok((
            Waiting {
                id,
                requests: Arc::clone(self),
            },
            receiver,
        ))
    }

    /// Takes a response. It is dropped if it is not awaited. Returns whether it was awaited.
    pub(crate) fn answer(&self, response: &envelope::Response<'_>) -> bool {
        let Some(id) = &response.id else { return false };
        let Some(sender) = self.table().complete(id) else {
            return false;
        };
        let outcome = match response.outcome {
            Ok(result) => Ok(result.value().to_owned()),
            Err(error) => Err(ErrorObject::read(error.get())
                .unwrap_or_else(|_| ErrorObject::internal("the client's error cannot be read"))),
        };
        // The future that waits for it may have been dropped in the meantime.
        sender.send(outcome).is_ok()
    }

    /// Fails a request whose answer cannot be parsed, because there will be no other answer.
    /// Returns whether there was such a request.
    pub(crate) fn fail(&self, id: &IdRef<'_>, problem: &str) -> bool {
        let Some(sender) = self.table().complete(id) else {
            return false;
        };
        let _ = sender.send(Err(unreadable(problem)));
        true
    }
}

/// The error of a question whose answer cannot be parsed.
pub(crate) fn unreadable(problem: &str) -> ErrorObject {
    ErrorObject::internal(format!("the client's answer cannot be read: {problem}"))
}

/// The id of the question, if a message that cannot be parsed may be its answer.
pub(crate) fn unreadable_answer(malformed: &envelope::Malformed<'_>, message: &[u8]) -> Option<Id> {
    match malformed.kind {
        MalformedKind::NoAnswer | MalformedKind::NoOutcome => {
            malformed.id.clone().map(IdRef::into_owned)
        }
        MalformedKind::NotJson | MalformedKind::TooManyNodes => {
            envelope::id_of_broken_answer(message)
        }
        _ => None,
    }
}

/// A request that waits for its answer. Dropping it removes it from the open requests.
pub(crate) struct Waiting {
    pub(crate) id: Id,
    requests: Arc<Requests>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let listener = self.requests.listeners.lock().remove(&self.id);
        // Dropping the listener may report progress, which must not happen under the lock.
        drop(listener);
    }
}

impl Waiting {
    /// Passes the client's progress to `hear` until the request is dropped.
    pub(crate) fn hear_progress(&self, hear: OnProgress) {
        let listener = ProgressListener {
            hear,
            reports: Mutex::default(),
            pacer: Pacer::new(Rate::new(PROGRESS.0, PROGRESS.1)),
        };
        let mut listeners = self.requests.listeners.lock();
        listeners.insert(self.id.clone(), Arc::new(listener));
    }

    /// Whether the answer is still missing.
    pub(crate) fn is_open(&self) -> bool {
        self.requests.table().cancel(&self.id.as_ref()).is_some()
    }
}
