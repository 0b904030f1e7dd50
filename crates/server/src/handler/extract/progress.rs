//! Progress of a call, reported to a client that asked for it.

use std::{future::IntoFuture, sync::Arc};

use futures_core::future::BoxFuture;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{Id, Lower, Meta, ProgressNotificationParams, Revision, envelope};
use turnbuckle_session::progress::Monotonic;

use super::Extract;
use crate::{
    Call, Failure,
    client::{CancelFlag, Peer},
    handler::TaskChannel,
};

/// Reports progress to a caller that asked for it; costs nothing where nobody did.
///
/// ```
/// # use turnbuckle_server::Progress;
/// async fn build(progress: Progress) {
///     for step in 1..=3 {
///         progress.of(step, 3).say("compiling").await;
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Progress(Option<Arc<Recipient>>);

struct Recipient {
    peer: Option<Arc<Peer>>,
    /// Where reports go in a test without a connection.
    record: Option<ProgressRecord>,
    token: Option<Id>,
    /// Of a call that is or may become a task.
    channel: Option<Arc<TaskChannel>>,
    call: CancelFlag,
    revision: Revision,
    last: Mutex<Monotonic>,
}

/// The reports that a [recorded](Progress::recorded) progress was given.
#[derive(Clone, Debug, Default)]
pub struct ProgressRecord(Arc<Mutex<Vec<Reported>>>);

impl ProgressRecord {
    /// All reports so far that a client would have been sent.
    pub fn reports(&self) -> Vec<Reported> {
        self.0.lock().clone()
    }
}

/// One report of progress.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reported {
    /// How far the work is.
    pub progress: f64,
    /// Of how much in all.
    pub total: Option<f64>,
    /// What the user is told.
    pub message: Option<String>,
}

impl Progress {
    /// One that nobody listens to: for code that wants a progress and tests that do not.
    pub fn unheard() -> Self {
        Self(None)
    }

    /// One that keeps what it is given, without a connection: for tests that call a handler as a
    /// function.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let (progress, record) = turnbuckle_server::Progress::recorded();
    /// progress.of(1, 3).say("compiling").await;
    /// assert_eq!(record.reports()[0].message.as_deref(), Some("compiling"));
    /// # });
    /// ```
    pub fn recorded() -> (Self, ProgressRecord) {
        let record = ProgressRecord::default();
        let recipient = Recipient {
            peer: None,
            record: Some(record.clone()),
            token: None,
            channel: None,
            call: CancelFlag::default(),
            revision: Revision::LATEST,
            last: Mutex::default(),
        };
        (Self(Some(Arc::new(recipient))), record)
    }

    /// Whether somebody wants to hear of progress: a caller that asked for it, or a client that looks at
    /// the task that the call is.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Reports how far the work is, in any unit.
    pub fn at(&self, progress: impl Into<f64>) -> Step<'_> {
        Step {
            reporter: self,
            progress: progress.into(),
            total: None,
            message: None,
        }
    }

    /// Reports how far the work is, of how much in all.
    pub fn of(&self, progress: impl Into<f64>, total: impl Into<f64>) -> Step<'_> {
        Step {
            total: Some(total.into()),
            ..self.at(progress)
        }
    }

    /// Reports progress; waits while the peer does not read.
    ///
    /// A value that does not exceed the last one is not sent: the protocol wants progress to grow.
    pub async fn report(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        // progress: notifications MUST stop after completion, also those of work that outlives it.
        let Some(recipient) = self.0.as_ref().filter(|recipient| recipient.call.is_open()) else {
            return;
        };
        let grows = recipient.last.lock().admit(progress);
        if !grows {
            return;
        }
        if let Some(record) = &recipient.record {
            record.0.lock().push(Reported {
                progress,
                total,
                message,
            });
            return;
        }
        let channel = recipient
            .channel
            .as_ref()
            .filter(|channel| channel.takes_questions());
        if let Some(channel) = channel {
            return recipient.on_task(channel, progress, total, message);
        }
        let params = recipient.params(progress, total, message);
        if let (Some(mut params), Some(peer)) = (params, &recipient.peer) {
            params.lower(recipient.revision);
            peer.notify("notifications/progress", &params).await;
        }
    }
}

impl Recipient {
    fn params(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> Option<ProgressNotificationParams> {
        let mut params = ProgressNotificationParams::new(self.token.clone()?, progress);
        params.total = total;
        params.message = message;
        Some(params)
    }

    /// A task says how far it is in its status. Whoever reads that need not read notifications, so
    /// those are sent where they are allowed and nobody waits for them to be read.
    fn on_task(
        &self,
        channel: &TaskChannel,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) {
        let number = match total {
            Some(total) => format!("{progress} of {total}"),
            None => progress.to_string(),
        };
        channel.say(match &message {
            Some(message) if total.is_some() => format!("{message} ({number})"),
            Some(message) => message.clone(),
            None => number,
        });
        // The extension: there MUST be no progress notifications for tasks.
        if self.revision.is_modern() {
            return;
        }
        let params = self.params(progress, total, message);
        let standing = self.peer.as_ref().and_then(|peer| peer.standing());
        if let (Some(mut params), Some(outbox)) = (params, standing) {
            // tasks: all notifications of a task MUST name it.
            params.meta = channel
                .task()
                .map(|task| Meta::new().with_related_task(task));
            params.lower(self.revision);
            let mut text = Vec::new();
            let method = "notifications/progress";
            if envelope::write_notification(&mut text, method, &params).is_ok() {
                let _ = outbox.try_send_with(|out| out.extend_from_slice(&text));
            }
        }
    }
}

/// One report; it is sent when it is awaited.
#[must_use = "a report is sent when it is awaited"]
pub struct Step<'a> {
    reporter: &'a Progress,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Step<'_> {
    /// Adds a line for the user.
    pub fn say(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

impl<'a> IntoFuture for Step<'a> {
    type Output = ();
    type IntoFuture = BoxFuture<'a, ()>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(
            self.reporter
                .report(self.progress, self.total, self.message),
        )
    }
}

impl Extract for Progress {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let token = call
            .request_meta()
            .token()
            .map(turnbuckle_protocol::IdRef::into_owned);
        let is_wanted = token.is_some() || call.task.is_some();
        Ok(Self(is_wanted.then(|| {
            Arc::new(Recipient {
                peer: Some(Arc::clone(&call.origin.peer)),
                record: None,
                token,
                channel: call.task.clone(),
                call: call.cancel_flag(),
                revision: call.origin.revision,
                last: Mutex::default(),
            })
        })))
    }
}
