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

/// How many changes are queued for one stream. A repeated change is queued once, so this is the number
/// of different resources.
pub(crate) const MAX_WAITING_CHANGES: usize = 1024;

/// The queued changes of one stream, and the state of its subscription.
#[derive(Debug, Default)]
pub(crate) struct ChangeQueue {
    state: Mutex<QueueState>,
    /// Wakes the task that keeps a modern subscription open when its state changes.
    turned: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<Change>,
    lagged: u64,
    end: QueueEnd,
    waker: Option<Waker>,
    /// The id of the open `subscriptions/listen` request.
    subscription: Option<Id>,
    /// The subscriptions that it requested.
    asked: SubscriptionFilter,
    /// The acknowledged subscriptions.
    granted: SubscriptionFilter,
    subscribed: SubscriptionState,
    /// Whether the subscription was opened again and the reader must still be told.
    is_reopening: bool,
}

/// Whether more changes will come, or why not.
#[derive(Debug, Default)]
enum QueueEnd {
    #[default]
    Open,
    /// The connection has ended.
    Closed,
    /// There are no more changes, for this reason.
    Failed(CallError),
    /// The reader was told about the end.
    Told,
}

/// The state of an open subscription.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SubscriptionState {
    /// Requested, but not acknowledged yet.
    #[default]
    Asked,
    /// It was acknowledged.
    Acknowledged,
    /// Acknowledged, and a notification has come.
    Told,
    /// Ended by the server.
    Dismissed,
}

/// The next item for the reader.
pub(crate) enum NextChange {
    Change(Change),
    Failed(CallError),
    /// The connection has ended.
    Closed,
    /// The reader was already told about the end.
    Over,
}

impl ChangeQueue {
    /// Records a `subscriptions/listen` request that replaces the one before.
    pub(crate) fn begin(&self, id: Id, asked: &SubscriptionFilter) {
        let mut state = self.state.lock();
        state.asked = asked.clone();
        state.subscription = Some(id);
        state.subscribed = SubscriptionState::Asked;
    }

    /// The same for a subscription that is opened again: the reader is told when it is open.
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

    /// Sets the acknowledged subscriptions.
    pub(crate) fn grant(&self, filter: SubscriptionFilter) {
        self.state.lock().granted = filter;
    }

    /// The acknowledged subscriptions.
    pub(crate) fn granted(&self) -> SubscriptionFilter {
        self.state.lock().granted.clone()
    }

    /// Handles an acknowledgement, if it is for this subscription. `granted` gets the requested
    /// subscriptions and returns the acknowledged ones. `before` is called before the reader is told
    /// that the subscription was opened again.
    pub(crate) fn acknowledge(
        &self,
        id: Option<&Id>,
        granted: impl Fn(&SubscriptionFilter) -> SubscriptionFilter,
        before: impl Fn(),
    ) {
        if !self.state.lock().is_acknowledged_by(id) {
            return;
        }
        // Queued first: changes may follow in the same read, and must come after it.
        self.reopened(before);
        let mut state = self.state.lock();
        if state.is_acknowledged_by(id) {
            state.granted = granted(&state.asked);
            state.subscribed = SubscriptionState::Acknowledged;
            drop(state);
            self.turned.notify_one();
        }
    }

    /// Handles the end of a subscription. Returns whether it is this one.
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

    /// Waits until the subscription has reached one of these states, and returns the state.
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

    /// The state of the subscription.
    pub(crate) fn subscription_state(&self) -> SubscriptionState {
        self.state.lock().subscribed
    }

    /// How well a change fits that came with this id, or without an id.
    pub(super) fn fit(&self, change: &Change, id: Option<&Id>) -> Option<Fit> {
        let state = self.state.lock();
        match (id, &state.subscription) {
            // The server has named the subscription.
            (Some(id), Some(own)) => is_same(id, own).then_some(Fit::Exact),
            (Some(_), None) => None,
            (None, _) => change.fit(&state.granted),
        }
    }

    /// Queues a change.
    pub(crate) fn tell(&self, change: Change) {
        let mut state = self.state.lock();
        let is_from_server = !matches!(change, Change::Missed(_));
        if is_from_server && state.subscribed == SubscriptionState::Acknowledged {
            state.subscribed = SubscriptionState::Told;
        }
        let mut waiting = state.waiting.iter_mut();
        if let Some(waiting) = waiting.find(|waiting| change.repeats(waiting)) {
            // The last notification of a resource replaces earlier ones.
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

    /// Ends the stream with this error.
    pub(crate) fn fail(&self, error: CallError) {
        let mut state = self.state.lock();
        if matches!(state.end, QueueEnd::Open) {
            state.end = QueueEnd::Failed(error);
        }
        wake(state);
    }

    /// Ends the stream, because the connection has ended.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        if matches!(state.end, QueueEnd::Open) {
            state.end = QueueEnd::Closed;
        }
        wake(state);
    }

    /// Polls for the next item.
    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<NextChange> {
        let mut state = self.state.lock();
        // The dropped changes are older than those in the queue.
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

    /// Whether a message with this id is for this subscription. A message without an id, which is not
    /// allowed, can only be for the open subscription.
    fn is_meant(&self, id: Option<&Id>) -> bool {
        match (id, &self.subscription) {
            (Some(id), Some(own)) => is_same(id, own),
            (None, Some(_)) => true,
            (_, None) => false,
        }
    }
}

/// Whether a received id is this one. Some servers return the id, which is a number, as a string.
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
