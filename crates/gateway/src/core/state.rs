//! The servers of a gateway, and their merged lists.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, task::JoinSet, time::Instant};
use turnbuckle_base::lock::{Mutex, RwLock};
use turnbuckle_host::{
    InheritedVariables, ServerId, ServerSpec, ServerState,
    shared::{Fleet, Upstream},
};
use turnbuckle_server::Changes;

use super::list_news::{ChangedList, ListNews};
use crate::{
    exchange::Context,
    lock::{Lock, LockMode, Offered},
    observe::Recorder,
    routes::{Kind, Routes},
    settings::{Naming, UpstreamSettings},
    upstream::{Common, Member, Plan},
};

/// For how long after opening the gateway requests for lists wait for servers that are starting.
pub(super) const STARTS_WITHIN: Duration = Duration::from_secs(10);

/// A listener for the states of servers.
pub(crate) type OnState = Arc<dyn Fn(&ServerId, &ServerState) + Send + Sync>;

/// The running gateway.
pub(crate) struct Core {
    pub(crate) context: Arc<Context>,
    pub(super) common: Arc<Common>,
    pub(super) naming: Naming,
    pub(super) on_state: Option<OnState>,
    /// The servers with a state that was reported, and whose removal was not.
    pub(super) reported: Mutex<BTreeSet<ServerId>>,
    pub(super) plans: RwLock<BTreeMap<ServerId, Arc<Plan>>>,
    pub(super) members: RwLock<Vec<Arc<Member>>>,
    pub(super) routes: RwLock<Arc<Routes>>,
    /// Held while lists are merged, so that the last merge has the newest lists.
    pub(super) merging: Mutex<()>,
    pub(super) generation: AtomicU64,
    /// Notified when lists were merged.
    pub(super) rerouted: Notify,
    pub(super) fleet: OnceLock<Fleet>,
    pub(super) opened: Instant,
    pub(super) changes: Arc<OnceLock<Changes>>,
    pub(super) list_news: ListNews,
    pub(super) lock: OnceLock<Lock>,
    pub(crate) recorder: Option<Arc<Recorder>>,
    /// Whether this is the core for one caller, and not the core for everybody.
    pub(super) is_of_caller: bool,
    /// The value that a subscription holds, so that the caller is not forgotten while it is open.
    pub(super) keeper: OnceLock<Weak<dyn Any + Send + Sync>>,
}

impl Core {
    pub(crate) fn new(
        context: Context,
        common: Common,
        naming: Naming,
        on_state: Option<OnState>,
        recorder: Option<Arc<Recorder>>,
    ) -> Self {
        let changes = Arc::clone(&context.changes);
        let mut core = Self::empty(Arc::new(context), common, naming, changes);
        core.on_state = on_state;
        core.recorder = recorder;
        core
    }

    /// Makes a core without servers.
    pub(super) fn empty(
        context: Arc<Context>,
        common: Common,
        naming: Naming,
        changes: Arc<OnceLock<Changes>>,
    ) -> Self {
        Self {
            context,
            is_of_caller: common.is_of_caller,
            common: Arc::new(common),
            naming,
            on_state: None,
            reported: Mutex::default(),
            plans: RwLock::default(),
            members: RwLock::default(),
            routes: RwLock::default(),
            merging: Mutex::default(),
            generation: AtomicU64::new(1),
            rerouted: Notify::new(),
            fleet: OnceLock::new(),
            opened: Instant::now(),
            list_news: ListNews::new(Arc::clone(&changes)),
            changes,
            lock: OnceLock::new(),
            recorder: None,
            keeper: OnceLock::new(),
        }
    }

    /// Sets the fleet of servers, and the channel for notifying clients of changes.
    pub(crate) fn start(&self, fleet: Fleet, changes: Changes) {
        let _ = self.fleet.set(fleet);
        let _ = self.changes.set(changes);
    }

    /// Sets the lock that pins what servers offer.
    pub(crate) fn set_lock(&self, lock: Lock) {
        let _ = self.lock.set(lock);
    }

    pub(crate) fn lock(&self) -> Option<&Lock> {
        self.lock.get()
    }

    /// Whether entries that differ from the approved ones are withheld.
    pub(super) fn enforces_lock(&self) -> bool {
        let lock = self.lock.get();
        lock.is_some_and(|lock| lock.mode() == LockMode::Enforce)
    }

    /// Sets which environment variables processes inherit that start from now on.
    pub(crate) fn inherit(&self, variables: InheritedVariables) {
        *self.common.inherited.write() = variables;
    }

    /// Records what a connected server offers.
    pub(super) fn observe(&self, server: &Upstream) {
        if let (Some(lock), Some(connection)) = (self.lock.get(), server.live()) {
            let offered = Offered::new(&server.lists(), connection.server().instructions());
            lock.observe(server.id().as_str(), offered);
        }
    }

    /// Records again what all servers offer.
    pub(crate) fn observe_all(&self) {
        for member in self.own_members() {
            self.observe(&member.upstream);
        }
        self.reroute();
    }

    /// Adds a server. A server of the same name is replaced.
    pub(crate) fn add(&self, id: &ServerId, spec: ServerSpec, settings: UpstreamSettings) {
        let plan = Arc::new(Plan::new(
            id,
            spec.clone(),
            settings,
            Arc::clone(&self.common),
        ));
        self.plans.write().insert(id.clone(), Arc::clone(&plan));
        let Some(fleet) = self.fleet.get() else {
            return;
        };
        // The end of a program that is replaced may take seconds, and its states say nothing of the new server.
        self.report_state(id, &ServerState::Removed);
        // This reads a file, so the lock below is not held yet.
        let upstream = fleet.prepare(id.clone(), spec);
        let member = Arc::new(Member::new(id.clone(), plan, Arc::clone(&upstream)));
        {
            // The new server may report a state before this returns. It has to be known by then.
            let mut members = self.members.write();
            fleet.start(&upstream);
            member.plan.common.processes.enter(&member);
            match members.iter_mut().find(|other| other.id == *id) {
                // The sessions of the old server end, and the calls on them too.
                Some(place) => std::mem::replace(place, member).retire(),
                None => members.push(member),
            }
        }
        self.reroute();
        if let [first, _] = self.members().as_slice() {
            // Until now its lists were passed on unchanged, so its problems were not logged.
            self.log_problems(&first.upstream);
        }
    }

    /// Restarts a server with its current settings. Returns false if there is no such server.
    pub(crate) fn restart(&self, id: &ServerId) -> bool {
        let plan = self.plans.read().get(id).cloned();
        let Some(plan) = plan else { return false };
        self.add(id, plan.spec.clone(), plan.settings.clone());
        true
    }

    /// Removes a server and waits for its end.
    pub(crate) async fn remove(&self, id: &ServerId) -> bool {
        self.plans.write().remove(id);
        let removed: Vec<_> = {
            let mut members = self.members.write();
            members.extract_if(.., |member| member.id == *id).collect()
        };
        if let Some(lock) = self.lock.get() {
            lock.forget(id.as_str());
        }
        self.reroute();
        for member in &removed {
            member.close().await;
        }
        match self.fleet.get() {
            Some(fleet) => fleet.remove(id).await,
            None => false,
        }
    }

    /// Ends all servers and the calls on them, and waits until they have ended.
    pub(crate) async fn close(&self) {
        if !self.is_of_caller {
            self.context.parked.close();
            self.context.tasks.close();
        }
        // Close them concurrently, because each server may take as long as a process is given to end.
        let mut closing = JoinSet::new();
        for member in self.own_members() {
            closing.spawn(async move { member.close().await });
        }
        let fleet = async {
            if let Some(fleet) = self.fleet.get() {
                fleet.close().await;
            }
        };
        tokio::join!(closing.join_all(), fleet);
    }

    /// Ends sessions and drops outcomes that are no longer needed.
    pub(crate) fn tidy(&self) {
        self.tidy_members();
        self.context.parked.tidy();
        self.context.tasks.tidy();
    }

    /// Ends sessions that are no longer needed.
    pub(crate) fn tidy_members(&self) {
        self.members().iter().for_each(|member| member.tidy());
    }

    pub(crate) fn members(&self) -> Vec<Arc<Member>> {
        self.members.read().clone()
    }

    /// The servers that this core owns. A caller's core also has servers that all callers share.
    fn own_members(&self) -> Vec<Arc<Member>> {
        let plans = self.plans.read();
        let members = self.members.read();
        let own = members
            .iter()
            .filter(|member| plans.contains_key(&member.id));
        own.cloned().collect()
    }

    pub(crate) fn routes(&self) -> Arc<Routes> {
        Arc::clone(&self.routes.read())
    }

    /// Merges the lists again, and notifies clients of those that changed.
    pub(crate) fn reroute(&self) {
        let _merging = self.merging.lock();
        let generation = self.generation.fetch_add(1, Ordering::Relaxed);
        let (members, before) = (self.members(), self.routes());
        let lock = self.lock.get();
        let mut routes = Routes::new(&members, self.naming, generation, lock, &before);
        if self.is_of_caller {
            routes.make_private();
        }
        let differing = routes.keep_cursors(&before);
        *self.routes.write() = Arc::new(routes);
        self.rerouted.notify_waiters();
        for kind in differing {
            self.list_news.tell(match kind {
                Kind::Tools => ChangedList::Tools,
                Kind::Prompts => ChangedList::Prompts,
                _ => ChangedList::Resources,
            });
        }
    }

    /// How long requests may wait for servers that are still starting and whose lists are not known from
    /// an earlier run. Returns `None` if all lists are known, or the gateway has been open for a while.
    /// Clients list once when they have connected, and many never again.
    pub(crate) fn settling(&self) -> Option<Duration> {
        let left = STARTS_WITHIN.checked_sub(self.opened.elapsed())?;
        self.is_any_unknown().then_some(left)
    }

    fn is_any_unknown(&self) -> bool {
        let members = self.members.read();
        members.iter().any(|member| self.is_unknown(member))
    }

    /// Whether a server is starting and its lists are not known yet.
    fn is_unknown(&self, member: &Member) -> bool {
        let lock = self.lock.get();
        // Lists that a server has just read count as known only after they are merged.
        let is_known = self.routes.read().knows(&member.id);
        matches!(member.upstream.state(), ServerState::Starting)
            && (!is_known || lock.is_some_and(|lock| lock.awaits(member.id.as_str())))
    }

    /// Waits until the servers whose lists are not known are ready or have failed.
    pub(crate) async fn listed(&self) {
        let began = tokio::time::Instant::now();
        for member in self.members() {
            if self.is_unknown(&member) {
                member.upstream.settled_since(began).await;
            }
        }
    }

    /// Whether any server is starting.
    pub(crate) fn is_starting(&self) -> bool {
        let members = self.members.read();
        let mut states = members.iter().map(|member| member.upstream.state());
        states.any(|state| matches!(state, ServerState::Starting))
    }

    /// Waits until each server is ready or has failed.
    pub(crate) async fn settled(&self) {
        let began = tokio::time::Instant::now();
        for member in self.members() {
            member.upstream.settled_since(began).await;
        }
    }
}

impl Drop for Core {
    /// Ends the calls that wait for their users, because they keep sessions open.
    fn drop(&mut self) {
        if self.is_of_caller {
            if let Some(lock) = self.lock.get() {
                let plans = self.plans.read();
                plans.keys().for_each(|id| lock.forget(id.as_str()));
            }
            return;
        }
        self.context.parked.close();
        self.context.tasks.close();
    }
}
