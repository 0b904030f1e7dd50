//! The slot for the answer to one request: the reader fills it, and the call waits for it.
//!
//! Progress and the outcome share the slot, so that a call receives them in order, and one allocation
//! and one wake-up serve both.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use serde_json::value::RawValue;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::ProgressNotificationParams;
use turnbuckle_session::requests::Overdue;

/// How many progress reports are queued until the caller reads them. A report supersedes the earlier
/// ones, so the oldest are dropped first.
const MAX_WAITING_PROGRESS: usize = 16;

/// How a request ended.
#[derive(Debug)]
pub(crate) enum RequestOutcome {
    /// `result`, unparsed.
    Result(Box<RawValue>),
    /// `error`, unparsed.
    Error(Box<RawValue>),
    /// No answer arrived before the deadline.
    Overdue(Overdue),
    /// The answer is longer than this many bytes, and was skipped.
    Oversized(usize),
    /// The session of the request has expired, for this reason.
    #[cfg(feature = "http")]
    SessionOver(&'static str),
    /// The answer has more JSON nodes than this, and was skipped.
    TooManyNodes(usize),
    /// The answer is not a valid JSON-RPC response, for this reason.
    Malformed(Box<str>),
    /// The connection is closed, so no answer can arrive.
    Closed,
}

/// The next event for a waiting call.
#[derive(Debug)]
pub(crate) enum SlotEvent {
    /// A progress notification.
    Progress(ProgressNotificationParams),
    /// The outcome; nothing follows.
    Outcome(RequestOutcome),
}

/// The sender of a slot. If it is dropped unused, the call fails because the connection is closed.
#[derive(Debug)]
pub(crate) struct SlotSender(Option<Arc<Mutex<SlotState>>>);

/// The receiver of a slot. Only one clone may wait.
#[derive(Clone, Debug)]
pub(crate) struct Slot(Arc<Mutex<SlotState>>);

#[derive(Debug, Default)]
struct SlotState {
    progress: VecDeque<ProgressNotificationParams>,
    outcome: Option<RequestOutcome>,
    is_overdue: bool,
    #[cfg(feature = "http")]
    is_settled: bool,
    waker: Option<Waker>,
}

/// Receives progress reports that come after the request was answered. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LateSlot(Arc<Mutex<LateReports>>);

#[derive(Debug, Default)]
struct LateReports {
    waiting: VecDeque<ProgressNotificationParams>,
    last: Option<f64>,
    waker: Option<Waker>,
}

impl LateSlot {
    /// progress: reports whose progress does not grow are dropped.
    pub(super) fn push(&self, report: ProgressNotificationParams) {
        let waker = {
            let mut reports = self.0.lock();
            if reports.last.is_some_and(|last| report.progress <= last) {
                return;
            }
            reports.last = Some(report.progress);
            if reports.waiting.len() == MAX_WAITING_PROGRESS {
                reports.waiting.pop_front();
            }
            reports.waiting.push_back(report);
            reports.waker.take()
        };
        wake(waker);
    }

    /// Polls for the next report.
    pub(crate) fn poll_report(&self, context: &Context<'_>) -> Poll<ProgressNotificationParams> {
        let mut reports = self.0.lock();
        if let Some(report) = reports.waiting.pop_front() {
            return Poll::Ready(report);
        }
        reports.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Creates a slot and its sender.
pub(crate) fn slot() -> (SlotSender, Slot) {
    let state = Arc::new(Mutex::new(SlotState::default()));
    (SlotSender(Some(Arc::clone(&state))), Slot(state))
}

impl SlotSender {
    /// Sends the outcome.
    pub(crate) fn fill(mut self, outcome: RequestOutcome) {
        if let Some(state) = self.0.take() {
            settle(&state, outcome);
        }
    }

    /// Sends a progress report.
    pub(crate) fn progress(&self, report: ProgressNotificationParams) {
        let Some(state) = &self.0 else { return };
        let waker = {
            let mut state = state.lock();
            if state.progress.len() == MAX_WAITING_PROGRESS {
                state.progress.pop_front();
            }
            state.progress.push_back(report);
            state.waker.take()
        };
        wake(waker);
    }
}

impl Drop for SlotSender {
    fn drop(&mut self) {
        if let Some(state) = self.0.take() {
            settle(&state, RequestOutcome::Closed);
        }
    }
}

impl Slot {
    /// Waits for the next event. Must not be called after an outcome.
    pub(crate) async fn landed(&self) -> SlotEvent {
        std::future::poll_fn(|context| self.poll_landed(context)).await
    }

    /// Whether the deadline passed before an answer came, even if that was already read.
    pub(crate) fn is_overdue(&self) -> bool {
        self.0.lock().is_overdue
    }

    /// Whether an outcome has arrived, even if it was already read.
    #[cfg(feature = "http")]
    pub(crate) fn is_settled(&self) -> bool {
        self.0.lock().is_settled
    }

    pub(crate) fn poll_landed(&self, context: &Context<'_>) -> Poll<SlotEvent> {
        let mut state = self.0.lock();
        if let Some(report) = state.progress.pop_front() {
            return Poll::Ready(SlotEvent::Progress(report));
        }
        if let Some(outcome) = state.outcome.take() {
            return Poll::Ready(SlotEvent::Outcome(outcome));
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

fn settle(state: &Mutex<SlotState>, outcome: RequestOutcome) {
    let waker = {
        let mut state = state.lock();
        state.is_overdue = matches!(outcome, RequestOutcome::Overdue(_));
        #[cfg(feature = "http")]
        {
            state.is_settled = true;
        }
        state.outcome = Some(outcome);
        state.waker.take()
    };
    wake(waker);
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
