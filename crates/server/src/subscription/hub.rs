//! All listeners of this process, by topic.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::value::RawValue;
#[cfg(feature = "http")]
use tokio::time::Instant;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::envelope::{Raw, text_of};
use turnbuckle_store::Change;

#[cfg(feature = "http")]
use super::recent::RecentChanges;
use super::{
    limits::ListenerLimits,
    listener::Slot,
    topic::{Subject, Topic},
};
use crate::quota::{CallerKey, Quota};

/// All topics that have listeners. A topic without changes costs only its entry.
pub(crate) struct Hub {
    topics: Mutex<HashMap<Subject, Arc<Topic>>>,
    next: AtomicU64,
    /// The quota of open `subscriptions/listen` requests.
    pub(super) places: Arc<Quota>,
    /// The quota of memory for subscriptions and unsent updates.
    pub(super) kept: Arc<Quota>,
    /// Recently changed resources, if there are replicas.
    #[cfg(feature = "http")]
    recent: std::sync::OnceLock<Mutex<RecentChanges>>,
}

impl Hub {
    pub(super) fn new(limits: ListenerLimits, kept: Arc<Quota>) -> Self {
        Self {
            topics: Mutex::default(),
            next: AtomicU64::new(0),
            places: limits.quota(),
            kept,
            #[cfg(feature = "http")]
            recent: std::sync::OnceLock::new(),
        }
    }

    /// Remembers recently changed resources from now on, for subscriptions that this replica learns
    /// of later than others.
    #[cfg(feature = "http")]
    pub(crate) fn remember_changes(&self) {
        self.recent.get_or_init(Mutex::default);
    }

    /// Whether the resource at this URI may have changed recently.
    #[cfg(feature = "http")]
    pub(super) fn has_just_changed(&self, uri: &str) -> bool {
        let recent = self.recent.get();
        recent.is_some_and(|recent| recent.lock().has(uri, Instant::now()))
    }

    /// Remembers a change. This happens before the listeners are looked up, because a listener that
    /// joins now asks for recent changes afterwards.
    #[cfg(feature = "http")]
    fn remember(&self, change: &Change) {
        let Some(recent) = self.recent.get() else {
            return;
        };
        match change {
            Change::Tools | Change::Prompts | Change::Resources | Change::Visit(_) => {}
            Change::Resource(uri) => recent.lock().add(uri, Instant::now()),
            Change::Updated { resources, .. } => {
                let mut recent = recent.lock();
                let now = Instant::now();
                for uri in resources {
                    recent.add(uri, now);
                }
            }
            _ => recent.lock().add_all(Instant::now()),
        }
    }

    /// Notifies all listeners of this process.
    pub(crate) fn hear(&self, change: &Change) {
        #[cfg(feature = "http")]
        self.remember(change);
        self.tell(change, None);
    }

    /// Notifies the listeners of one caller in this process.
    pub(crate) fn hear_for(&self, change: &Change, caller: CallerKey) {
        self.tell(change, Some(caller));
    }

    /// Notifies the listeners of any of these resources of an update, each of them once.
    fn tell_update(&self, resources: &[String], params: &str, only: Option<CallerKey>) {
        let (params, mut told): (Arc<str>, _) = (Arc::from(params), BTreeSet::new());
        let read = serde_json::from_str::<&RawValue>(&params).map(Raw::from);
        let updated = read.ok().and_then(|params| text_of(params.member("uri")?));
        for uri in resources {
            let updated = updated.as_deref().unwrap_or(uri);
            let subject = Subject::Resource(uri.as_str().into());
            let topic = self.topics().get(&subject).cloned();
            if let Some(topic) = topic {
                topic.updated(only, updated, &params, &mut told);
            }
        }
    }

    fn tell(&self, change: &Change, only: Option<CallerKey>) {
        let subject = match change {
            Change::Tools => Subject::Tools,
            Change::Prompts => Subject::Prompts,
            Change::Resources => Subject::Resources,
            Change::Resource(uri) => Subject::Resource(uri.as_str().into()),
            Change::Updated { resources, params } => {
                return self.tell_update(resources, params, only);
            }
            Change::Visit(id) => Subject::Visit(id.as_str().into()),
            // Also changes of kinds that only newer replicas know: one notification too many is
            // better than one too few.
            _ => {
                // The end of an elicitation must not be reported unless it happened.
                let is_list = |topic: &&Arc<Topic>| !matches!(topic.subject, Subject::Visit(_));
                let all: Vec<_> = self.topics().values().filter(is_list).cloned().collect();
                return all.iter().for_each(|topic| topic.changed(only));
            }
        };
        let topic = self.topics().get(&subject).cloned();
        if let Some(topic) = topic {
            topic.changed(only);
        }
    }

    /// Returns a number that no other listener has.
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn join(&self, subject: Subject, number: u64, slot: &Arc<Slot>) -> Arc<Topic> {
        let mut topics = self.topics();
        let topic = topics
            .entry(subject)
            .or_insert_with_key(|subject| Arc::new(Topic::new(subject.clone())));
        // Done under the lock of the table, so that the topic is not removed meanwhile.
        topic.members().insert(number, Arc::clone(slot));
        Arc::clone(topic)
    }

    pub(super) fn leave(&self, topic: &Topic, number: u64) {
        let mut topics = self.topics();
        let mut members = topic.members();
        members.remove(&number);
        if members.is_empty() {
            topics.remove(&topic.subject);
        }
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<Subject, Arc<Topic>>> {
        self.topics.lock()
    }

    /// How many topics there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.topics().len()
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::{Id, SubscriptionFilter};

    use super::*;
    use crate::subscription::Listener;

    #[test]
    fn a_topic_without_listeners_is_forgotten() {
        let kept = Quota::new(10_000, 10_000);
        let hub = Arc::new(Hub::new(ListenerLimits::default(), kept));
        let key = CallerKey::digest("ada");
        let listen = |filter: SubscriptionFilter| {
            let listener = Listener::of_request(&hub, &Id::from(1), key);
            let mut listener = listener.expect("room");
            listener.add_all(&filter).expect("room");
            listener
        };
        let one = listen(
            SubscriptionFilter::new()
                .with_tools()
                .with_resource("a://b"),
        );
        let mut other = listen(SubscriptionFilter::new().with_resource("a://b"));
        assert_eq!(hub.len(), 2);
        drop(one);
        assert_eq!(hub.len(), 1);
        // The change was noted but not reported; the note is dropped with the listener.
        hub.hear(&Change::Resource("a://b".into()));
        other.remove_resource("a://b");
        assert_eq!(hub.len(), 0);
        other.end();
    }

    #[test]
    fn a_change_of_one_caller_is_told_to_no_other() {
        let kept = Quota::new(10_000, 10_000);
        let hub = Arc::new(Hub::new(ListenerLimits::default(), kept));
        let listen = |caller: &str| {
            let key = CallerKey::digest(caller);
            let mut listener = Listener::of_request(&hub, &Id::from(1), key).expect("room");
            let filter = SubscriptionFilter::new()
                .with_tools()
                .with_resource("a://b");
            listener.add_all(&filter).expect("room");
            listener
        };
        let (ada, eve) = (listen("ada"), listen("eve"));
        let told = |listener: &Listener| {
            let told = listener.unreported();
            assert!(told <= 2);
            told
        };
        for change in [Change::Resource("a://b".into()), Change::Tools] {
            hub.hear_for(&change, CallerKey::digest("ada"));
        }
        assert_eq!((told(&ada), told(&eve)), (2, 0));
        hub.hear(&Change::Tools);
        assert_eq!((told(&ada), told(&eve)), (2, 1));
    }
}
