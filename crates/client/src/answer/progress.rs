//! Progress of an answer, reported to the server.

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{
    ElicitRequestParams, InputRequest, ProgressNotificationParams, ProgressToken,
};
use turnbuckle_session::progress::{Coalesced, Pace};
use turnbuckle_transport::{Pacer, Rate};

/// How long a report waits for a newer one if it came too soon after the last: too short for a user to
/// notice.
const WAIT: Duration = Duration::from_millis(100);

/// Reports the progress of an answer to the server, if the server asked for it.
///
/// Servers can ask for it in sessions, which exist up to 2025-11-25. Report as often as you like: above
/// the rate of [`AskRates::progress`](crate::AskRates::progress) only the newest report is sent, a
/// moment later, and the last one is always sent. Reports whose progress does not grow are not sent,
/// nor are reports after the answer.
///
/// ```
/// use turnbuckle_client::{Client, protocol::CreateMessageResult};
///
/// let client = Client::new("my-app", "0.3.0").on_sample(|asked| async move {
///     for tokens in 1..=100 {
///         asked.progress.report(f64::from(tokens), Some(100.0), None);
///     }
///     Ok(CreateMessageResult::new("my-model", "done"))
/// });
/// # let _ = client;
/// ```
#[derive(Clone, Default)]
pub struct AskProgress(Option<Arc<Reporter>>);

struct Reporter {
    token: ProgressToken,
    send: Box<dyn Fn(&ProgressNotificationParams) + Send + Sync>,
    state: Mutex<ProgressState>,
    pacer: Pacer,
}

#[derive(Default)]
struct ProgressState {
    reports: Coalesced<ProgressNotificationParams>,
    /// Whether a report has said that everything is done.
    has_told_end: bool,
    is_over: bool,
}

impl AskProgress {
    /// Whether the server asked for progress notifications. If it did not, reports are ignored, so
    /// handlers need not check this.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Reports the progress so far, the total if it is known, and a message for the user. This never
    /// blocks. `progress` must grow from report to report.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(reporter) = &self.0 {
            reporter.report(progress, total, message);
        }
    }

    /// Creates a reporter that passes reports to `send`, at most at this rate.
    pub(crate) fn new(
        token: ProgressToken,
        rate: Rate,
        send: impl Fn(&ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(Reporter {
            token,
            send: Box::new(send),
            state: Mutex::default(),
            pacer: Pacer::new(rate),
        })))
    }

    /// Sends the report that waits, if any, and ignores all later reports.
    // progress: notifications MUST stop after completion.
    pub(crate) fn end(&self) {
        if let Some(reporter) = &self.0 {
            reporter.send_waiting();
            reporter.state.lock().is_over = true;
        }
    }
}

/// Returns the progress token of a question, if the server asked for progress.
pub(crate) fn token_of(request: &InputRequest) -> Option<ProgressToken> {
    let meta = match request {
        InputRequest::CreateMessage(params) => params.meta.as_ref(),
        InputRequest::Elicit(params) => match &**params {
            ElicitRequestParams::Form(form) => form.meta.as_ref(),
            ElicitRequestParams::Url(url) => url.meta.as_ref(),
            _ => None,
        },
        _ => None,
    };
    meta?.progress_token()
}

impl Reporter {
    fn report(self: &Arc<Self>, progress: f64, total: Option<f64>, message: Option<&str>) {
        // JSON cannot express a total that is not finite.
        let total = total.filter(|total| total.is_finite());
        let mut report = ProgressNotificationParams::new(self.token.clone(), progress);
        report.total = total;
        report.message = message.map(str::to_owned);
        let mut state = self.state.lock();
        if state.is_over {
            return;
        }
        let is_done = total.is_some_and(|total| progress >= total);
        // Only the first report of the end is sent at once: later ones wait for the rate limit or the
        // answer.
        let is_last = is_done && !state.has_told_end;
        state.has_told_end |= is_done;
        let pace = if is_last || self.pacer.take(Instant::now()) {
            Pace::Due
        } else {
            Pace::TooSoon
        };
        let was_waiting = state.reports.is_waiting();
        if let Some(report) = state.reports.offer(progress, report, pace) {
            // Sent under the lock, so that the reports keep their order.
            (self.send)(&report);
        }
        if state.reports.is_waiting() && !was_waiting && Self::has_runtime() {
            tokio::spawn(send_later(Arc::downgrade(self)));
        }
    }

    fn send_waiting(&self) {
        let mut state = self.state.lock();
        let waiting = state.reports.take_waiting();
        if let Some(report) = waiting.filter(|_| !state.is_over) {
            (self.send)(&report);
        }
    }

    /// Whether a task can be spawned: reports may come from a thread of the application without a
    /// runtime.
    fn has_runtime() -> bool {
        tokio::runtime::Handle::try_current().is_ok()
    }
}

/// Sends the report that waits, unless the question has been answered by then.
async fn send_later(reporter: Weak<Reporter>) {
    tokio::time::sleep(WAIT).await;
    if let Some(reporter) = reporter.upgrade() {
        reporter.send_waiting();
    }
}

impl fmt::Debug for AskProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.0.as_ref().map(|reporter| &reporter.token);
        f.debug_tuple("AskProgress").field(&token).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_report_is_sent_and_none_after_the_end() {
        let sent: Arc<Mutex<Vec<f64>>> = Arc::default();
        let kept = Arc::clone(&sent);
        let progress = AskProgress::new(7.into(), Rate::new(200, 50), move |report| {
            kept.lock().push(report.progress);
        });
        for step in 0..100_000 {
            progress.report(f64::from(step), None, None);
        }
        progress.end();
        progress.report(200_000.0, None, None);
        let sent = sent.lock();
        assert_eq!(sent.last(), Some(&99_999.0));
        assert!(sent.is_sorted());
        assert!(sent.len() < 50_000, "{}", sent.len());
    }
}
