//! The calls of a session whose questions are answered by hand.
//!
//! Nothing in a session says which call a question belongs to, so it goes to the call by hand that
//! has been under way for the longest.

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

/// How long a call of a session may wait for answers: an hour. After that the user will not come
/// back, and the server is told that there is no answer.
pub(crate) const MAX_WAIT: Duration = Duration::from_hours(1);

/// All the calls by hand of a session.
#[derive(Default)]
pub(crate) struct ManualCalls {
    /// Those under way, the oldest first.
    calls: Mutex<Vec<Arc<ManualCall>>>,
    /// Calls that wait for answers while no future awaits them.
    parked: Mutex<ParkedCalls>,
}

/// One call by hand.
#[derive(Debug, Default)]
pub(crate) struct ManualCall {
    questions: Mutex<OpenQuestions>,
    /// Tells of questions that came, and of those that were answered.
    turned: Notify,
    /// The same for the one who watches over the time.
    timed: Notify,
    /// Whether the server has answered the call.
    is_over: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct OpenQuestions {
    count: usize,
    /// Each with the sender of its answer. Dropping the sender means that there is no answer.
    open: BTreeMap<usize, (InputRequest, oneshot::Sender<InputResponse>)>,
    open_since: Option<Instant>,
}

impl ManualCalls {
    /// Gives a question to a call by hand, if there is one.
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

    /// A call by hand begins.
    pub(crate) fn begin(&self) -> Arc<ManualCall> {
        let call = Arc::new(ManualCall::default());
        self.calls.lock().push(call.clone());
        call
    }

    /// A call by hand is given up. What it was asked and did not answer has no answer; its task has
    /// still to say that it is over.
    pub(super) fn end(&self, call: &Arc<ManualCall>, task: &AbortHandle) {
        self.calls.lock().retain(|other| !Arc::ptr_eq(other, call));
        let unanswered = std::mem::take(&mut call.questions.lock().open);
        drop(unanswered);
        task.abort();
        self.parked.lock().leave(task);
    }

    /// Parks a call that waits for answers, and gives the ticket for it.
    pub(crate) fn park(&self, call: ParkedCall) -> String {
        let (ticket, oldest) = self.parked.lock().park(call);
        // Giving it up says so to the server: not under the lock.
        drop(oldest);
        ticket
    }

    /// Takes the parked call of a ticket out.
    pub(crate) fn fetch(&self, ticket: &str) -> Option<ParkedCall> {
        self.parked.lock().fetch(ticket)
    }

    /// The call of a ticket, which stays parked.
    pub(crate) fn look_up(&self, ticket: &str) -> Option<Arc<ManualCall>> {
        self.parked.lock().look_up(ticket)
    }

    /// Gives up all parked calls: the connection is over.
    pub(crate) fn clear(&self) {
        let calls = self.parked.lock().take();
        drop(calls);
    }

    /// Whether a call that was given up has still to say so.
    pub(crate) fn is_anyone_leaving(&self) -> bool {
        self.parked.lock().is_anyone_leaving()
    }
}

impl ManualCall {
    /// Waits until something is asked.
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

    /// Hands answers over.
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

    /// The server has answered the call.
    pub(crate) fn finish(&self) {
        self.is_over.send_replace(true);
    }

    /// Ready when an answer has no use any more: the server has withdrawn all questions, or answered
    /// the call.
    pub(crate) async fn withdrawn(&self) {
        let withdrawn = poll_fn(|cx| {
            let mut questions = self.questions.lock();
            let mut open = questions.open.values_mut();
            // The first that is open wakes this. Until it is withdrawn, the others do not matter.
            if open.any(|(_, asker)| asker.poll_closed(cx).is_pending()) {
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        let mut is_over = self.is_over.subscribe();
        race(withdrawn, is_over.wait_for(|is_over| *is_over)).await;
    }

    /// Ready when a question has been open for too long.
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

/// The key of a question. Questions of a session have no key of their own.
fn key(number: usize) -> String {
    format!("ask-{number}")
}
