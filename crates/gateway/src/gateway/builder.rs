//! `Gateway`, which configures and opens a gateway.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock, Weak, atomic::AtomicU64},
    time::Duration,
};

use tokio::{sync::Semaphore, time};
use turnbuckle_base::lock::RwLock;
use turnbuckle_client::Target;
use turnbuckle_host::{
    InheritedVariables, Pacing, ServerId, ServerSpec, ServerState, shared::Fleet,
};
use turnbuckle_protocol::Implementation;
use turnbuckle_server::{Relay, Server, SetupError, WeakSecret};
use turnbuckle_session::round::KeyRing;

use super::{LiveGateway, live::Live};
use crate::{
    core::{Core, CoreHooks, OnState},
    exchange::{Context, ParkTable, TaskTable},
    gateways::GatewayId,
    lock::Lock,
    observe::Recorder,
    operation::{Asking, Operation},
    personal::{self, CallerAccess, Callers, CallersDirectory, PersonalRelay, PersonalServer},
    seal::Sealer,
    settings::{Naming, PARK_FOR, UpstreamSettings},
    upstream::{Common, Processes},
};

/// How many processes of all servers may run at the same time, in addition to those that read the lists.
const MAX_PROCESSES: usize = 32;

/// How often sessions that are no longer needed are looked for.
const TIDY: Duration = Duration::from_mins(1);

type Wrap = Box<dyn FnOnce(Arc<dyn Relay>) -> Arc<dyn Relay> + Send>;

type Customise = Box<dyn FnOnce(Server) -> Server + Send>;

/// Configures a gateway: a server whose tools, prompts and resources are those of other servers.
///
/// Add servers, then [`open`](Self::open) it. Clients and servers may speak different revisions and
/// transports; the gateway translates between them.
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
    max_processes: usize,
    pacing: Pacing,
    inherited: InheritedVariables,
    lists: Option<PathBuf>,
    keys: Option<Result<KeyRing, WeakSecret>>,
    id: GatewayId,
    on_state: Option<OnState>,
    customise: Option<Customise>,
    wrap: Option<Wrap>,
    lock: Option<Lock>,
    operation: Option<Arc<Operation>>,
    recorder: Option<Arc<Recorder>>,
    personal: Vec<PersonalServer>,
}

impl Gateway {
    /// Begins to configure a gateway without servers. Clients see this name and version as those of
    /// the server.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            servers: Vec::new(),
            naming: Naming::default(),
            park_for: PARK_FOR,
            max_processes: MAX_PROCESSES,
            pacing: Pacing::default(),
            inherited: InheritedVariables::default(),
            lists: None,
            keys: None,
            id: GatewayId::new(None),
            on_state: None,
            customise: None,
            wrap: None,
            lock: None,
            operation: None,
            recorder: None,
            personal: Vec::new(),
        }
    }

    /// Adds a server with the default settings: a program, a URL or a function, as for a host. The
    /// name is the prefix of its tools, and identifies it in errors, policies and metrics. Use
    /// [`server_with`](Self::server_with) to set the revision, the isolation or single tools.
    pub fn server(self, name: impl Into<ServerId>, spec: impl Into<ServerSpec>) -> Self {
        self.server_with(name, spec, UpstreamSettings::new())
    }

    /// Adds a server with its own settings: the revision to use, who shares a session, and how
    /// single tools are offered.
    pub fn server_with(
        mut self,
        name: impl Into<ServerId>,
        spec: impl Into<ServerSpec>,
        settings: UpstreamSettings,
    ) -> Self {
        self.servers.push((name.into(), spec.into(), settings));
        self
    }

    /// Adds a server that each caller reaches with its own credentials, such as an OAuth token that
    /// the caller got by signing in. `access` finds the credentials of a caller. Each caller has
    /// its own session with the server. The tools are named `server__tool`, unless
    /// [`naming`](Self::naming) sets something else.
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

    /// Adds a server of this process, without a program or a port. If the gateway has several
    /// servers, the server's tool `a` is named `name__a`.
    ///
    /// # Errors
    /// [`SetupError`] if the server cannot be built, for example because two tools have the same
    /// name.
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

    /// Sets how tools and prompts are named. Defaults to [`Naming::Auto`]: with one server they
    /// keep their own names, with several they are named `server__name`.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Sets how long a client of 2026-07-28 may take to answer a question that a legacy server asks
    /// during a call. Defaults to ten minutes. After that the question and the call are cancelled.
    pub fn park_for(mut self, time: Duration) -> Self {
        self.park_for = time;
        self
    }

    /// Sets how many processes for single callers and calls ([`Isolation`](crate::Isolation)) may
    /// run at the same time, for all servers together. Defaults to 32. A call that needs another
    /// process waits until one is free.
    pub fn max_processes(mut self, count: usize) -> Self {
        self.max_processes = count.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Sets how soon servers are restarted after a failure. The defaults are in [`Pacing`].
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = pacing;
        self
    }

    /// Sets which environment variables of this process the processes of servers inherit. Defaults
    /// to all variables except the keys of models and secrets of this project's programs. Leave out
    /// the keys of callers and other secrets of the gateway.
    pub fn inherit(mut self, variables: InheritedVariables) -> Self {
        self.inherited = variables;
        self
    }

    /// Stores the lists of servers in this folder, so that after a restart of the gateway clients
    /// see the tools of servers that are still starting.
    pub fn lists(mut self, folder: impl Into<PathBuf>) -> Self {
        self.lists = Some(folder.into());
        self
    }

    /// Sets the secret, of at least 16 random bytes, for sealing data that clients carry between
    /// requests: the state of a question and the ids of tasks. By default the keys are random and
    /// are lost when the process ends. Give the same secret to all replicas.
    pub fn secret(mut self, secret: &[u8]) -> Self {
        self.keys = Some(KeyRing::from_secret(secret));
        self.id = GatewayId::new(Some(secret));
        self
    }

    /// Calls a function when a server becomes ready, fails or is removed. It must not block.
    pub fn on_state(
        mut self,
        hear: impl Fn(&ServerId, &ServerState) + Send + Sync + 'static,
    ) -> Self {
        self.on_state = Some(Arc::new(hear));
        self
    }

    /// Changes the server that clients connect to, before it is built: its limits, rates and
    /// instructions.
    pub fn configure_server(
        mut self,
        customise: impl FnOnce(Server) -> Server + Send + 'static,
    ) -> Self {
        self.customise = Some(Box::new(customise));
        self
    }

    /// Puts your own [`Relay`] around the gateway. It sees every request first, and can answer or
    /// change it. For policies, rate limits and counters use [`operation`](Self::operation).
    pub fn wrap(
        mut self,
        wrap: impl FnOnce(Arc<dyn Relay>) -> Arc<dyn Relay> + Send + 'static,
    ) -> Self {
        self.wrap = Some(Box::new(wrap));
        self
    }

    /// Sets the [`Operation`]: a policy that allows or denies requests, rate limits, counters and
    /// an access log. By default everything is allowed and nothing is counted.
    pub fn operation(mut self, operation: Arc<Operation>) -> Self {
        self.operation = Some(operation);
        self
    }

    /// Compares what servers offer with a lock file, and reports or withholds tools that have
    /// changed since they were approved. See [`Lock`].
    pub fn lock(mut self, lock: Lock) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Records the requests and messages that pass through the gateway, for
    /// [`LiveGateway::overview`] and for a page that shows them. By default nothing is recorded.
    pub fn observe(mut self, recorder: Arc<Recorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Starts the servers and returns the gateway, which can be served immediately: servers that
    /// are still starting are added to the lists when they are ready. It must be called within a
    /// Tokio runtime.
    ///
    /// # Errors
    /// [`SetupError`] if the server that clients connect to cannot be built, or the secret is too
    /// short.
    pub fn open(self) -> Result<LiveGateway, SetupError> {
        let keys = self.keys.transpose()?;
        let changes = Arc::new(OnceLock::new());
        let hearing = Arc::<OnceLock<Weak<Core>>>::default();
        let heard = Arc::clone(&hearing);
        let common = Common {
            info: self.info.clone(),
            gateway: self.id,
            processes: Processes::new(self.max_processes),
            on_news: Arc::new(move |server, news| {
                if let Some(core) = heard.get().and_then(Weak::upgrade) {
                    core.tell(server, news);
                }
            }),
            next_lane: Arc::new(AtomicU64::new(1)),
            is_of_caller: false,
            hides_entries: Arc::default(),
            inherited: Arc::new(RwLock::new(self.inherited)),
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
        let relay = match &self.operation {
            Some(operation) => {
                let directory = CallersDirectory(Arc::downgrade(&callers));
                operation.bind(Arc::new(directory), keys);
                Arc::clone(operation).around(relay)
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
            if let Some(operation) = &self.operation {
                operation.share(link.clone());
            }
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
