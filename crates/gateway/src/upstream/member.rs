//! One server of the gateway, and which of its sessions a call uses (G1, G17).

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{Client, Connection};
use turnbuckle_host::{ServerId, ServerSpec, shared::Upstream};
use turnbuckle_protocol::{ClientCapabilities, Implementation};
use turnbuckle_server::RelayReply;

use super::{Lane, LaneHub, LaneUse, hub::OnVisited};
use crate::{
    settings::{Isolation, UpstreamSettings},
    translate::{FrontRequest, unavailable},
};

/// How long a session without calls stays open.
const IDLE: Duration = Duration::from_mins(10);

/// How many sessions one server may have at a time, beside the one for its lists.
const MAX_LANES: usize = 64;

/// How many processes of one server may run at a time, if its settings do not say.
const MAX_PROCESSES: usize = 4;

/// How long a call waits for a place among the processes.
const PLACE_WITHIN: Duration = Duration::from_secs(30);

/// What all servers of a gateway share.
pub(crate) struct Common {
    pub(crate) info: Implementation,
    /// Places for processes.
    pub(crate) processes: Arc<Semaphore>,
    pub(crate) on_visited: OnVisited,
}

/// What is known of a server before it starts.
pub(crate) struct Plan {
    pub(crate) settings: UpstreamSettings,
    pub(crate) spec: ServerSpec,
    hub: Arc<LaneHub>,
    common: Arc<Common>,
}

impl Plan {
    pub(crate) fn new(spec: ServerSpec, settings: UpstreamSettings, common: Arc<Common>) -> Self {
        let hub = LaneHub::new(spec.is_pipe(), Arc::clone(&common.on_visited));
        Self {
            settings,
            spec,
            hub: Arc::new(hub),
            common,
        }
    }

    /// The client of the session that the lists are read in. Calls of all clients may use the one
    /// session of a program, so it is told of everything that a client may be able to answer.
    pub(crate) fn client(&self) -> Client {
        let capabilities = if self.spec.is_process() {
            everything()
        } else {
            ClientCapabilities::new()
        };
        self.client_with(capabilities, &self.hub)
    }

    fn client_with(&self, capabilities: ClientCapabilities, hub: &Arc<LaneHub>) -> Client {
        let info = &self.common.info;
        let client = Client::new(&*info.name, &*info.version)
            .relaying(capabilities, Arc::clone(hub) as Arc<_>)
            .handshake_timeout(self.spec.time_to_start());
        match (self.settings.revision, self.settings.era) {
            (Some(revision), _) => client.only(revision),
            (None, Some(era)) => client.only_era(era),
            (None, None) => client,
        }
    }
}

/// What a session is opened for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct LaneKey {
    caller: Option<String>,
    capabilities: String,
}

type Lanes = HashMap<LaneKey, Arc<OnceCell<Arc<Lane>>>>;

/// One server of the gateway.
pub(crate) struct Member {
    pub(crate) id: ServerId,
    pub(crate) plan: Arc<Plan>,
    pub(crate) upstream: Arc<Upstream>,
    /// The session that the supervisor keeps.
    main: Mutex<Option<Arc<Lane>>>,
    lanes: Mutex<Lanes>,
    processes: Arc<Semaphore>,
}

impl Member {
    pub(crate) fn new(id: ServerId, plan: Arc<Plan>, upstream: Arc<Upstream>) -> Self {
        // The supervisor's is one of them.
        let processes = plan.settings.max_processes.unwrap_or(MAX_PROCESSES).max(2) - 1;
        Self {
            id,
            plan,
            upstream,
            main: Mutex::default(),
            lanes: Mutex::default(),
            processes: Arc::new(Semaphore::new(processes)),
        }
    }

    /// The session for a request.
    pub(crate) async fn lane(&self, request: &FrontRequest) -> Result<LaneUse, RelayReply> {
        self.lane_with(&request.capabilities, request.caller())
            .await
    }

    /// The session for requests of a caller whose client can be asked this.
    pub(crate) async fn lane_with(
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
        // Clients that differ in what they can be asked share the process of their caller.
        let capabilities = if is_process && (is_modern || isolation == Isolation::Caller) {
            everything()
        } else {
            asked_of(client)
        };
        let is_apart = match isolation {
            Isolation::Shared => false,
            Isolation::Caller => caller.is_some(),
            Isolation::Client => caller.is_some() || !is_modern,
            Isolation::Call => true,
        };
        let is_common = !is_apart || (is_modern && !is_process);
        let can_share = is_modern || is_process || capabilities == ClientCapabilities::new();
        if is_common && can_share {
            return Ok(self.main(connection).enter());
        }
        if isolation == Isolation::Call {
            return Ok(self.open(capabilities).await?.enter());
        }
        let key = LaneKey {
            caller: match isolation {
                Isolation::Caller | Isolation::Client => caller.map(str::to_owned),
                _ => None,
            },
            capabilities: serde_json::to_string(&capabilities).unwrap_or_default(),
        };
        self.kept(key, capabilities).await
    }

    /// The session that the supervisor keeps, as long as it is the same.
    fn main(&self, connection: Connection) -> Arc<Lane> {
        let mut main = self.main.lock();
        match &*main {
            Some(lane) if !lane.connection.is_closed() => Arc::clone(lane),
            _ => {
                let hub = Arc::clone(&self.plan.hub);
                let lane = Arc::new(Lane::new(connection, hub, Vec::new()));
                *main = Some(Arc::clone(&lane));
                lane
            }
        }
    }

    /// A session that is kept for calls of the same kind.
    async fn kept(
        &self,
        key: LaneKey,
        capabilities: ClientCapabilities,
    ) -> Result<LaneUse, RelayReply> {
        let cell = {
            let mut lanes = self.lanes.lock();
            tidy(&mut lanes);
            if lanes.len() >= MAX_LANES && !lanes.contains_key(&key) {
                let reason = format!("more than {MAX_LANES} sessions are in use; try again later");
                return Err(unavailable(self.id.as_str(), &reason));
            }
            Arc::clone(lanes.entry(key).or_default())
        };
        let lane = cell.get_or_try_init(|| self.open(capabilities)).await?;
        Ok(lane.enter())
    }

    async fn open(&self, capabilities: ClientCapabilities) -> Result<Arc<Lane>, RelayReply> {
        let failed = |reason: &str| unavailable(self.id.as_str(), reason);
        let spec = &self.plan.spec;
        let places = if spec.is_process() {
            self.make_room();
            self.places().await.map_err(|reason| failed(&reason))?
        } else {
            Vec::new()
        };
        let target = spec.way().map_err(|failure| failed(&failure.reason))?;
        let on_visited = Arc::clone(&self.plan.common.on_visited);
        let hub = Arc::new(LaneHub::new(spec.is_pipe(), on_visited));
        let client = self.plan.client_with(capabilities, &hub);
        let connected = client.connect(target).named(self.id.as_str()).await;
        let connection = connected.map_err(|error| failed(&error.to_string()))?;
        Ok(Arc::new(Lane::new(connection, hub, places)))
    }

    /// Ends the process that was idle for longest, if every place is taken. One that is in use stays.
    fn make_room(&self) {
        if self.processes.available_permits() > 0 {
            return;
        }
        let mut lanes = self.lanes.lock();
        let idle = lanes.iter().filter_map(|(key, cell)| {
            let idle = cell.get()?.idle_for()?;
            Some((idle, key.clone()))
        });
        if let Some((_, key)) = idle.max_by_key(|(idle, _)| *idle) {
            lanes.remove(&key);
        }
    }

    async fn places(&self) -> Result<Vec<OwnedSemaphorePermit>, String> {
        let own = Arc::clone(&self.processes).acquire_owned();
        let all = Arc::clone(&self.plan.common.processes).acquire_owned();
        let both = async { (own.await, all.await) };
        match tokio::time::timeout(PLACE_WITHIN, both).await {
            Ok((Ok(own), Ok(all))) => Ok(vec![own, all]),
            _ => Err(format!(
                "all of its processes were busy for {PLACE_WITHIN:?}; try again later"
            )),
        }
    }

    /// Closes sessions that nothing uses.
    pub(crate) fn tidy(&self) {
        tidy(&mut self.lanes.lock());
    }
}

/// Leaves out sessions that are over or were idle for too long. One that is being opened stays.
fn tidy(lanes: &mut Lanes) {
    lanes.retain(|_, cell| match cell.get() {
        None => Arc::strong_count(cell) > 1,
        Some(lane) => {
            !lane.connection.is_closed() && lane.idle_for().is_none_or(|idle| idle < IDLE)
        }
    });
}

/// All that a client may be able to answer.
fn everything() -> ClientCapabilities {
    ClientCapabilities::new()
        .with_form_elicitation()
        .with_url_elicitation()
        .with_sampling_tools()
        .with_roots()
}

/// What of a client's capabilities a session is opened with: what it can be asked, and its extensions.
fn asked_of(client: &ClientCapabilities) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::new();
    capabilities.roots.clone_from(&client.roots);
    if let Some(roots) = &mut capabilities.roots {
        // Roots are asked for in calls alone, so nothing is said of changes.
        roots.list_changed = None;
    }
    capabilities.sampling.clone_from(&client.sampling);
    capabilities.elicitation.clone_from(&client.elicitation);
    capabilities.extensions.clone_from(&client.extensions);
    capabilities
}
