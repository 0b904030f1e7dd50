//! A listener for changes: a legacy session, or one `subscriptions/listen`.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
    task::Waker,
};

use tokio::runtime::Handle;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::{Id, SubscriptionFilter};
use turnbuckle_transport::{Outbox, TrySendError};

use super::{
    hub::Hub,
    limits::{NamedResources, TooMany, cost_of},
    notice::{NoticeOf, UpdateNotice},
    topic::{Subject, Topic},
};
use crate::quota::{CallerKey, Share};

/// The number of elicitations by URL whose end one session may be notified of. With more, the
/// oldest is forgotten. A person completes one at a time.
const MAX_VISITS: usize = 64;

/// A listener, which is removed when it is dropped.
pub(crate) struct Listener {
    hub: Arc<Hub>,
    number: u64,
    slot: Arc<Slot>,
    topics: Vec<Arc<Topic>>,
    resources: NamedResources,
    /// The share of a listen request in the limit of listeners. Sessions are limited elsewhere.
    _place: Option<Share>,
    /// The memory budget that its subscriptions count against.
    bytes: Share,
}

impl Listener {
    /// Creates the listener of a session. It is not notified before [`Self::release`], but changes
    /// are remembered.
    pub(crate) fn of_session(hub: &Arc<Hub>, caller: CallerKey) -> Self {
        Self::new(hub, caller, None, None)
    }

    /// Creates the listener of a `subscriptions/listen` request with this id, if the limits allow
    /// another.
    pub(crate) fn of_request(hub: &Arc<Hub>, id: &Id, caller: CallerKey) -> Result<Self, TooMany> {
        let mut place = hub.places.share(caller);
        place.add(1).map_err(TooMany::listeners)?;
        let id = serde_json::to_vec(id).expect("an id is plain JSON");
        let mut listener = Self::new(hub, caller, Some(id.into()), Some(place));
        listener.pay(listener.slot.id.as_ref().map_or(0, |id| id.len()))?;
        Ok(listener)
    }

    fn new(hub: &Arc<Hub>, caller: CallerKey, id: Option<Box<[u8]>>, place: Option<Share>) -> Self {
        Self {
            hub: Arc::clone(hub),
            number: hub.number(),
            slot: Arc::new(Slot {
                caller,
                id,
                notice_of: OnceLock::new(),
                lines: OnceLock::new(),
                state: Mutex::new(SlotState {
                    unreported: VecDeque::new(),
                    updates: hub.kept.share(caller),
                    folded: 0,
                    telling: Telling::Held,
                    waker: None,
                }),
            }),
            topics: Vec::new(),
            resources: NamedResources::default(),
            _place: place,
            bytes: hub.kept.share(caller),
        }
    }

    /// Sets what decides how it is notified of updates of resources. Must be called before it listens
    /// to any.
    pub(crate) fn decide_notices(&self, notice_of: Option<NoticeOf>) {
        if let Some(notice_of) = notice_of {
            let _ = self.slot.notice_of.set(notice_of);
        }
    }

    /// Counts this many bytes against the caller's quota for as long as it listens.
    pub(crate) fn pay(&mut self, bytes: usize) -> Result<(), TooMany> {
        self.bytes.add(bytes).map_err(TooMany::bytes)
    }

    /// Listens to everything that the filter names.
    pub(crate) fn add_all(&mut self, filter: &SubscriptionFilter) -> Result<(), TooMany> {
        let lists = [
            (filter.wants_tools(), Subject::Tools),
            (filter.wants_prompts(), Subject::Prompts),
            (filter.wants_resources(), Subject::Resources),
        ];
        for (_, list) in lists.into_iter().filter(|(is_wanted, _)| *is_wanted) {
            self.add(list)?;
        }
        for uri in filter.resources() {
            self.add(Subject::Resource(uri.as_str().into()))?;
        }
        Ok(())
    }

    /// Listens to this subject. Does nothing if it does so already.
    pub(crate) fn add(&mut self, subject: Subject) -> Result<(), TooMany> {
        if self.topics.iter().any(|topic| topic.subject == subject) {
            return Ok(());
        }
        if let Some(uri) = subject.uri() {
            let mut resources = self.resources;
            resources.add(uri)?;
            self.pay(cost_of(uri))?;
            self.resources = resources;
        }
        let topic = self.hub.join(subject, self.number, &self.slot);
        self.topics.push(topic);
        Ok(())
    }

    /// Listens to the end of the elicitation by URL with this id.
    pub(crate) fn add_visit(&mut self, id: &str) {
        let is_visit = |topic: &Arc<Topic>| matches!(topic.subject, Subject::Visit(_));
        if self.topics.iter().filter(|topic| is_visit(topic)).count() >= MAX_VISITS
            && let Some(oldest) = self.topics.iter().position(is_visit)
        {
            let topic = self.topics.remove(oldest);
            self.hub.leave(&topic, self.number);
            self.slot.forget(&topic);
        }
        // Only resources can exceed a limit.
        let _ = self.add(Subject::Visit(id.into()));
    }

    /// No longer listens to the resource at this URI.
    pub(crate) fn remove_resource(&mut self, uri: &str) {
        let is_it = |topic: &Arc<Topic>| topic.subject.uri() == Some(uri);
        let Some(place) = self.topics.iter().position(is_it) else {
            return;
        };
        let topic = self.topics.swap_remove(place);
        self.resources.remove(uri);
        self.bytes.give_back(cost_of(uri));
        self.hub.leave(&topic, self.number);
        self.slot.forget(&topic);
    }

    /// Sets the resources that the session listens to. Those beyond the limit are left out. If a
    /// new one has changed recently, the client is notified, because it may have subscribed before
    /// the change.
    #[cfg(feature = "http")]
    pub(crate) fn set_resources(&mut self, uris: &std::collections::BTreeSet<String>) {
        let known = self.topics.iter().filter_map(|topic| topic.subject.uri());
        let gone: Vec<String> = known
            .filter(|uri| !uris.contains(*uri))
            .map(str::to_owned)
            .collect();
        for uri in gone {
            self.remove_resource(&uri);
        }
        for uri in uris {
            let known = self.topics.len();
            if self.add(Subject::Resource(uri.as_str().into())).is_err() {
                tracing::warn!("a session has more subscriptions than this replica has room for");
                return;
            }
            if let Some(new) = self.topics.get(known)
                && self.hub.has_just_changed(uri)
            {
                self.slot.mark(new);
            }
        }
    }

    /// Reports once that everything it listens to may have changed, except elicitations, which end
    /// only once.
    #[cfg(feature = "http")]
    pub(crate) fn announce_all(&self) {
        for topic in &self.topics {
            if !matches!(topic.subject, Subject::Visit(_)) {
                self.slot.mark(topic);
            }
        }
    }

    /// Sets the outbox to which the publisher writes its notifications; this needs no task. Must be
    /// called inside a runtime, because a task is started if the outbox is full.
    pub(crate) fn attach(&self, outbox: &Outbox) {
        let _ = self.slot.lines.set(Lines {
            outbox: outbox.clone(),
            runtime: Handle::current(),
        });
    }

    /// Sends notifications from now on, beginning with the changes since the listener was created.
    pub(crate) fn release(&self) {
        self.slot.release();
    }

    /// Takes the notifications that are due, one at a time, to write them to a stream. The waker is
    /// woken when there are more.
    #[cfg(feature = "http")]
    pub(crate) fn take_news(&self, context: &std::task::Context<'_>, mut take: impl FnMut(&[u8])) {
        let mut state = self.slot.state();
        let mut message = Vec::new();
        while let Some(unreported) = state.pop() {
            message.clear();
            unreported.write(self.slot.id.as_deref(), &mut message);
            take(&message);
        }
        state.caught_up();
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
    }

    /// The number of changed topics that have not been reported.
    #[cfg(test)]
    pub(super) fn unreported(&self) -> usize {
        self.slot.state().unreported.len()
    }

    /// Listens to nothing any more.
    pub(crate) fn end(&mut self) {
        for topic in self.topics.drain(..) {
            self.hub.leave(&topic, self.number);
        }
        self.slot.state().forget_all();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.end();
    }
}

/// The part of a listener that the hub holds.
pub(super) struct Slot {
    caller: CallerKey,
    /// The id of the listen request as JSON; `None` for a session.
    id: Option<Box<[u8]>>,
    /// Decides how it is notified of updates of resources. Without it, all of them are reported.
    notice_of: OnceLock<NoticeOf>,
    /// Where notifications are written, unless the listener polls for them.
    lines: OnceLock<Lines>,
    state: Mutex<SlotState>,
}

struct Lines {
    outbox: Outbox,
    runtime: Handle,
}

struct SlotState {
    /// Changed topics that have not been reported, each once. So at most as much is kept for a
    /// listener as it listens to.
    unreported: VecDeque<UnreportedTopic>,
    /// The quota share for the params of unreported updates.
    updates: Share,
    /// Changes since the last time that everything was reported which were combined with another
    /// change.
    folded: u64,
    telling: Telling,
    waker: Option<Waker>,
}

/// Whether notifications are being sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// Not yet: another message must be sent first.
    Held,
    /// Yes, as soon as something changes.
    Ready,
    /// A task waits until the outbox has space.
    Waiting,
}

/// A changed topic that has not been reported.
struct UnreportedTopic {
    topic: Arc<Topic>,
    /// The params of the newest change, if it has more than a URI.
    params: Option<Arc<str>>,
}

impl UnreportedTopic {
    fn write(&self, id: Option<&[u8]>, out: &mut Vec<u8>) {
        match &self.params {
            None => self.topic.write(id, out),
            Some(params) => self.topic.write_update(id, params, out),
        }
    }

    fn bytes(&self) -> usize {
        self.params.as_ref().map_or(0, |params| params.len())
    }
}

impl SlotState {
    /// Notes that a topic changed. Returns whether a notification must be sent for it.
    fn add(&mut self, topic: &Arc<Topic>, params: Option<&Arc<str>>) -> bool {
        // The params beyond the URI are optional.
        let params = params.filter(|params| self.updates.add_spare(params.len()).is_ok());
        let mut unreported = UnreportedTopic {
            topic: Arc::clone(topic),
            params: params.cloned(),
        };
        let known = self.unreported.iter_mut();
        if let Some(known) = known.into_iter().find(|it| Arc::ptr_eq(&it.topic, topic)) {
            std::mem::swap(known, &mut unreported);
            self.updates.give_back(unreported.bytes());
            self.folded += 1;
            return false;
        }
        self.unreported.push_back(unreported);
        true
    }

    /// Takes the topic that changed first.
    fn pop(&mut self) -> Option<UnreportedTopic> {
        let unreported = self.unreported.pop_front()?;
        self.updates.give_back(unreported.bytes());
        Some(unreported)
    }

    fn forget_all(&mut self) {
        while self.pop().is_some() {}
    }

    fn caught_up(&mut self) {
        if self.folded > 0 {
            let folded = std::mem::take(&mut self.folded);
            tracing::debug!(
                folded,
                "a slow listener got one notification for several changes"
            );
        }
    }
}

impl Slot {
    /// Whether it is a listener of this caller.
    pub(super) fn is_of(&self, caller: CallerKey) -> bool {
        self.caller == caller
    }

    /// Notes that a topic changed.
    pub(super) fn mark(self: &Arc<Self>, topic: &Arc<Topic>) {
        let notice = topic.subject.uri().map(|uri| self.notice(uri, uri));
        if notice != Some(UpdateNotice::Nothing) {
            self.note(topic, None);
        }
    }

    /// Notes that the resource at this URI was updated, with the params of the notification. Returns
    /// whether the listener is notified.
    pub(super) fn mark_update(
        self: &Arc<Self>,
        topic: &Arc<Topic>,
        updated: &str,
        params: &Arc<str>,
    ) -> bool {
        let followed = topic.subject.uri().unwrap_or(updated);
        match self.notice(followed, updated) {
            UpdateNotice::Whole => self.note(topic, Some(params)),
            UpdateNotice::FollowedOnly => self.note(topic, None),
            UpdateNotice::Nothing => return false,
        }
        true
    }

    fn notice(&self, followed: &str, updated: &str) -> UpdateNotice {
        let notice_of = self.notice_of.get();
        notice_of.map_or(UpdateNotice::Whole, |notice_of| {
            notice_of(followed, updated)
        })
    }

    fn note(self: &Arc<Self>, topic: &Arc<Topic>, params: Option<&Arc<str>>) {
        let mut state = self.state();
        if state.add(topic, params) && state.telling == Telling::Ready {
            self.tell(state);
        }
    }

    fn release(self: &Arc<Self>) {
        let mut state = self.state();
        if state.telling == Telling::Held {
            state.telling = Telling::Ready;
            self.tell(state);
        }
    }

    fn forget(&self, topic: &Arc<Topic>) {
        let mut state = self.state();
        let known = &mut state.unreported;
        let place = known.iter().position(|it| Arc::ptr_eq(&it.topic, topic));
        if let Some(unreported) = place.and_then(|place| known.remove(place)) {
            state.updates.give_back(unreported.bytes());
        }
    }

    fn tell(self: &Arc<Self>, mut state: MutexGuard<'_, SlotState>) {
        let Some(lines) = self.lines.get() else {
            let waker = state.waker.take();
            drop(state);
            return waker.into_iter().for_each(Waker::wake);
        };
        // If the outbox is closed, no notifications are needed.
        if self.fill(&mut state, &lines.outbox) == Err(TrySendError::Full) {
            state.telling = Telling::Waiting;
            drop(state);
            lines
                .runtime
                .spawn(Arc::clone(self).tell_when_there_is_room());
        }
    }

    /// Writes as many notifications as the outbox has space for.
    fn fill(&self, state: &mut SlotState, outbox: &Outbox) -> Result<(), TrySendError> {
        while let Some(unreported) = state.unreported.front() {
            outbox.try_send_with(|line| unreported.write(self.id.as_deref(), line))?;
            state.pop();
        }
        state.caught_up();
        Ok(())
    }

    /// Sends notifications while the outbox was full. Ends when all of them are sent, or with the
    /// connection.
    async fn tell_when_there_is_room(self: Arc<Self>) {
        let Some(Lines { outbox, .. }) = self.lines.get() else {
            return;
        };
        // It waits for space before it takes a topic, so many changes are reported once while the
        // client does not read.
        while outbox.ready().await.is_ok() {
            let Some(message) = self.next_message() else {
                return;
            };
            if outbox.send(&message).await.is_err() {
                return;
            }
        }
    }

    /// Takes the next notification. `None` if there are no more; the publisher sends the following
    /// ones.
    fn next_message(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        let Some(unreported) = state.pop() else {
            state.caught_up();
            state.telling = Telling::Ready;
            return None;
        };
        let mut message = Vec::new();
        unreported.write(self.id.as_deref(), &mut message);
        Some(message)
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock()
    }
}
