//! The stores that replicas share, behind a network that is slow and sometimes down, and machines that may lose
//! their power before or after each step.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use tokio::sync::{Notify, mpsc};
use turnbuckle_store::{
    BoxFuture, JoinGuard, ReplicaStores, StateClaim, StateUse, StoreError, UsedStates,
    bus::{Bus, Delivery, Inbox, NodeId, Recipient},
    session::{SessionChange, SessionState, Sessions},
    task::{Changed, NewTask, TaskChange, TaskKey, TaskPage, TaskRecord, Tasks, TasksError},
};
use turnbuckle_testing::sim::{Random, SimulationRun};

/// How many steps in a thousand crash the machine.
const CRASHES: u16 = 15;

/// How many steps in a thousand fail because the store cannot be reached.
const FAILURES: u16 = 20;

/// The power of one machine.
#[derive(Clone)]
pub(crate) struct Power(Arc<Inner>);

struct Inner {
    run: SimulationRun,
    random: Mutex<Random>,
    may_fail: Arc<AtomicBool>,
    is_off: AtomicBool,
    failed: Notify,
}

impl Power {
    /// Creates power that may fail for as long as the flag is set.
    pub(crate) fn new(run: &SimulationRun, may_fail: &Arc<AtomicBool>) -> Self {
        Self(Arc::new(Inner {
            run: run.clone(),
            random: Mutex::new(run.random()),
            may_fail: Arc::clone(may_fail),
            is_off: AtomicBool::new(false),
            failed: Notify::new(),
        }))
    }

    /// Waits until the power fails.
    pub(crate) async fn failed(&self) {
        self.0.failed.notified().await;
    }

    fn is_off(&self) -> bool {
        self.0.is_off.load(Ordering::Relaxed)
    }

    fn chance(&self, per_mille: u16) -> bool {
        let is_drawn = self.0.random.lock().expect("no panic").chance(per_mille);
        is_drawn && self.0.may_fail.load(Ordering::Relaxed)
    }

    /// A point at which the machine may stop for good. Its later steps reach no other machine. They fail after a
    /// pause in which the machine is taken down, so that tasks of the server end as they do with a process.
    async fn crash_point(&self, what: &str) -> Result<(), StoreError> {
        if !self.is_off() && self.chance(CRASHES) {
            self.0.run.note(format_args!("power fails {what}"));
            self.0.is_off.store(true, Ordering::Relaxed);
            self.0.failed.notify_one();
        }
        if self.is_off() {
            tokio::time::sleep(Duration::from_secs(1)).await;
            return Err(StoreError::new("simulated", "the power has failed"));
        }
        Ok(())
    }

    /// Runs one step with the delays on the way to the store and back.
    async fn step<T, E: From<StoreError>, F: Future<Output = Result<T, E>>>(
        &self,
        what: &str,
        step: impl FnOnce() -> F,
    ) -> Result<T, E> {
        self.delay().await;
        self.crash_point(what).await?;
        if self.chance(FAILURES) {
            return Err(StoreError::new("simulated", "the store is away").into());
        }
        let done = step().await?;
        self.crash_point(what).await?;
        self.delay().await;
        Ok(done)
    }

    async fn delay(&self) {
        let longest = Duration::from_millis(5);
        let time = self.0.random.lock().expect("no panic").time(longest);
        tokio::time::sleep(time).await;
    }
}

/// The stores as one machine sees them.
pub(crate) fn seen_by(power: &Power, stores: &ReplicaStores) -> ReplicaStores {
    let far = Arc::new(Far {
        power: power.clone(),
        stores: stores.clone(),
    });
    ReplicaStores::new(
        Arc::clone(&far) as Arc<dyn Bus>,
        Arc::clone(&far) as Arc<dyn Sessions>,
        Arc::clone(&far) as Arc<dyn Tasks>,
        Arc::clone(&stores.fanout),
        far,
        Arc::clone(&stores.events),
    )
}

struct Far {
    power: Power,
    stores: ReplicaStores,
}

impl Tasks for Far {
    fn create(
        &self,
        new: NewTask,
        now: SystemTime,
    ) -> BoxFuture<'_, Result<Arc<TaskRecord>, TasksError>> {
        let step = move || self.stores.tasks.create(new, now);
        Box::pin(self.power.step("create", step))
    }

    fn get<'a>(
        &'a self,
        key: &'a TaskKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Arc<TaskRecord>>, TasksError>> {
        let step = move || self.stores.tasks.get(key, now);
        Box::pin(self.power.step("get", step))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<TaskPage, TasksError>> {
        let step = move || self.stores.tasks.list(owner, after, limit, now);
        Box::pin(self.power.step("list", step))
    }

    fn change<'a>(
        &'a self,
        key: &'a TaskKey,
        change: TaskChange,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, TasksError>> {
        let step = move || self.stores.tasks.change(key, change, now);
        Box::pin(self.power.step("change", step))
    }

    fn changed<'a>(&'a self, key: &'a TaskKey, seen: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        let step = move || self.stores.tasks.changed(key, seen);
        Box::pin(self.power.step("changed", step))
    }
}

impl Sessions for Far {
    fn read<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        Box::pin(
            self.power
                .step("read", || self.stores.sessions.read(session)),
        )
    }

    fn write<'a>(
        &'a self,
        session: &'a str,
        change: SessionChange,
        keep: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let step = move || self.stores.sessions.write(session, change, keep);
        Box::pin(self.power.step("write", step))
    }

    fn keep_handshake<'a>(
        &'a self,
        session: &'a str,
        part: Vec<u8>,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let step = move || self.stores.sessions.keep_handshake(session, part, keep);
        Box::pin(self.power.step("keep", step))
    }

    fn handshake<'a>(
        &'a self,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, StoreError>> {
        let step = move || self.stores.sessions.handshake(session);
        Box::pin(self.power.step("handshake", step))
    }
}

impl UsedStates for Far {
    fn claim<'a>(&'a self, state: StateUse<'a>) -> BoxFuture<'a, Result<StateClaim, StoreError>> {
        Box::pin(
            self.power
                .step("claim", move || self.stores.used_states.claim(state)),
        )
    }
}

/// Delivers messages late and in order.
impl Bus for Far {
    fn join(&self, node: NodeId, inbox: Inbox) -> JoinGuard {
        let (sender, mut messages) = mpsc::unbounded_channel();
        let power = self.power.clone();
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                power.delay().await;
                if power.is_off() {
                    return;
                }
                inbox(message);
            }
        });
        let late: Inbox = Arc::new(move |message| {
            // A node that has left gets no messages.
            let _ = sender.send(message);
        });
        self.stores.bus.join(node, late)
    }

    fn ready(&self, node: NodeId) -> BoxFuture<'_, ()> {
        self.stores.bus.ready(node)
    }

    fn left(&self, node: NodeId) -> BoxFuture<'_, ()> {
        self.stores.bus.left(node)
    }

    fn send(&self, to: Recipient, message: Vec<u8>) -> BoxFuture<'_, Result<Delivery, StoreError>> {
        Box::pin(async move {
            self.power.crash_point("send").await?;
            self.stores.bus.send(to, message).await
        })
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.stores.bus.nodes()
    }

    fn knows_all(&self) -> bool {
        self.stores.bus.knows_all()
    }

    fn is_gone(&self, node: NodeId) -> bool {
        self.stores.bus.is_gone(node)
    }
}
