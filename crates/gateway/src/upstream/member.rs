//! One server of the gateway, and which of its sessions a call uses (G1, G17).

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use tokio::{
    task::{AbortHandle, JoinSet},
    time::Instant,
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{CallError, Connection};
use turnbuckle_host::{ServerId, ServerState, shared::Upstream};
use turnbuckle_protocol::{ClientCapabilities, TASKS_EXTENSION};
use turnbuckle_server::RelayReply;

use super::{
    Lane, LaneHub, LaneRole, LaneUse, Plan,
    kept_lanes::{KeptLane, LaneKey, Lanes, make_room_for, take, tidy},
    plan::{asked_of, everything},
    processes::{ProcessPlace, ProcessPlaces, make_room},
    shares::Shares,
};
use crate::{
    lock::{Lock, LockKind},
    settings::Isolation,
    translate::{FrontRequest, unavailable},
};

/// How long a session may take to end.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// How many processes of one server may run at the same time, unless its settings change this.
const MAX_PROCESSES: usize = 8;

/// How long a call waits for a process place.
const PLACE_WITHIN: Duration = Duration::from_secs(30);

/// The places of a process that is starting. If the start fails or is abandoned, it is unknown when
/// the process ends; one that does not end by itself is killed within [`CLOSE_TIME`].
struct StartPlaces(Vec<ProcessPlace>);

impl StartPlaces {
    fn take(&mut self) -> Vec<ProcessPlace> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for StartPlaces {
    fn drop(&mut self) {
        let mut places = self.take();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if places.is_empty() {
            return;
        }
        places.iter_mut().for_each(ProcessPlace::ends);
        runtime.spawn(async move {
            tokio::time::sleep(CLOSE_TIME).await;
            drop(places);
        });
    }
}

/// One server of the gateway.
pub(crate) struct Member {
    pub(crate) id: ServerId,
    pub(crate) plan: Arc<Plan>,
    pub(crate) upstream: Arc<Upstream>,
    /// The supervisor's session.
    main: Mutex<Option<Arc<Lane>>>,
    lanes: Mutex<Lanes>,
    /// All open sessions, by their numbers.
    open: Mutex<BTreeMap<u64, Weak<Lane>>>,
    /// The tasks that open sessions.
    opening: Mutex<Vec<AbortHandle>>,
    processes: Arc<ProcessPlaces>,
    shares: Shares,
}

impl Member {
    pub(crate) fn new(id: ServerId, plan: Arc<Plan>, upstream: Arc<Upstream>) -> Self {
        // One of the processes is the supervisor's.
        let processes = plan.settings.max_processes.unwrap_or(MAX_PROCESSES).max(2) - 1;
        Self {
            id,
            plan,
            upstream,
            main: Mutex::default(),
            lanes: Mutex::default(),
            open: Mutex::default(),
            opening: Mutex::default(),
            processes: ProcessPlaces::new(processes),
            shares: Shares::of(processes),
        }
    }

    /// Whether all its entries are offered unchanged.
    pub(crate) fn offers_all(&self) -> bool {
        !self.plan.spec.filters_tools() && self.plan.settings.tools.is_empty()
    }

    /// Whether this entry is withheld from clients, because it differs from the approved one.
    pub(crate) fn is_withheld(&self, lock: &Lock, kind: LockKind, name: &str) -> bool {
        let server = self.id.as_str();
        if self.plan.common.is_of_caller {
            return lock.withholds_own(server, kind, name);
        }
        lock.withholds_shared(server, kind, name)
    }

    /// Whether this is a modern server that may run tools as tasks.
    pub(crate) fn has_modern_tasks(&self) -> bool {
        let ServerState::Ready(ready) = self.upstream.state() else {
            return false;
        };
        let can = ready.capabilities.as_ref();
        let extensions = can.and_then(|can| can.extensions.as_ref());
        ready.revision.is_modern()
            && extensions.is_some_and(|all| all.contains_key(TASKS_EXTENSION))
    }

    /// The session for a request.
    pub(crate) async fn lane(&self, request: &FrontRequest) -> Result<LaneUse, RelayReply> {
        self.lane_for(&request.capabilities, request.caller()).await
    }

    /// Whether this caller has its own session or process.
    pub(crate) fn is_apart(&self, caller: Option<&str>) -> bool {
        let isolation = self.plan.settings.isolation;
        let is_kept = matches!(isolation, Isolation::Caller | Isolation::Client);
        let ServerState::Ready(ready) = self.upstream.state() else {
            return false;
        };
        // A modern server at a URL has no sessions.
        let has_sessions = self.plan.spec.is_process() || !ready.revision.is_modern();
        caller.is_some() && is_kept && has_sessions
    }

    /// The session for calls of a client with these capabilities.
    pub(crate) async fn lane_for(
        &self,
        client: &ClientCapabilities,
        caller: Option<&str>,
    ) -> Result<LaneUse, RelayReply> {
        let connection = self.upstream.connection().await;
        let connection =
            connection.map_err(|failure| unavailable(self.id.as_str(), &failure.reason))?;
        let is_process = self.plan.spec.is_process();
        let is_modern = connection.server().revision().is_modern();
        let isolation = self.plan.settings.isolation;
        let is_apart = match isolation {
            Isolation::Shared => false,
            Isolation::Caller => caller.is_some(),
            Isolation::Client => caller.is_some() || !is_modern,
            Isolation::Call => true,
        };
        let is_common = !is_apart || (is_modern && !is_process);
        let can_share = || is_modern || is_process || asked_of(client) == ClientCapabilities::new();
        if is_common && can_share() {
            return Ok(self.main(connection).enter());
        }
        // Clients with different capabilities share the process of their caller.
        let capabilities = if is_process && (is_modern || isolation == Isolation::Caller) {
            everything()
        } else {
            asked_of(client)
        };
        // Opening is boxed, so that the futures of calls that need no new session stay small.
        if isolation == Isolation::Call {
            let opened = Box::pin(self.open(capabilities, caller)).await?;
            return Ok(opened.enter());
        }
        let key = LaneKey {
            caller: match isolation {
                Isolation::Caller | Isolation::Client => caller.map(str::to_owned),
                _ => None,
            },
            capabilities: serde_json::to_string(&capabilities).unwrap_or_default(),
        };
        Box::pin(self.kept(key, caller, capabilities)).await
    }

    /// The session with this number, if it is open.
    pub(crate) fn lane_of(&self, number: u64) -> Option<LaneUse> {
        let lane = self.open.lock().get(&number)?.upgrade()?;
        (!lane.connection.is_closed()).then(|| lane.enter())
    }

    /// The lane of the supervisor's session. A new one is made if the connection has changed.
    fn main(&self, connection: Connection) -> Arc<Lane> {
        let mut main = self.main.lock();
        match &*main {
            Some(lane) if lane.connection.is_same(&connection) => Arc::clone(lane),
            _ => {
                let hub = Arc::clone(&self.plan.hub);
                let lane = Lane::new(self.next_number(), connection, hub, Vec::new());
                let lane = self.enter(lane);
                *main = Some(Arc::clone(&lane));
                lane
            }
        }
    }

    fn next_number(&self) -> u64 {
        self.plan.common.next_lane.fetch_add(1, Ordering::Relaxed)
    }

    /// Registers an open session.
    fn enter(&self, lane: Lane) -> Arc<Lane> {
        let lane = Arc::new(lane);
        let mut open = self.open.lock();
        open.retain(|_, lane| lane.strong_count() > 0);
        open.insert(lane.number, Arc::downgrade(&lane));
        lane
    }

    /// The session that is kept for calls of the same kind. It is opened if necessary.
    async fn kept(
        &self,
        key: LaneKey,
        caller: Option<&str>,
        capabilities: ClientCapabilities,
    ) -> Result<LaneUse, RelayReply> {
        let cell = {
            let mut lanes = self.lanes.lock();
            tidy(&mut lanes);
            if !lanes.contains_key(&key) {
                let ended = make_room_for(&mut lanes, caller);
                ended.map_err(|reason| unavailable(self.id.as_str(), &reason))?;
            }
            let kept = lanes.entry(key).or_insert_with(|| KeptLane {
                cell: Arc::default(),
                opener: caller.map(str::to_owned),
            });
            Arc::clone(&kept.cell)
        };
        let lane = cell.get_or_try_init(|| self.open(capabilities, caller));
        let lane = lane.await?;
        Ok(lane.enter())
    }

    async fn open(
        &self,
        capabilities: ClientCapabilities,
        caller: Option<&str>,
    ) -> Result<Arc<Lane>, RelayReply> {
        let failed = |reason: &str| unavailable(self.id.as_str(), reason);
        let spec = &self.plan.spec;
        let places = if spec.is_process() {
            self.places(caller)
                .await
                .map_err(|reason| failed(&reason))?
        } else {
            Vec::new()
        };
        let target = self
            .plan
            .target()
            .map_err(|failure| failed(&failure.reason))?;
        let role = match self.plan.settings.isolation {
            Isolation::Shared => LaneRole::Calls,
            _ => LaneRole::Caller,
        };
        let hub = LaneHub::beside(&self.plan.hub, spec.is_pipe(), role);
        let client = self.plan.client_with(capabilities, &hub);
        let (number, id) = (self.next_number(), self.id.clone());
        // In a separate task: if the caller's future is dropped, the process must keep its places
        // until it ends.
        let mut places = StartPlaces(places);
        let opening = tokio::spawn(async move {
            let connected = client.connect(target).named(id.as_str()).await;
            let connection = connected.map_err(|error| error.to_string())?;
            Ok(Lane::new(number, connection, hub, places.take()))
        });
        {
            let mut all = self.opening.lock();
            all.retain(|task| !task.is_finished());
            all.push(opening.abort_handle());
        }
        let opened = opening.await;
        let opened = opened.map_err(|_| failed("the gateway is closing"))?;
        let lane = opened.map_err(|reason: String| {
            self.upstream.check_reachable();
            failed(&reason)
        })?;
        Ok(self.enter(lane))
    }

    /// Lets the supervisor check the server, if a call may have failed because the server is gone.
    pub(crate) fn note_failure(&self, error: &CallError) {
        if matches!(
            error,
            CallError::Unsent { .. } | CallError::Lost { .. } | CallError::Closed { .. }
        ) {
            self.upstream.check_reachable();
        }
    }

    /// Releases the places of processes that have ended.
    pub(super) fn free_closed(&self) {
        for lane in self.all_open() {
            lane.free_places_if_closed();
        }
    }

    /// The unused processes that occupy one of these places, with their idle times.
    pub(super) fn idle(&self, places: &Arc<ProcessPlaces>) -> Vec<(Duration, Arc<Lane>)> {
        let open = self.all_open().into_iter();
        let open = open.filter(|lane| lane.has_place_of(places));
        open.filter_map(|lane| Some((lane.idle_for()?, lane)))
            .collect()
    }

    /// Ends an idle process, unless a call has just begun to use it.
    pub(super) fn end_idle(&self, lane: &Arc<Lane>) {
        let kept = take(&mut self.lanes.lock(), lane);
        let spare = lane.take_spare();
        drop((kept, spare));
    }

    /// Waits for a place among the processes of the caller, of the server and of all servers.
    async fn places(&self, caller: Option<&str>) -> Result<Vec<ProcessPlace>, String> {
        let share = caller.map(|caller| self.shares.of_caller(caller));
        let own = share.into_iter().chain([Arc::clone(&self.processes)]);
        let all = async {
            let mut places = Vec::new();
            for own in own {
                let room = || make_room(&own, std::iter::once(self));
                places.extend(own.wait(room).await);
            }
            places.extend(self.plan.common.processes.place().await);
            places
        };
        let waited = tokio::time::timeout(PLACE_WITHIN, all).await;
        waited.map_err(|_| {
            format!(
                "all processes of this server were busy for {PLACE_WITHIN:?}; try again later, or \
                 allow more in the settings of the gateway (`processes`)"
            )
        })
    }

    /// The number of running processes of the server, including the supervisor's.
    pub(crate) fn processes(&self) -> usize {
        if !self.plan.spec.is_process() {
            return 0;
        }
        let own = usize::from(self.upstream.live().is_some());
        let lanes = self.lanes.lock();
        own + lanes
            .values()
            .filter(|kept| kept.cell.get().is_some())
            .count()
    }

    /// Closes sessions that are no longer used.
    pub(crate) fn tidy(&self) {
        tidy(&mut self.lanes.lock());
    }

    /// Keeps no session any longer. Sessions in use end with their calls.
    pub(crate) fn retire(&self) {
        for lane in self.all_open() {
            lane.retire();
        }
        let lanes = std::mem::take(&mut *self.lanes.lock());
        drop(lanes);
    }

    /// All open sessions, including ended ones that are still referenced.
    fn all_open(&self) -> Vec<Arc<Lane>> {
        let open = self.open.lock();
        open.values().filter_map(Weak::upgrade).collect()
    }

    /// Ends all sessions except the supervisor's, with the calls on them, and waits until they have ended.
    pub(crate) async fn close(&self) {
        let main = self.main.lock().as_ref().map(|lane| lane.number);
        let open = std::mem::take(&mut *self.open.lock());
        let open = open.into_iter().filter(|(number, _)| Some(*number) != main);
        let lanes: Vec<Arc<Lane>> = open.filter_map(|(_, lane)| lane.upgrade()).collect();
        self.retire();
        for opening in std::mem::take(&mut *self.opening.lock()) {
            opening.abort();
        }
        let until = Instant::now() + CLOSE_TIME;
        let mut closing = JoinSet::new();
        for lane in lanes {
            closing.spawn(async move { lane.connection.close_within(CLOSE_TIME).await });
        }
        closing.join_all().await;
        self.processes
            .all_ended(until.saturating_duration_since(Instant::now()))
            .await;
    }
}
