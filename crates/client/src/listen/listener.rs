//! One listener: its bounded queue, and what its server has agreed to tell.

use std::{
    collections::VecDeque,
    task::{Context, Poll, Waker},
};

use tokio::sync::Notify;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::{Id, SubscriptionFilter};

use super::{Change, Missed, change::Fit};
use crate::CallError;

/// How many changes wait for one listener. What says the same twice waits once, so this many are
/// as many different resources.
pub(super) const MAX_WAITING_CHANGES: usize = 1024;

/// A listener, as those who tell it and the one who reads it see it.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    state: Mutex<State>,
    /// Tells whoever keeps a modern subscription open that something came for it.
    turned: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Change>,
    lagged: u64,
    end: End,
    waker: Option<Waker>,
    /// The `subscriptions/listen` request that is open now.
    subscription: Option<Id>,
    /// What the server tells.
    granted: SubscriptionFilter,
    progress: Progress,
}

/// Whether anything more will come.
#[derive(Debug, Default)]
enum End {
    #[default]
    Open,
    /// The connection is over.
    Closed,
    /// No more can be heard, for this reason.
    Failed(CallError),
    /// That has been told.
    Told,
}

/// What became of an open subscription.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Progress {
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

/// What a reader sees next.
pub(super) enum Heard {
    Change(Change),
    Failed(CallError),
    /// The connection is over.
    Closed,
    /// It was told before that nothing more comes.
    Over,
}

impl Listener {
    /// Another `subscriptions/listen` request takes the place of the one before.
    pub(super) fn begin(&self, id: Id) {
        let mut state = self.state.lock();
        state.subscription = Some(id);
        state.progress = Progress::Asked;
    }

    /// The server says what it will tell.
    pub(super) fn grant(&self, filter: SubscriptionFilter) {
        self.state.lock().granted = filter;
    }

    /// What the server tells.
    pub(super) fn granted(&self) -> SubscriptionFilter {
        self.state.lock().granted.clone()
    }

    /// The server has acknowledged a subscription, if it is this one.
    pub(super) fn acknowledge(&self, id: Option<&Id>, filter: &SubscriptionFilter) {
        let mut state = self.state.lock();
        if state.is_meant(id) && state.progress == Progress::Asked {
            state.granted = filter.clone();
            state.progress = Progress::Acknowledged;
            drop(state);
            self.turned.notify_one();
        }
    }

    /// The server has ended a subscription; says whether it is this one.
    pub(super) fn dismiss(&self, id: &Id) -> bool {
        let mut state = self.state.lock();
        let is_meant = state.subscription.as_ref() == Some(id);
        if is_meant {
            state.progress = Progress::Dismissed;
            drop(state);
            self.turned.notify_one();
        }
        is_meant
    }

    /// Waits until the subscription has got somewhere, and says where.
    pub(super) async fn until(&self, is_there: impl Fn(Progress) -> bool) -> Progress {
        loop {
            let progress = self.progress();
            if is_there(progress) {
                return progress;
            }
            self.turned.notified().await;
        }
    }

    /// How far the subscription has got.
    pub(super) fn progress(&self) -> Progress {
        self.state.lock().progress
    }

    /// How well a change fits, that came with this id or none.
    pub(super) fn fit(&self, change: &Change, id: Option<&Id>) -> Option<Fit> {
        let state = self.state.lock();
        match (id, &state.subscription) {
            // The server has decided whom it is for.
            (Some(id), Some(own)) => (id == own).then_some(Fit::Exact),
            (Some(_), None) => None,
            (None, _) => change.fit(&state.granted),
        }
    }

    /// Hands a change over.
    pub(super) fn tell(&self, change: Change) {
        let mut state = self.state.lock();
        let is_from_server = !matches!(change, Change::Missed(_));
        if is_from_server && state.progress == Progress::Acknowledged {
            state.progress = Progress::Told;
        }
        if state.waiting.iter().any(|waiting| change.repeats(waiting)) {
            return;
        }
        if state.waiting.len() == MAX_WAITING_CHANGES {
            state.waiting.pop_front();
            state.lagged += 1;
        }
        state.waiting.push_back(change);
        wake(state);
    }

    /// Nothing more can be heard, for this reason.
    pub(super) fn fail(&self, error: CallError) {
        let mut state = self.state.lock();
        if matches!(state.end, End::Open) {
            state.end = End::Failed(error);
        }
        wake(state);
    }

    /// The connection is over.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        if matches!(state.end, End::Open) {
            state.end = End::Closed;
        }
        wake(state);
    }

    /// What comes next.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<Heard> {
        let mut state = self.state.lock();
        // What was dropped was older than what still waits.
        if state.lagged > 0 {
            let missed = Missed::Lagged(std::mem::take(&mut state.lagged));
            return Poll::Ready(Heard::Change(Change::Missed(missed)));
        }
        if let Some(change) = state.waiting.pop_front() {
            return Poll::Ready(Heard::Change(change));
        }
        match std::mem::replace(&mut state.end, End::Told) {
            End::Open => state.end = End::Open,
            End::Closed => return Poll::Ready(Heard::Closed),
            End::Failed(error) => return Poll::Ready(Heard::Failed(error)),
            End::Told => return Poll::Ready(Heard::Over),
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl State {
    /// Whether something with this id is for this subscription. What comes without one, which it
    /// must not, can only be for whoever waits.
    fn is_meant(&self, id: Option<&Id>) -> bool {
        match (id, &self.subscription) {
            (Some(id), Some(own)) => id == own,
            (None, Some(_)) => true,
            (_, None) => false,
        }
    }
}

fn wake(mut state: MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(listener: &Listener) -> Option<Change> {
        match listener.poll(&Context::from_waker(Waker::noop())) {
            Poll::Ready(Heard::Change(change)) => Some(change),
            _ => None,
        }
    }

    fn updated(number: usize) -> Change {
        Change::ResourceUpdated {
            uri: format!("n:{number}").into(),
        }
    }

    #[test]
    fn what_is_unread_waits_once() {
        let listener = Listener::default();
        for _ in 0..3 {
            listener.tell(Change::ToolsChanged);
            listener.tell(updated(1));
        }
        assert!(matches!(next(&listener), Some(Change::ToolsChanged)));
        listener.tell(Change::ToolsChanged);
        assert!(matches!(
            next(&listener),
            Some(Change::ResourceUpdated { .. })
        ));
        assert!(matches!(next(&listener), Some(Change::ToolsChanged)));
        assert!(next(&listener).is_none());
    }

    #[test]
    fn a_slow_reader_loses_the_oldest_and_is_told_so() {
        let listener = Listener::default();
        for number in 0..MAX_WAITING_CHANGES + 5 {
            listener.tell(updated(number));
        }
        let Some(Change::Missed(Missed::Lagged(5))) = next(&listener) else {
            panic!("5 are lost")
        };
        let Some(Change::ResourceUpdated { uri }) = next(&listener) else {
            panic!("the oldest that is left")
        };
        assert_eq!(&*uri, "n:5");
    }

    #[test]
    fn the_end_is_told_once_and_after_what_waits() {
        let listener = Listener::default();
        listener.tell(Change::PromptsChanged);
        listener.close();
        let context = Context::from_waker(Waker::noop());
        assert!(next(&listener).is_some());
        assert!(matches!(
            listener.poll(&context),
            Poll::Ready(Heard::Closed)
        ));
        assert!(matches!(listener.poll(&context), Poll::Ready(Heard::Over)));
    }
}
