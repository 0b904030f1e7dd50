//! Where questions of a session wait for answers by hand.
//!
//! Nothing in a session says which call a question belongs to, so it goes to the call by hand that
//! has been under way for the longest.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{InputRequest, InputRequests, InputResponse, InputResponses};

use crate::link::race;

/// How long a call of a session may wait for answers: an hour, after which the person is not coming
/// back, and the server is told that nobody answers.
pub(crate) const MAX_WAIT: Duration = Duration::from_hours(1);

/// Somebody who waits for an answer; dropped, there is none.
type Asker = oneshot::Sender<InputResponse>;

/// All the calls by hand of a session.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// The oldest first.
    seats: Mutex<Vec<Arc<Seat>>>,
}

/// One call by hand.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    state: Mutex<State>,
    /// Tells of questions that came, and of those that were answered.
    turned: Notify,
    /// The same for the one who watches over the time.
    timed: Notify,
}

#[derive(Debug, Default)]
struct State {
    count: usize,
    open: BTreeMap<usize, (InputRequest, Asker)>,
    open_since: Option<Instant>,
}

impl Desk {
    /// Gives a question to a call by hand, if there is one.
    pub(crate) fn ask(&self, request: &InputRequest) -> Option<oneshot::Receiver<InputResponse>> {
        let seat = self.seats.lock().first()?.clone();
        let (asker, answer) = oneshot::channel();
        let mut state = seat.state.lock();
        state.count += 1;
        let number = state.count;
        state.open.insert(number, (request.clone(), asker));
        state.open_since.get_or_insert_with(Instant::now);
        drop(state);
        seat.tell();
        Some(answer)
    }

    /// A call by hand begins.
    pub(crate) fn sit(&self) -> Arc<Seat> {
        let seat = Arc::new(Seat::default());
        self.seats.lock().push(seat.clone());
        seat
    }

    /// A call by hand is over. What it was asked and did not answer has no answer.
    pub(crate) fn leave(&self, seat: &Arc<Seat>) {
        self.seats.lock().retain(|other| !Arc::ptr_eq(other, seat));
        let unanswered = std::mem::take(&mut seat.state.lock().open);
        drop(unanswered);
    }
}

impl Seat {
    /// Waits until something is asked.
    pub(crate) async fn asked(&self) {
        while self.state.lock().open.is_empty() {
            self.turned.notified().await;
        }
    }

    /// What is asked. Questions that were withdrawn are not any more.
    pub(crate) fn asks(&self) -> InputRequests {
        let mut state = self.state.lock();
        state.open.retain(|_, (_, asker)| !asker.is_closed());
        let asks = state.open.iter();
        asks.map(|(number, (request, _))| (key(*number), request.clone()))
            .collect()
    }

    /// Hands answers over.
    pub(crate) fn answer(&self, answers: InputResponses) {
        let mut state = self.state.lock();
        let mut ready = Vec::new();
        for (key, answer) in answers {
            let number = state.open.keys().find(|number| self::key(**number) == key);
            if let Some(number) = number.copied()
                && let Some((_, asker)) = state.open.remove(&number)
            {
                ready.push((asker, answer));
            }
        }
        if state.open.is_empty() {
            state.open_since = None;
        }
        drop(state);
        for (asker, answer) in ready {
            // The question may have been withdrawn.
            let _ = asker.send(answer);
        }
        self.tell();
    }

    /// Ready when a question has been open for too long.
    pub(crate) async fn neglected(&self) {
        loop {
            let since = self.state.lock().open_since;
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

    fn tell(&self) {
        self.turned.notify_one();
        self.timed.notify_one();
    }
}

/// The key of a question, which a session has none for.
fn key(number: usize) -> String {
    format!("ask-{number}")
}
