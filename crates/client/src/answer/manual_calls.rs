//! The calls of a session whose questions are answered by hand.
//!
//! A session does not say which call a question belongs to, so every question goes to the call by hand
//! that was started first.

use std::{collections::BTreeMap, future::poll_fn, sync::Arc, task::Poll, time::Duration};

use tokio::time::Instant;
use tokio::{
    sync::{Notify, oneshot, watch},
    task::AbortHandle,
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{InputRequest, InputRequests, InputResponse, InputResponses};

use super::parked::{ParkedCall, ParkedCalls};
use crate::future::race;

/// How long a question of a session may wait for its answer: an hour. After that the user is not
/// expected to answer any more, and the call ends.
pub(crate) const MAX_WAIT: Duration = Duration::from_hours(1);

/// All the calls by hand of a session.
#[derive(Default)]
pub(crate) struct ManualCalls {
    /// The calls that are running, the oldest first.
    calls: Mutex<Vec<Arc<ManualCall>>>,
    /// Calls that wait for answers while no future awaits them.
    parked: Mutex<ParkedCalls>,
}

/// One call by hand.
#[derive(Debug, Default)]
pub(crate) struct ManualCall {
    questions: Mutex<OpenQuestions>,
    /// Notified when a question arrives or is answered.
    turned: Notify,
    /// The same, for the future that watches the time limit.
    timed: Notify,
    /// Whether the server has answered the call.
    is_over: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct OpenQuestions {
    count: usize,
    /// Each open question with the sender of its answer. Dropping the sender means that there is no
    /// answer.
    open: BTreeMap<usize, (InputRequest, oneshot::Sender<InputResponse>)>,
    open_since: Option<Instant>,
}

impl ManualCalls {
    /// Gives a question to the oldest call by hand. Returns `None` if no call by hand is running.
    pub(crate) fn ask(&self, request: &InputRequest) -> Option<oneshot::Receiver<InputResponse>> {
        let call = self.calls.lock().first()?.clone();
        let (asker, answer) = oneshot::channel();
        let mut questions = call.questions.lock();
        questions.count += 1;
        let number = questions.count;
        questions.open.insert(number, (request.clone(), asker));
        questions.open_since.get_or_insert_with(Instant::now);
        drop(questions);
        call.notify();
        Some(answer)
    }

    /// Registers a new call by hand.
    pub(crate) fn begin(&self) -> Arc<ManualCall> {
        let call = Arc::new(ManualCall::default());
        self.calls.lock().push(call.clone());
        call
    }

    /// Gives up a call by hand. Its open questions get no answer, and its task is aborted; until the
    /// task has ended it may still have to send a cancellation.
    pub(super) fn end(&self, call: &Arc<ManualCall>, task: &AbortHandle) {
        self.calls.lock().retain(|other| !Arc::ptr_eq(other, call));
        let unanswered = std::mem::take(&mut call.questions.lock().open);
        drop(unanswered);
        task.abort();
        self.parked.lock().leave(task);
    }

    /// Parks a call that waits for answers, and returns the ticket for it.
    pub(crate) fn park(&self, call: ParkedCall) -> String {
        let (ticket, oldest) = self.parked.lock().park(call);
        // Dropping the evicted call sends a cancellation to the server, which must not happen under the
        // lock.
        drop(oldest);
        ticket
    }

    /// Removes the parked call of a ticket and returns it.
    pub(crate) fn fetch(&self, ticket: &str) -> Option<ParkedCall> {
        self.parked.lock().fetch(ticket)
    }

    /// Returns the call of a ticket and leaves it parked.
    pub(crate) fn look_up(&self, ticket: &str) -> Option<Arc<ManualCall>> {
        self.parked.lock().look_up(ticket)
    }

    /// Gives up all parked calls, because the connection has ended.
    pub(crate) fn clear(&self) {
        let calls = self.parked.lock().take();
        drop(calls);
    }

    /// Whether a call that was given up must still tell the server.
    pub(crate) fn is_anyone_leaving(&self) -> bool {
        self.parked.lock().is_anyone_leaving()
    }
}

impl ManualCall {
    /// Waits until the server has asked something.
    pub(crate) async fn asked(&self) {
        while self.questions.lock().open.is_empty() {
            self.turned.notified().await;
        }
    }

    /// The open questions, without those that were withdrawn.
    pub(crate) fn asks(&self) -> InputRequests {
        let mut questions = self.questions.lock();
        questions.open.retain(|_, (_, asker)| !asker.is_closed());
        let asks = questions.open.iter();
        asks.map(|(number, (request, _))| (key(*number), request.clone()))
            .collect()
    }

    /// Passes answers to the questions that they belong to.
    pub(crate) fn answer(&self, answers: InputResponses) {
        let mut questions = self.questions.lock();
        let mut ready = Vec::new();
        for (key, answer) in answers {
            let mut numbers = questions.open.keys();
            let number = numbers.find(|number| self::key(**number) == key).copied();
            if let Some((_, asker)) = number.and_then(|number| questions.open.remove(&number)) {
                ready.push((asker, answer));
            }
        }
        if questions.open.is_empty() {
            questions.open_since = None;
        }
        drop(questions);
        for (asker, answer) in ready {
            // The question may have been withdrawn.
            let _ = asker.send(answer);
        }
        self.notify();
    }

    /// Records that the server has answered the call.
    pub(crate) fn finish(&self) {
        self.is_over.send_replace(true);
    }

    /// Completes when answers are not needed any more: the server has withdrawn all questions, or
    /// answered the call.
    pub(crate) async fn withdrawn(&self) {
        let withdrawn = poll_fn(|cx| {
            let mut questions = self.questions.lock();
            let mut open = questions.open.values_mut();
            // The first open question wakes this future. Until it is withdrawn, the others do not
            // matter.
            if open.any(|(_, asker)| asker.poll_closed(cx).is_pending()) {
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        let mut is_over = self.is_over.subscribe();
        race(withdrawn, is_over.wait_for(|is_over| *is_over)).await;
    }

    /// Completes when a question has been open for longer than [`MAX_WAIT`].
    pub(crate) async fn neglected(&self) {
        loop {
            let since = self.questions.lock().open_since;
            match since {
                None => self.timed.notified().await,
                Some(since) if since.elapsed() >= MAX_WAIT => return,
                Some(since) => {
                    let over = tokio::time::sleep_until(since + MAX_WAIT);
                    race(over, self.timed.notified()).await;
                }
            }
        }
    }

    fn notify(&self) {
        self.turned.notify_one();
        self.timed.notify_one();
    }
}

/// Makes the key of a question, because questions of a session have no keys.
fn key(number: usize) -> String {
    format!("ask-{number}")
}
