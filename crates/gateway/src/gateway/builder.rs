//! The gateway as it is written.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock, Weak, atomic::AtomicU64},
    time::Duration,
};

use tokio::{sync::Semaphore, time};
use turnbuckle_client::Target;
use turnbuckle_host::{Pacing, ServerId, ServerSpec, ServerState, shared::Fleet};
use turnbuckle_protocol::Implementation;
use turnbuckle_server::{Relay, Server, SetupError, WeakSecret};
use turnbuckle_session::round::KeyRing;

use super::{LiveGateway, live::Live};
use crate::{
    core::{Core, CoreHooks, OnState},
    exchange::{Context, ParkTable, TaskTable},
    lock::Lock,
    observe::Recorder,
    operation::{Asking, Operation},
    personal::{self, CallerAccess, Callers, CallersDirectory, PersonalRelay, PersonalServer},
    seal::Sealer,
    settings::{Naming, PARK_FOR, UpstreamSettings},
    upstream::Common,
};

/// How many processes of servers may run at a time.
const MAX_PROCESSES: usize = 32;

/// How often sessions are looked at that nothing may use any more.
const TIDY: Duration = Duration::from_mins(1);

type Wrap = Box<dyn FnOnce(Arc<dyn Relay>) -> Arc<dyn Relay> + Send>;

type Customise = Box<dyn FnOnce(Server) -> Server + Send>;

/// A gateway being written: give it servers, then open it.
///
/// ```no_run
/// use turnbuckle_gateway::Gateway;
/// use turnbuckle_host::ServerSpec;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let gateway = Gateway::new("tools", "1.0.0")
///     .server("git", ServerSpec::command("uvx", ["mcp-server-git"]))
///     .open()?;
/// let server = gateway.server();
/// # Ok(())
/// # }
/// ```
#[must_use = "a gateway does nothing until it is opened"]
pub struct Gateway {
    pub(super) info: Implementation,
    servers: Vec<(ServerId, ServerSpec, UpstreamSettings)>,
    naming: Naming,
    park_for: Duration,
    pacing: Pacing,
    lists: Option<PathBuf>,
    keys: Option<Result<KeyRing, WeakSecret>>,
    on_state: Option<OnState>,
    customise: Option<Customise>,
    wrap: Option<Wrap>,
    lock: Option<Lock>,
    operation: Option<Arc<Operation>>,
    recorder: Option<Arc<Recorder>>,
    personal: Vec<PersonalServer>,
}

impl Gateway {
    /// A gateway with this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            servers: Vec::new(),
            naming: Naming::default(),
            park_for: PARK_FOR,
            pacing: Pacing::default(),
            lists: None,
            keys: None,
            on_state: None,
            customise: None,
            wrap: None,
            lock: None,
            operation: None,
            recorder: None,
            personal: Vec::new(),
        }
    }

    /// Adds a server.
    pub fn server(self, name: impl Into<ServerId>, spec: impl Into<ServerSpec>) -> Self {
        self.server_with(name, spec, UpstreamSettings::new())
    }

    /// Adds a server with settings of its own.
    pub fn server_with(
        mut self,
        name: impl Into<ServerId>,
        spec: impl Into<ServerSpec>,
        settings: UpstreamSettings,
    ) -> Self {
        self.servers.push((name.into(), spec.into(), settings));
        self
    }

    /// Adds a server that each caller reaches with credentials of its own. Tools are then named
    /// `server__tool`, unless the naming says otherwise.
    pub fn server_per_caller(
        mut self,
        name: impl Into<ServerId>,
        access: Arc<dyn CallerAccess>,
        settings: UpstreamSettings,
    ) -> Self {
        let server = PersonalServer::new(name.into(), access, settings);
        self.personal.push(server);
        self
    }

    /// Adds a server of this process, under a name: its tool `a` is `name__a`, unless there is no other
    /// server.
    ///
    /// # Errors
    /// If the server cannot be set up.
    pub fn mount(self, name: impl Into<ServerId>, server: Server) -> Result<Self, SetupError> {
        self.mount_with(name, server, UpstreamSettings::new())
    }

    pub(super) fn mount_with(
        self,
        name: impl Into<ServerId>,
        server: Server,
        settings: UpstreamSettings,
    ) -> Result<Self, SetupError> {
        let name = name.into();
        let live = server.build()?;
        let label = name.to_string();
        let spec = ServerSpec::from_fn(move || {
            let live = live.clone();
            Target::on_demand(label.clone(), move || live.connect())
        });
        Ok(self.server_with(name, spec, settings))
    }

    /// Chooses the names of tools and prompts.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// How long a client may take to answer what a server asks in the middle of a call; ten minutes
    /// unless set.
    pub fn park_for(mut self, time: Duration) -> Self {
        self.park_for = time;
        self
    }

    /// How failing servers are started again.
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = pacing;
        self
    }

    /// Keeps the lists of servers in this folder, so that they are there before the servers are.
    pub fn lists(mut self, folder: impl Into<PathBuf>) -> Self {
        self.lists = Some(folder.into());
        self
    }

    /// Seals what clients carry with keys made of this secret, of at least 16 random bytes. Unless set,
    /// keys are random and end with the process.
    pub fn secret(mut self, secret: &[u8]) -> Self {
        self.keys = Some(KeyRing::from_secret(secret));
        self
    }

    /// Calls back when a server becomes ready, fails or is removed.
    pub fn on_state(
        mut self,
        hear: impl Fn(&ServerId, &ServerState) + Send + Sync + 'static,
    ) -> Self {
        self.on_state = Some(Arc::new(hear));
        self
    }

    /// Changes the server in front: limits, rates, instructions.
    pub fn front(mut self, customise: impl FnOnce(Server) -> Server + Send + 'static) -> Self {
        self.customise = Some(Box::new(customise));
        self
    }

    /// Puts something around the gateway that sees every request first: a policy, limits, measurements.
    pub fn wrap(
        mut self,
        wrap: impl FnOnce(Arc<dyn Relay>) -> Arc<dyn Relay> + Send + 'static,
    ) -> Self {
        self.wrap = Some(Box::new(wrap));
        self
    }

    /// Decides about requests, counts them and writes them down.
    pub fn operation(mut self, operation: Arc<Operation>) -> Self {
        self.operation = Some(operation);
        self
    }

    /// Compares what servers offer with a lock file.
    pub fn lock(mut self, lock: Lock) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Records what passes through the gateway, for people who look on. Unless set, nothing is.
    pub fn observe(mut self, recorder: Arc<Recorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Opens the gateway: its servers are started, and it can be served. Must be called inside a
    /// runtime.
    ///
    /// # Errors
    /// If the server in front cannot be set up, or the secret is too short.
    pub fn open(self) -> Result<LiveGateway, SetupError> {
        let keys = self.keys.transpose()?;
        let changes = Arc::new(OnceLock::new());
        let hearing = Arc::<OnceLock<Weak<Core>>>::default();
        let heard = Arc::clone(&hearing);
        let common = Common {
            info: self.info.clone(),
            processes: Arc::new(Semaphore::new(MAX_PROCESSES)),
            on_news: Arc::new(move |server, news| {
                if let Some(core) = heard.get().and_then(Weak::upgrade) {
                    core.tell(server, news);
                }
            }),
            next_lane: Arc::new(AtomicU64::new(1)),
            is_of_caller: false,
        };
        let context = Context {
            sealer: Sealer::new(keys.clone()),
            parked: Arc::new(ParkTable::default()),
            park_for: self.park_for,
            tasks: TaskTable::default(),
            changes,
            #[cfg(feature = "http")]
            replicas: OnceLock::new(),
        };
        let core = Arc::new(Core::new(
            context,
            common,
            self.naming,
            self.on_state,
            self.recorder,
        ));
        if let Some(lock) = self.lock {
            core.set_lock(lock);
        }
        let _ = hearing.set(Arc::downgrade(&core));
        let server = Server::new(self.info.name.clone(), self.info.version.clone());
        let callers = Callers::new(Arc::clone(&core), self.personal, self.pacing);
        let callers = Arc::new(callers);
        let asking = Asking::new(personal::KEY, keys.clone());
        let relay: Arc<dyn Relay> = Arc::new(PersonalRelay::new(&callers, asking));
        let relay = match self.operation {
            Some(operation) => {
                let directory = CallersDirectory(Arc::downgrade(&callers));
                operation.bind(Arc::new(directory), keys);
                operation.around(relay)
            }
            None => relay,
        };
        let relay = match self.wrap {
            Some(wrap) => wrap(relay),
            None => relay,
        };
        let server = server.relay(relay);
        let server = match self.customise {
            Some(customise) => customise(server),
            None => server,
        };
        let server = server.build()?;
        #[cfg(feature = "http")]
        if let Some(link) = server.replica_link() {
            core.context.parked.set_node(link.node());
            let _ = core.context.replicas.set(link);
        }
        let hooks = Arc::new(CoreHooks(Arc::downgrade(&core)));
        core.start(Fleet::new(hooks, self.pacing, self.lists), server.changes());
        for (id, spec, settings) in self.servers {
            core.add(&id, spec, settings);
        }
        let tidied = Arc::downgrade(&callers);
        let tidying = tokio::spawn(async move {
            loop {
                time::sleep(TIDY).await;
                let Some(callers) = tidied.upgrade() else {
                    return;
                };
                callers.tidy();
            }
        });
        Ok(LiveGateway(Arc::new(Live {
            server,
            core,
            callers,
            tidying,
        })))
    }
}
