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
    topic::{Subject, Topic},
};
use crate::quota::{CallerKey, Share};

/// The number of visits whose end one session may be notified of; with more, the oldest is forgotten. People
/// make one at a time.
const MAX_VISITS: usize = 64;

/// A listener, until it is dropped.
pub(crate) struct Listener {
    hub: Arc<Hub>,
    number: u64,
    slot: Arc<Slot>,
    topics: Vec<Arc<Topic>>,
    resources: NamedResources,
    /// The place of a listen request among all; a session has one among the sessions.
    _place: Option<Share>,
    /// The memory budget that its subscriptions count against.
    bytes: Share,
}

impl Listener {
    /// The listener of a session. It hears nothing yet, and remembers what it would be told until
    /// [`Self::release`].
    pub(crate) fn of_session(hub: &Arc<Hub>, caller: CallerKey) -> Self {
        Self::new(hub, caller, None, None)
    }

    /// The listener of a listen request with this id, if the limit allows another.
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
                lines: OnceLock::new(),
                state: Mutex::new(SlotState {
                    untold: VecDeque::new(),
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

    /// Pays for so many bytes that are kept for as long as it listens.
    pub(crate) fn pay(&mut self, bytes: usize) -> Result<(), TooMany> {
        self.bytes.add(bytes).map_err(TooMany::bytes)
    }

    /// From now on all that the filter names is heard of.
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

    /// From now on this is heard of. Twice is once.
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

    /// From now on the end of this visit is heard of.
    pub(crate) fn add_visit(&mut self, id: &str) {
        let is_visit = |topic: &Arc<Topic>| matches!(topic.subject, Subject::Visit(_));
        if self.topics.iter().filter(|topic| is_visit(topic)).count() >= MAX_VISITS
            && let Some(oldest) = self.topics.iter().position(is_visit)
        {
            let topic = self.topics.remove(oldest);
            self.hub.leave(&topic, self.number);
            self.slot.forget(&topic);
        }
        // Only resources are ever too many.
        let _ = self.add(Subject::Visit(id.into()));
    }

    /// From now on the resource at this URI is not heard of.
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

    /// Sets the resources that are listened to. Those beyond the limit are left out. Of one that is new
    /// here and changed a moment ago it is told: the client may have subscribed to it before.
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
                tracing::warn!("a session is subscribed to more than this replica has room for");
                return;
            }
            if let Some(new) = self.topics.get(known)
                && self.hub.has_just_changed(uri)
            {
                self.slot.mark(new);
            }
        }
    }

    /// Says once that all that is heard of may have changed, except visits, which end once.
    #[cfg(feature = "http")]
    pub(crate) fn announce_all(&self) {
        for topic in &self.topics {
            if !matches!(topic.subject, Subject::Visit(_)) {
                self.slot.mark(topic);
            }
        }
    }

    /// Notifies it by lines in an outbox, written by the publisher, without a task of its own. Must
    /// be called inside a runtime, for the case that the outbox is full.
    pub(crate) fn attach(&self, outbox: &Outbox) {
        let _ = self.slot.lines.set(Lines {
            outbox: outbox.clone(),
            runtime: Handle::current(),
        });
    }

    /// Lets it be told, what came since it was made included.
    pub(crate) fn release(&self) {
        self.slot.release();
    }

    /// Takes the notifications that are due, one at a time, for a stream of one's own. The
    /// waker is woken when there are more.
    #[cfg(feature = "http")]
    pub(crate) fn take_news(&self, context: &std::task::Context<'_>, mut take: impl FnMut(&[u8])) {
        let mut state = self.slot.state();
        let mut message = Vec::new();
        while let Some(untold) = state.pop() {
            message.clear();
            untold.write(self.slot.id.as_deref(), &mut message);
            take(&message);
        }
        state.caught_up();
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
    }

    /// How many topics changed of which it was not told yet.
    #[cfg(test)]
    pub(super) fn untold(&self) -> usize {
        self.slot.state().untold.len()
    }

    /// Hears of nothing any more.
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

/// What the hub knows of a listener.
pub(super) struct Slot {
    caller: CallerKey,
    /// The id of the listen request as JSON; `None` for a session.
    id: Option<Box<[u8]>>,
    /// Where it is notified, unless it polls for changes itself.
    lines: OnceLock<Lines>,
    state: Mutex<SlotState>,
}

struct Lines {
    outbox: Outbox,
    runtime: Handle,
}

struct SlotState {
    /// Topics that changed and were not told yet, each once: what is kept for a listener never
    /// grows beyond what it listens to.
    untold: VecDeque<Untold>,
    /// What is paid for the params of updates that were not told yet.
    updates: Share,
    /// Changes since it last caught up that were told as one with another.
    folded: u64,
    telling: Telling,
    waker: Option<Waker>,
}

/// Whether the listener is being told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// It must be told something else first.
    Held,
    /// When there is something.
    Ready,
    /// A task waits until the outbox has space.
    Waiting,
}

/// A topic that changed and was not told yet.
struct Untold {
    topic: Arc<Topic>,
    /// The params of the newest change, if there is more to say than what changed.
    params: Option<Arc<str>>,
}

impl Untold {
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
    /// Notes that a topic changed. Says whether that is to be told.
    fn add(&mut self, topic: &Arc<Topic>, params: Option<&Arc<str>>) -> bool {
        // What is said beside the URI can be done without.
        let params = params.filter(|params| self.updates.add_spare(params.len()).is_ok());
        let mut untold = Untold {
            topic: Arc::clone(topic),
            params: params.cloned(),
        };
        let known = self.untold.iter_mut();
        if let Some(known) = known.into_iter().find(|it| Arc::ptr_eq(&it.topic, topic)) {
            std::mem::swap(known, &mut untold);
            self.updates.give_back(untold.bytes());
            self.folded += 1;
            return false;
        }
        self.untold.push_back(untold);
        true
    }

    /// Takes out the topic that changed first.
    fn pop(&mut self) -> Option<Untold> {
        let untold = self.untold.pop_front()?;
        self.updates.give_back(untold.bytes());
        Some(untold)
    }

    fn forget_all(&mut self) {
        while self.pop().is_some() {}
    }

    fn caught_up(&mut self) {
        if self.folded > 0 {
            let folded = std::mem::take(&mut self.folded);
            tracing::debug!(
                folded,
                "a slow listener was told of several changes at once"
            );
        }
    }
}

impl Slot {
    /// Whether it is a listener of this caller.
    pub(super) fn is_of(&self, caller: CallerKey) -> bool {
        self.caller == caller
    }

    /// A topic changed.
    pub(super) fn mark(self: &Arc<Self>, topic: &Arc<Topic>) {
        self.note(topic, None);
    }

    /// A resource was updated, and this is what is said of it.
    pub(super) fn mark_update(self: &Arc<Self>, topic: &Arc<Topic>, params: &Arc<str>) {
        self.note(topic, Some(params));
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
        let known = &mut state.untold;
        let place = known.iter().position(|it| Arc::ptr_eq(&it.topic, topic));
        if let Some(untold) = place.and_then(|place| known.remove(place)) {
            state.updates.give_back(untold.bytes());
        }
    }

    fn tell(self: &Arc<Self>, mut state: MutexGuard<'_, SlotState>) {
        let Some(lines) = self.lines.get() else {
            let waker = state.waker.take();
            drop(state);
            return waker.into_iter().for_each(Waker::wake);
        };
        // A closed outbox needs no notifications.
        if self.fill(&mut state, &lines.outbox) == Err(TrySendError::Full) {
            state.telling = Telling::Waiting;
            drop(state);
            lines
                .runtime
                .spawn(Arc::clone(self).tell_when_there_is_room());
        }
    }

    /// Writes as many notifications as fit into the outbox.
    fn fill(&self, state: &mut SlotState, outbox: &Outbox) -> Result<(), TrySendError> {
        while let Some(untold) = state.untold.front() {
            outbox.try_send_with(|line| untold.write(self.id.as_deref(), line))?;
            state.pop();
        }
        state.caught_up();
        Ok(())
    }

    /// Ends when everything is told, or with the connection.
    async fn tell_when_there_is_room(self: Arc<Self>) {
        let Some(Lines { outbox, .. }) = self.lines.get() else {
            return;
        };
        // Waits for space before it takes topics: many changes are reported once while the peer
        // does not read.
        while outbox.ready().await.is_ok() {
            let Some(message) = self.next_message() else {
                return;
            };
            if outbox.send(&message).await.is_err() {
                return;
            }
        }
    }

    /// The next notification; `None` ends the wait for space.
    fn next_message(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        let Some(untold) = state.pop() else {
            state.caught_up();
            state.telling = Telling::Ready;
            return None;
        };
        let mut message = Vec::new();
        untold.write(self.id.as_deref(), &mut message);
        Some(message)
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock()
    }
}
