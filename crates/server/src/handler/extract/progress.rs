//! `Progress`: reports the progress of a call to a client that asked for it.

use std::{
    future::IntoFuture,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_core::future::BoxFuture;
use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{Id, Lower, Meta, ProgressNotificationParams, Revision, envelope};
use turnbuckle_session::progress::{Coalesced, Pace};
use turnbuckle_transport::{Outbox, Pacer, Rate};

use super::Extract;
use crate::{
    Call, Failure,
    client::{CancelFlag, Peer},
    handler::TaskChannel,
};

/// How long a report that came too soon waits for a newer one. A person does not notice this delay.
const WAIT: Duration = Duration::from_millis(100);

const METHOD: &str = "notifications/progress";

/// Reports the progress of a call to a client that asked for it. If the client did not ask, a
/// report costs almost nothing.
///
/// You can report as often as you like: beyond [`Rates::progress`](crate::Rates::progress) only the
/// newest report is sent, a moment later. The last report is always sent.
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
    /// Where reports are recorded in a test without a connection.
    record: Option<ProgressRecord>,
    token: Option<Id>,
    /// Set for a call that is or may become a task.
    channel: Option<Arc<TaskChannel>>,
    call: CancelFlag,
    revision: Revision,
    reports: Mutex<Coalesced<ProgressReport>>,
    pacer: Pacer,
    /// Whether a report has told that all work is done.
    has_told_end: AtomicBool,
}

/// The reports of a [recorded](Progress::recorded) progress, for tests. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ProgressRecord(Arc<Mutex<Vec<ProgressReport>>>);

impl ProgressRecord {
    /// Returns all reports so far that would have been sent to a client.
    pub fn reports(&self) -> Vec<ProgressReport> {
        self.0.lock().clone()
    }
}

/// One report of progress.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProgressReport {
    /// How far the work is, in any unit.
    pub progress: f64,
    /// The total amount of work in the same unit, if it is known.
    pub total: Option<f64>,
    /// The message for the user.
    pub message: Option<String>,
}

impl Progress {
    /// Creates a reporter that discards its reports, for tests that call a handler as a function.
    /// [`recorded`](Self::recorded) keeps the reports.
    pub fn discarded() -> Self {
        Self(None)
    }

    /// Creates a reporter that records its reports, without a connection: for tests that call a
    /// handler as a function.
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
            reports: Mutex::default(),
            pacer: Pacer::new(Rate::UNLIMITED),
            has_told_end: AtomicBool::new(false),
        };
        (Self(Some(Arc::new(recipient))), record)
    }

    /// Whether reports are used: the client asked for progress, or the call is a task, whose status
    /// shows it.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Reports the progress in any unit, without a total, when the returned [`Step`] is awaited.
    /// The value must grow from report to report.
    pub fn at(&self, progress: impl Into<f64>) -> Step<'_> {
        Step {
            reporter: self,
            progress: progress.into(),
            total: None,
            message: None,
        }
    }

    /// Reports the progress and the total, when the returned [`Step`] is awaited. Clients can show
    /// a percentage.
    pub fn of(&self, progress: impl Into<f64>, total: impl Into<f64>) -> Step<'_> {
        Step {
            total: Some(total.into()),
            ..self.at(progress)
        }
    }

    /// Reports progress, and waits while too many messages for the client are queued.
    ///
    /// A value that does not exceed the last one is not sent, because the protocol requires
    /// progress to increase.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready may lose this report.
    pub async fn report(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        // progress: notifications MUST stop after completion, also those of work that outlives it.
        let Some(recipient) = self.0.as_ref().filter(|recipient| recipient.call.is_open()) else {
            return;
        };
        // JSON cannot represent a total that is not finite.
        let total = total.filter(|total| total.is_finite());
        let report = ProgressReport {
            progress,
            total,
            message,
        };
        let Some(report) = recipient.offer(report) else {
            return;
        };
        if let Some(record) = &recipient.record {
            record.0.lock().push(report);
            return;
        }
        if let Some(channel) = recipient.task() {
            return recipient.on_task(channel, report);
        }
        if let (Some(params), Some(peer)) = (recipient.params(report), &recipient.peer) {
            peer.notify(METHOD, &params).await;
        }
    }
}

impl Recipient {
    /// Takes a report, and returns a report that has to be sent now, if any. A report that comes
    /// too soon is sent a moment later, or at the end of the call.
    fn offer(self: &Arc<Self>, report: ProgressReport) -> Option<ProgressReport> {
        // progress: both sides SHOULD limit the rate. The first report that all work is done is
        // sent at once; reports after it are limited like all others.
        let is_done = report.total.is_some_and(|total| report.progress >= total);
        let is_last = is_done && !self.has_told_end.swap(true, Ordering::Relaxed);
        let pace = if is_last || self.pacer.take(Instant::now()) {
            Pace::Due
        } else {
            Pace::TooSoon
        };
        let mut reports = self.reports.lock();
        let was_waiting = reports.is_waiting();
        let due = reports.offer(report.progress, report, pace);
        if reports.is_waiting() && !was_waiting {
            tokio::spawn(send_later(Arc::downgrade(self)));
        }
        due
    }

    /// Sends the report that waits, if there is one. It does not wait until the client reads.
    fn send_waiting(&self, send: impl FnOnce(&Outbox, &[u8])) {
        let waiting = self.reports.lock().take_waiting();
        let Some(report) = waiting.filter(|_| self.call.is_open()) else {
            return;
        };
        if let Some(channel) = self.task() {
            return self.on_task(channel, report);
        }
        if let (Some(params), Some(peer)) = (self.params(report), &self.peer) {
            let mut text = Vec::new();
            if envelope::write_notification(&mut text, METHOD, &params).is_ok() {
                send(peer.outbox(), &text);
            }
        }
    }

    /// The channel of the task that the call has become, if it is a task.
    fn task(&self) -> Option<&TaskChannel> {
        let channel = self.channel.as_deref();
        channel.filter(|channel| channel.takes_questions())
    }

    fn params(&self, report: ProgressReport) -> Option<ProgressNotificationParams> {
        let mut params = ProgressNotificationParams::new(self.token.clone()?, report.progress);
        params.total = report.total;
        params.message = report.message;
        params.lower(self.revision);
        Some(params)
    }

    /// Stores the progress in the status of the task. Clients that read the status need no
    /// notifications. So notifications are sent only if they are allowed, and only if there is
    /// space for them at once.
    fn on_task(&self, channel: &TaskChannel, report: ProgressReport) {
        let progress = report.progress;
        let number = match report.total {
            Some(total) => format!("{progress} of {total}"),
            None => progress.to_string(),
        };
        channel.say(match &report.message {
            Some(message) if report.total.is_some() => format!("{message} ({number})"),
            Some(message) => message.clone(),
            None => number,
        });
        // The tasks extension: there MUST be no progress notifications for tasks.
        if self.revision.is_modern() {
            return;
        }
        let params = self.params(report);
        let standing = self.peer.as_ref().and_then(|peer| peer.standing());
        if let (Some(mut params), Some(outbox)) = (params, standing) {
            // tasks: all notifications of a task MUST name it.
            params.meta = channel
                .task()
                .map(|task| Meta::new().with_related_task(task));
            params.lower(self.revision);
            let mut text = Vec::new();
            if envelope::write_notification(&mut text, METHOD, &params).is_ok() {
                let _ = outbox.try_send_with(|out| out.extend_from_slice(&text));
            }
        }
    }
}

/// Dropped when the handler has ended, before the call's answer is sent: the report that waits is
/// the last one.
impl Drop for Recipient {
    fn drop(&mut self) {
        // There is only one of these in a call.
        self.send_waiting(Outbox::push);
    }
}

/// Sends the report that waits, unless the call has ended by then.
async fn send_later(recipient: Weak<Recipient>) {
    tokio::time::sleep(WAIT).await;
    if let Some(recipient) = recipient.upgrade() {
        recipient.send_waiting(|outbox, text| {
            // A client that does not read gets the next report, or the last one.
            let _ = outbox.try_send_with(|out| out.extend_from_slice(text));
        });
    }
}

/// One report, from [`Progress::at`] or [`Progress::of`]. It is sent when it is awaited.
#[must_use = "a report is sent when it is awaited"]
pub struct Step<'a> {
    reporter: &'a Progress,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Step<'_> {
    /// Adds a message for the user.
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
                reports: Mutex::default(),
                pacer: Pacer::new(call.context.progress_rate),
                has_told_end: AtomicBool::new(false),
            })
        })))
    }
}
