//! Two replicas that use all stores, to test whether everything works between them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::sync::mpsc;
use turnbuckle_store::{
    Change, Fanout as _, JoinGuard, StateClaim, StateUse, StoreError, UsedStates as _,
    bus::{Bus as _, Delivery, NodeId, Recipient},
    event::{EventLog as _, LoggedEvent},
    redis::{
        Redis, RedisBus, RedisEvents, RedisFanout, RedisSessions, RedisTasks, RedisUsedStates,
    },
    session::{SessionChange, Sessions as _},
    task::{Changed, NewTask, TaskChange, TaskEnd, TaskKey, Tasks as _},
};

use super::listen;

/// How long it may take until everything works again after a Redis process was killed: the time
/// until the others notice, an election, and delays of a busy machine.
pub(super) const HEALED_WITHIN: Duration = Duration::from_secs(20);

/// How long to keep written data.
const KEEP: Duration = Duration::from_mins(10);

/// How long a message may take if nothing is wrong.
const HEARD_WITHIN: Duration = Duration::from_secs(1);

/// A replica with all its stores.
struct Replica {
    node: NodeId,
    bus: RedisBus,
    taken: mpsc::UnboundedReceiver<Vec<u8>>,
    fanout: RedisFanout,
    told: mpsc::UnboundedReceiver<Change>,
    tasks: Arc<RedisTasks>,
    used_states: RedisUsedStates,
    sessions: RedisSessions,
    events: RedisEvents,
    _joined: [JoinGuard; 2],
}

impl Replica {
    async fn new(redis: Redis, number: u64) -> Self {
        let (node, bus, fanout) = (NodeId::new(number), redis.bus(), redis.fanout());
        let (joined, taken) = super::node(&bus, node);
        let (heard, told) = listen(&fanout);
        bus.ready(node).await;
        Self {
            node,
            taken,
            told,
            tasks: Arc::new(redis.tasks()),
            used_states: redis.used_states(),
            sessions: redis.sessions(),
            events: redis.events(),
            bus,
            fanout,
            _joined: [joined, heard],
        }
    }
}

/// Two replicas of one server.
pub(super) struct Pair {
    one: Replica,
    other: Replica,
}

/// The key of a task whose owner has no other tasks, so that tasks are spread over the nodes of a cluster.
pub(super) fn key(id: &str) -> TaskKey {
    TaskKey::new(format!("owner of {id}"), id)
}

impl Pair {
    /// Connects to the same URL twice, as two processes do.
    pub(super) async fn open(url: &str, prefix: &str) -> Self {
        let one = Redis::open(url).await.unwrap().prefix(prefix);
        let other = Redis::open(url).await.unwrap().prefix(prefix);
        Self {
            one: Replica::new(one, 1).await,
            other: Replica::new(other, 2).await,
        }
    }

    /// Whether a task of one replica is visible to the other.
    pub(super) async fn has_task(&self, id: &str) -> bool {
        let found = self.other.tasks.get(&key(id), SystemTime::now()).await;
        found.unwrap().is_some()
    }

    pub(super) async fn begin_task(&self, id: &str) -> Result<(), String> {
        let new = NewTask {
            key: key(id),
            ttl: Some(KEEP),
            poll_interval: None,
            payer: None,
            restart: None,
        };
        let begun = self.one.tasks.create(new, SystemTime::now()).await;
        begun.map(drop).map_err(|error| error.to_string())
    }

    pub(super) async fn end_task(&self, id: &str) {
        let end = TaskChange::End(TaskEnd::Cancelled { reason: None });
        let ended = self
            .one
            .tasks
            .change(&key(id), end, SystemTime::now())
            .await;
        assert!(matches!(ended, Ok(Changed::Now(_))), "{ended:?}");
    }

    /// Whether a task of one replica has ended for the other; `None` if the other cannot tell.
    pub(super) async fn is_over(&self, id: &str) -> Option<bool> {
        let found = self.other.tasks.get(&key(id), SystemTime::now()).await;
        Some(found.ok()??.is_over())
    }

    pub(super) async fn claim(&self, id: &[u8]) -> Result<StateClaim, StoreError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let used = StateUse::new(id, 7, now.as_secs() + KEEP.as_secs(), now.as_secs());
        self.one.used_states.claim(used).await
    }

    pub(super) async fn note(&self, session: &str) -> Result<bool, StoreError> {
        let change = SessionChange::Subscribe("r://it".into());
        self.one.sessions.write(session, change, KEEP).await
    }

    pub(super) async fn has_note(&self, session: &str) -> bool {
        let state = self.other.sessions.read(session).await.unwrap();
        state.resources.iter().any(|uri| uri == "r://it")
    }

    /// Uses all stores from both replicas. Each part is retried until it works; returns the longest
    /// time that a part took. Parts may be on nodes that still work, and fail a moment later: a
    /// cluster that has noticed that a node is unreachable refuses everything until another node
    /// has its slots.
    pub(super) async fn works(&mut self) -> Duration {
        let begun = Instant::now();
        let mut part = "messages";
        let all = async {
            self.messages_arrive().await;
            part = "changes";
            self.changes_arrive().await;
            part = "tasks";
            self.tasks_work().await;
            part = "the rest";
            self.the_rest_works().await;
        };
        let is_in_time = tokio::time::timeout(HEALED_WITHIN, all).await.is_ok();
        assert!(is_in_time, "not in time: {part}");
        begun.elapsed()
    }

    async fn messages_arrive(&mut self) {
        let Self { one, other } = self;
        let (here, there) = (one.node, other.node);
        deliver(one, other, Recipient::Node(there)).await;
        deliver(other, one, Recipient::Node(here)).await;
        deliver(one, other, Recipient::All).await;
        assert!(!one.bus.is_gone(other.node) && !other.bus.is_gone(one.node));
    }

    async fn changes_arrive(&mut self) {
        loop {
            let change = Change::Resource(unique());
            self.one.fanout.publish(change.clone());
            let heard = async { while self.other.told.recv().await != Some(change.clone()) {} };
            if tokio::time::timeout(HEARD_WITHIN, heard).await.is_ok() {
                return;
            }
        }
    }

    async fn tasks_work(&self) {
        let id = unique();
        let key = key(&id);
        eventually(async || self.begin_task(&id).await.ok()).await;
        let waiting = tokio::spawn({
            let (tasks, key) = (Arc::clone(&self.other.tasks), key.clone());
            async move { tasks.changed(&key, 1).await }
        });
        let changed = eventually(async || {
            let said = TaskChange::Say("half done".into());
            let changed = self.one.tasks.change(&key, said, SystemTime::now());
            changed.await.ok()
        });
        let Changed::Now(record) = changed.await else {
            panic!("it was not changed")
        };
        assert_eq!(record.version, 2, "a change is made once");
        waiting.await.unwrap().expect("it is told");
        let page = eventually(async || {
            let page = self
                .other
                .tasks
                .list(&key.owner, None, 5, SystemTime::now());
            page.await.ok()
        });
        assert_eq!(page.await.tasks.len(), 1);
    }

    async fn the_rest_works(&self) {
        let id = unique();
        let claimed = eventually(async || self.claim(id.as_bytes()).await.ok()).await;
        assert_eq!(claimed, StateClaim::FirstUse);
        let claimed = eventually(async || self.claim(id.as_bytes()).await.ok()).await;
        assert_eq!(claimed, StateClaim::AlreadyUsed);
        assert!(eventually(async || self.note(&id).await.ok()).await);
        let state = eventually(async || self.other.sessions.read(&id).await.ok()).await;
        assert_eq!(state.resources.len(), 1);
        let event = || LoggedEvent {
            number: 1,
            bytes: b"event".to_vec(),
        };
        eventually(async || {
            let append = self.one.events.append(&id, vec![event()], 1, KEEP);
            append.await.ok()
        })
        .await;
        let events = eventually(async || self.other.events.read(&id).await.ok()).await;
        assert_eq!(events.len(), 1);
    }
}

/// Sends messages until one arrives.
async fn deliver(from: &Replica, to: &mut Replica, recipient: Recipient) {
    loop {
        let message = unique().into_bytes();
        let sent = from.bus.send(recipient, message.clone()).await;
        if matches!(sent, Ok(Delivery::Sent)) {
            let arrives = async { while to.taken.recv().await.as_ref() != Some(&message) {} };
            if tokio::time::timeout(HEARD_WITHIN, arrives).await.is_ok() {
                return;
            }
        }
        assert_ne!(sent.ok(), Some(Delivery::NoSuchNode), "it is there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Retries until an attempt succeeds.
pub(super) async fn eventually<T>(mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    loop {
        if let Some(done) = attempt().await {
            return done;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A unique text.
fn unique() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("unique {}", NUMBER.fetch_add(1, Ordering::Relaxed))
}
