//! The bounded queue of one stream of changes, and the acknowledged subscriptions.

use std::{
    collections::VecDeque,
    task::{Context, Poll, Waker},
};

use tokio::sync::Notify;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::{Id, SubscriptionFilter};

use super::{Change, Missed, change::Fit};
use crate::error::CallError;

/// How many changes wait for one stream. What says the same twice waits once, so this many are
/// as many different resources.
pub(crate) const MAX_WAITING_CHANGES: usize = 1024;

/// The changes that wait for one stream, and the state of its subscription.
#[derive(Debug, Default)]
pub(crate) struct ChangeQueue {
    state: Mutex<QueueState>,
    /// Tells the task that keeps a modern subscription open that something came for it.
    turned: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<Change>,
    lagged: u64,
    end: QueueEnd,
    waker: Option<Waker>,
    /// The `subscriptions/listen` request that is open now.
    subscription: Option<Id>,
    /// What it asked for.
    asked: SubscriptionFilter,
    /// The acknowledged subscriptions.
    granted: SubscriptionFilter,
    subscribed: SubscriptionState,
    /// Whether there was one before, of which the reader still has to be told.
    is_reopening: bool,
}

/// Whether anything more will come.
#[derive(Debug, Default)]
enum QueueEnd {
    #[default]
    Open,
    /// The connection is over.
    Closed,
    /// There are no more changes, for this reason.
    Failed(CallError),
    /// That has been told.
    Told,
}

/// The state of an open subscription.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SubscriptionState {
    /// Nothing yet.
    #[default]
    Asked,
    /// It was acknowledged.
    Acknowledged,
    /// It was acknowledged, and something was told.
    Told,
    /// The server has ended it.
    Dismissed,
}

/// The next item for the reader.
pub(crate) enum NextChange {
    Change(Change),
    Failed(CallError),
    /// The connection is over.
    Closed,
    /// It was told before that nothing more comes.
    Over,
}

impl ChangeQueue {
    /// Another `subscriptions/listen` request takes the place of the one before.
    pub(crate) fn begin(&self, id: Id, asked: &SubscriptionFilter) {
        let mut state = self.state.lock();
        state.asked = asked.clone();
        state.subscription = Some(id);
        state.subscribed = SubscriptionState::Asked;
    }

    /// The same where a subscription was open before: the reader is told once this one is.
    pub(crate) fn begin_again(&self, id: Id, asked: &SubscriptionFilter) {
        self.begin(id, asked);
        self.state.lock().is_reopening = true;
    }

    /// Tells the reader, once, that the subscription was opened again. `before` is called first.
    pub(crate) fn reopened(&self, before: impl Fn()) {
        let is_reopening = std::mem::take(&mut self.state.lock().is_reopening);
        if is_reopening {
            before();
            self.tell(Change::Missed(Missed::Reopened));
        }
    }

    /// The server says what it will tell.
    pub(crate) fn grant(&self, filter: SubscriptionFilter) {
        self.state.lock().granted = filter;
    }

    /// The acknowledged subscriptions.
    pub(crate) fn granted(&self) -> SubscriptionFilter {
        self.state.lock().granted.clone()
    }

    /// The server has acknowledged a subscription, if it is this one. `granted` is given what was asked
    /// for, and says what the server agreed to. `before` is called before the reader is told that the
    /// subscription was opened again.
    pub(crate) fn acknowledge(
        &self,
        id: Option<&Id>,
        granted: impl Fn(&SubscriptionFilter) -> SubscriptionFilter,
        before: impl Fn(),
    ) {
        if !self.state.lock().is_acknowledged_by(id) {
            return;
        }
        // Changes may follow in the same read, and come after it.
        self.reopened(before);
        let mut state = self.state.lock();
        if state.is_acknowledged_by(id) {
            state.granted = granted(&state.asked);
            state.subscribed = SubscriptionState::Acknowledged;
            drop(state);
            self.turned.notify_one();
        }
    }

    /// The server has ended a subscription; says whether it is this one.
    pub(crate) fn dismiss(&self, id: &Id) -> bool {
        let mut state = self.state.lock();
        let is_meant = state
            .subscription
            .as_ref()
            .is_some_and(|own| is_same(id, own));
        if is_meant {
            state.subscribed = SubscriptionState::Dismissed;
            drop(state);
            self.turned.notify_one();
        }
        is_meant
    }

    /// Waits until the subscription has got somewhere, and says where.
    pub(crate) async fn until(
        &self,
        is_there: impl Fn(SubscriptionState) -> bool,
    ) -> SubscriptionState {
        loop {
            let progress = self.subscription_state();
            if is_there(progress) {
                return progress;
            }
            self.turned.notified().await;
        }
    }

    /// How far the subscription has got.
    pub(crate) fn subscription_state(&self) -> SubscriptionState {
        self.state.lock().subscribed
    }

    /// How well a change fits, that came with this id or none.
    pub(super) fn fit(&self, change: &Change, id: Option<&Id>) -> Option<Fit> {
        let state = self.state.lock();
        match (id, &state.subscription) {
            // The server has decided whom it is for.
            (Some(id), Some(own)) => is_same(id, own).then_some(Fit::Exact),
            (Some(_), None) => None,
            (None, _) => change.fit(&state.granted),
        }
    }

    /// Hands a change over.
    pub(crate) fn tell(&self, change: Change) {
        let mut state = self.state.lock();
        let is_from_server = !matches!(change, Change::Missed(_));
        if is_from_server && state.subscribed == SubscriptionState::Acknowledged {
            state.subscribed = SubscriptionState::Told;
        }
        let mut waiting = state.waiting.iter_mut();
        if let Some(waiting) = waiting.find(|waiting| change.repeats(waiting)) {
            // What is said last of a resource counts.
            *waiting = change;
            return;
        }
        if state.waiting.len() == MAX_WAITING_CHANGES {
            state.waiting.pop_front();
            state.lagged += 1;
        }
        state.waiting.push_back(change);
        wake(state);
    }

    /// There are no more changes, for this reason.
    pub(crate) fn fail(&self, error: CallError) {
        let mut state = self.state.lock();
        if matches!(state.end, QueueEnd::Open) {
            state.end = QueueEnd::Failed(error);
        }
        wake(state);
    }

    /// The connection is over.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        if matches!(state.end, QueueEnd::Open) {
            state.end = QueueEnd::Closed;
        }
        wake(state);
    }

    /// The next item.
    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<NextChange> {
        let mut state = self.state.lock();
        // What was dropped was older than what still waits.
        if state.lagged > 0 {
            let missed = Missed::Lagged(std::mem::take(&mut state.lagged));
            return Poll::Ready(NextChange::Change(Change::Missed(missed)));
        }
        if let Some(change) = state.waiting.pop_front() {
            return Poll::Ready(NextChange::Change(change));
        }
        match std::mem::replace(&mut state.end, QueueEnd::Told) {
            QueueEnd::Open => state.end = QueueEnd::Open,
            QueueEnd::Closed => return Poll::Ready(NextChange::Closed),
            QueueEnd::Failed(error) => return Poll::Ready(NextChange::Failed(error)),
            QueueEnd::Told => return Poll::Ready(NextChange::Over),
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl QueueState {
    /// Whether an acknowledgement with this id is for this subscription, which waits for it.
    fn is_acknowledged_by(&self, id: Option<&Id>) -> bool {
        self.is_meant(id) && self.subscribed == SubscriptionState::Asked
    }

    /// Whether something with this id is for this subscription. What comes without one, which it
    /// must not, can only be for the one that waits.
    fn is_meant(&self, id: Option<&Id>) -> bool {
        match (id, &self.subscription) {
            (Some(id), Some(own)) => is_same(id, own),
            (None, Some(_)) => true,
            (_, None) => false,
        }
    }
}

/// Whether an id that came is this one. Some servers write the id, which is a number, as a text.
fn is_same(id: &Id, own: &Id) -> bool {
    match (id, own) {
        (Id::Text(text), Id::Int(number)) => text.parse() == Ok(*number),
        _ => id == own,
    }
}

fn wake(mut state: MutexGuard<'_, QueueState>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(queue: &ChangeQueue) -> Option<Change> {
        match queue.poll(&Context::from_waker(Waker::noop())) {
            Poll::Ready(NextChange::Change(change)) => Some(change),
            _ => None,
        }
    }

    fn updated(number: usize) -> Change {
        let params = serde_json::value::to_raw_value(&serde_json::json!({})).unwrap();
        Change::ResourceUpdated {
            uri: format!("n:{number}").into(),
            params: params.into(),
        }
    }

    #[test]
    fn what_is_unread_waits_once() {
        let queue = ChangeQueue::default();
        for _ in 0..3 {
            queue.tell(Change::ToolsChanged);
            queue.tell(updated(1));
        }
        assert!(matches!(next(&queue), Some(Change::ToolsChanged)));
        queue.tell(Change::ToolsChanged);
        assert!(matches!(next(&queue), Some(Change::ResourceUpdated { .. })));
        assert!(matches!(next(&queue), Some(Change::ToolsChanged)));
        assert!(next(&queue).is_none());
    }

    #[test]
    fn a_slow_reader_loses_the_oldest_and_is_told_so() {
        let queue = ChangeQueue::default();
        for number in 0..MAX_WAITING_CHANGES + 5 {
            queue.tell(updated(number));
        }
        let Some(Change::Missed(Missed::Lagged(5))) = next(&queue) else {
            panic!("5 are lost")
        };
        let Some(Change::ResourceUpdated { uri, .. }) = next(&queue) else {
            panic!("the oldest that is left")
        };
        assert_eq!(&*uri, "n:5");
    }

    #[test]
    fn changes_of_a_subscription_that_was_opened_again_come_after_it() {
        let queue = ChangeQueue::default();
        let all = SubscriptionFilter::default();
        let (first, second) = (Id::Int(1), Id::Int(2));
        queue.begin(first.clone(), &all);
        queue.acknowledge(Some(&first), Clone::clone, || panic!("it is the first"));
        assert!(next(&queue).is_none());
        queue.begin_again(second.clone(), &all);
        queue.acknowledge(Some(&first), Clone::clone, || panic!("it is of another"));
        queue.acknowledge(Some(&second), Clone::clone, || {});
        queue.tell(updated(1));
        queue.reopened(|| panic!("it was told"));
        let Some(Change::Missed(Missed::Reopened)) = next(&queue) else {
            panic!("that it was opened again")
        };
        assert!(matches!(next(&queue), Some(Change::ResourceUpdated { .. })));
        assert!(next(&queue).is_none());
    }

    #[test]
    fn the_end_is_told_once_and_after_what_waits() {
        let queue = ChangeQueue::default();
        queue.tell(Change::PromptsChanged);
        queue.close();
        let context = Context::from_waker(Waker::noop());
        assert!(next(&queue).is_some());
        assert!(matches!(
            queue.poll(&context),
            Poll::Ready(NextChange::Closed)
        ));
        assert!(matches!(
            queue.poll(&context),
            Poll::Ready(NextChange::Over)
        ));
    }
}
