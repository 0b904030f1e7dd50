//! The command's arguments, and serving the gateway.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use clap::Args;
use http::Uri;
use tokio::sync::{Notify, oneshot};
use turnbuckle::{
    Http, HttpSettings, Protect, Revision, Stdio,
    gateway::{Gateway, LiveGateway, lock::Lock, observe::Recorder, operation::Operation},
    transport::http::Listener,
};
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    target::{self, Lookup, Options},
    trust::Consent,
};
use turnbuckle_host::config::Launch;
use turnbuckle_inspector::{Inspector, Origin, Site};

use super::{
    admin, check,
    ending::{self, CLOSE_WITHIN},
    file::{EraChoice, NamesName},
    front_guard::{self, LiveFront},
    keys::CallerKeys,
    known_lists,
    lines::Lines,
    lock_file::{self, LockChoice},
    operation::{self, Readers},
    own_urls::OwnUrls,
    page,
    pending_sign_ins::PendingSignIns,
    plan::{Plan, PlanWords},
    reload::{Hangup, Reload, ReloadParts},
};
use crate::{
    listen,
    replicas::{Replicas, Shared},
    runtime::{self, stop_signal},
};

/// The default address.
const ADDRESS: &str = "127.0.0.1:7250";

/// The description of the gateway in its server card.
const DESCRIPTION: &str = "All configured MCP servers at one endpoint.";

/// After how many polls of tasks a thread checks for I/O events, even if it has more to do. This is half of the
/// default, because servers that flood the gateway always leave more to do.
const EVENT_INTERVAL: u32 = 31;

/// Run a gateway: all your servers at one endpoint, for clients of every revision.
///
/// By default, it serves all servers in your config files (`turnbuckle servers` lists them),
/// or the demo server if there are none. A config file, a URL or a command after `--` is served alone.
/// Clients and servers may speak different revisions and transports. The gateway translates between
/// them, including questions in the middle of a call, progress and log messages.
///
/// The endpoint answers at once, also while servers are still starting; a line says when each of
/// them is ready. When a config file changes, servers that did not change keep their connections.
#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(crate) struct Up {
    /// A config file, the URL of a server, or the name of one in a config file.
    #[arg(value_name = "FILE|URL|NAME")]
    what: Option<String>,

    /// Serve on stdin and stdout instead, one message a line.
    #[arg(long, conflicts_with_all = ["listen", "no_page"])]
    stdio: bool,

    /// Listen for HTTP at this address (default 127.0.0.1:7250). Port 0 takes any free port.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Serve only this server (may be repeated).
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// How tools and prompts are named: `bare` as their servers do, `prefixed` as `server__tool`,
    /// `auto` bare with one server and prefixed with several.
    #[arg(long, value_name = "NAMES")]
    names: Option<NamesName>,

    /// The era that is spoken with servers; `auto` detects it.
    #[arg(long, value_name = "ERA")]
    era: Option<EraChoice>,

    /// Check the config and start nothing.
    #[arg(long)]
    check: bool,

    /// Trust the project's config files in their present content.
    #[arg(long)]
    trust: bool,

    /// Accept requests for this host name, besides loopback (may be repeated).
    #[arg(long, value_name = "HOST", value_parser = listen::host)]
    allow_host: Vec<String>,

    /// Accept requests from web pages of this origin, besides loopback (may be repeated).
    #[arg(long, value_name = "ORIGIN", value_parser = listen::origin)]
    allow_origin: Vec<String>,

    /// Do not serve the inspector page. It is served on loopback only, and not if the gateway has a
    /// public URL or accepts other host names.
    #[arg(long)]
    no_page: bool,

    /// Write a line of JSON about each request to this file, or to stderr with `-`.
    #[arg(long, value_name = "FILE")]
    access_log: Option<String>,

    /// Serve `/metrics`, `/readyz` and `/healthz` at this address.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "stdio")]
    admin: Option<String>,

    /// What to do with tools that differ from `turnbuckle.lock`: `enforce` withholds them until they are
    /// approved, `audit` reports them, `off` compares nothing.
    #[arg(long, value_name = "MODE")]
    lock: Option<LockChoice>,

    #[command(flatten)]
    replicas: Replicas,

    /// A command to start as the server.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "what")]
    command: Vec<String>,
}

pub(crate) fn run(up: &Up) -> Outcome {
    let consent = if up.trust {
        Consent::Given
    } else {
        Consent::Ask
    };
    let mut plan = Plan::make(&up.words(), consent)?;
    if plan.gateway.tells_callers_apart() {
        plan.isolate_callers();
    }
    let keys = CallerKeys::read(&plan.gateway.keys)?;
    front_guard::check(&plan)?;
    let policy = operation::policy(&plan.gateway.policy)?;
    let listen = up.listen.as_deref().or(plan.gateway.listen.as_deref());
    let admin = up.admin.as_deref().or(plan.gateway.admin.as_deref());
    if !up.stdio {
        check::two_addresses(listen.unwrap_or(ADDRESS), admin)?;
    }
    if up.check {
        let problems = check::servers(&plan);
        lock_file::open(&plan, up.lock)?;
        check::access_log(up.log(&plan))?;
        if !up.stdio {
            up.replicas.check()?;
            check::addresses(listen, admin)?;
            let local = check::local_address(listen.unwrap_or(ADDRESS));
            check::front(&plan, &up.front(&plan, local), keys.as_ref(), local)?;
        }
        return problems;
    }
    let runtime =
        runtime::build(tokio::runtime::Builder::new_multi_thread().event_interval(EVENT_INTERVAL))?;
    let log = up.log(&plan);
    // Messages are recorded for the page.
    let recorder = (!up.stdio && !up.no_page).then(Recorder::new);
    let operation = operation::operation(policy, log, recorder.as_ref())?;
    let watched = Watched {
        lock: lock_file::open(&plan, up.lock)?,
        recorder,
    };
    let outcome = runtime.block_on(up.serve(plan, keys, operation, watched));
    // The command is done; a name lookup may still block a thread.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

impl Up {
    async fn serve(
        &self,
        mut plan: Plan,
        keys: Option<CallerKeys>,
        operation: Arc<Operation>,
        watched: Watched,
    ) -> Outcome {
        // Signals are handled from the start, so that the gateway can also be stopped while it starts.
        let stop = stop_signal();
        let hangup = Hangup::new();
        if self.stdio {
            plan.tell_problems();
            let gateway = open(&plan, &operation, watched, None, &PendingSignIns::default())?;
            let asked = Arc::<Notify>::default();
            let front = LiveFront::stdio(&plan);
            let parts =
                ReloadParts::new(operation, &PendingSignIns::default(), front, asked, hangup);
            let reload = Reload::new(self, gateway.clone(), parts, &plan, OwnUrls::default());
            let served = tokio::select! {
                ended = gateway.server().serve(Stdio) => ended.map_err(failed),
                () = stop => Ok(()),
                () = reload.run() => Ok(()),
            };
            close(&gateway).await;
            return served;
        }
        let address = self.listen.as_deref().or(plan.gateway.listen.as_deref());
        let listener = listen::bind(address.unwrap_or(ADDRESS)).await?;
        let local = listener.local_address();
        let own = OwnUrls::new(local, plan.gateway.public_url.as_deref());
        plan.without(&own);
        plan.tell_problems();
        let live = self.front(&plan, local);
        live.check(&plan)?;
        // The page is only for this machine, and other machines may reach a public URL.
        let is_public = live.is_public();
        let has_page = !is_public && plan.gateway.public_url.is_none();
        let recorder = watched.recorder.filter(|_| has_page);
        let watched = Watched {
            recorder: recorder.clone(),
            ..watched
        };
        let pending = PendingSignIns::default();
        if let Some(base) = &front_guard::base(&plan, local) {
            pending.come_to(base);
        }
        let resource = front_guard::resource(&plan, local);
        let shared = self.replicas.open().await?;
        let guard = front_guard::open(&plan, keys.as_ref(), &resource, shared.as_ref())?;
        let gateway = open(&plan, &operation, watched, shared, &pending)?;
        let asked = Arc::<Notify>::default();
        let asked_by_page = Arc::clone(&asked);
        let parts = ReloadParts::new(operation.clone(), &pending, live, asked_by_page, hangup);
        let reload = Reload::new(self, gateway.clone(), parts, &plan, own);
        let front = FrontParts {
            listener,
            keys,
            operation,
            guard,
            pending,
            is_public,
            page: recorder.map(|recorder| (recorder, asked)),
        };
        let admin = self.admin.as_deref().or(plan.gateway.admin.as_deref());
        let admin = match admin {
            Some(address) => {
                let operation = Arc::clone(&front.operation);
                let texts = operation::texts(gateway.clone(), operation, Readers::Operators);
                Some(admin::open(address, texts).await?)
            }
            None => None,
        };
        let admin = async move {
            match admin {
                Some(admin) => admin.await,
                None => std::future::pending().await,
            }
        };
        let (stopped, is_stopped) = oneshot::channel();
        let is_stopped = async {
            // The sender is gone if the gateway ends by itself.
            let _ = is_stopped.await;
        };
        let served = tokio::select! {
            served = self.serve_http(&gateway, &plan, front, is_stopped) => served,
            () = ending::end(&gateway, stop, stopped) => Ok(()),
            () = admin => Ok(()),
            () = reload.run() => Ok(()),
        };
        close(&gateway).await;
        served
    }

    async fn serve_http(
        &self,
        gateway: &LiveGateway,
        plan: &Plan,
        front: FrontParts,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome {
        let FrontParts {
            listener,
            keys,
            operation,
            guard,
            pending,
            is_public,
            page: shown,
        } = front;
        let settings = self.settings(plan);
        let address = listener.local_address();
        let Some(((recorder, asked), page)) = shown.zip(address) else {
            announce(address, plan, None);
            if guard.is_none() && is_public {
                tell(
                    "warning: everyone who can reach this address can use these servers; set keys for callers with `[[gateway.keys]]`",
                );
            }
            let readers = if is_public {
                Readers::Everybody
            } else {
                Readers::Operators
            };
            let settings = settings.extra_routes(pending.or(operation::texts(
                gateway.clone(),
                operation,
                readers,
            )));
            let http = Http::listener(listener).settings(settings).until(stop);
            let http = match guard {
                Some(guard) => http.protect(guard),
                None => http,
            };
            return gateway.server().serve(http).await.map_err(failed);
        };
        let inspector = Inspector::new(Options::default());
        let mut own = target::find(&format!("http://{page}/mcp"), Lookup::default())?;
        "gateway".clone_into(&mut own.name);
        if let (Some(keys), Launch::Remote(remote)) = (&keys, &mut own.launch) {
            let value = format!("Bearer {}", keys.own());
            remote.headers.push(("Authorization".to_owned(), value));
        }
        let id = inspector.add(own, Origin::given("command line"))?;
        inspector.connect_when_looked_at(id);
        inspector.show_gateway(page::gateway(gateway.clone(), recorder, page, asked));
        // Before the first client connects, because its answers may come through another replica.
        gateway.server().ready().await;
        let service = gateway.server().http_with(settings);
        let service = match guard {
            Some(guard) => service.protect(guard),
            None => service,
        };
        let site = Site::beside(inspector, listener, service).await;
        let texts = operation::texts(gateway.clone(), operation, Readers::Operators);
        let site = site.map_err(failed)?.with_paths(pending.or(texts));
        announce(address, plan, Some(&site.url()));
        site.serve(stop).await;
        Ok(())
    }

    /// The settings of the command line that concern the servers.
    pub(super) fn words(&self) -> PlanWords<'_> {
        PlanWords {
            what: self.what.as_deref(),
            command: &self.command,
            only: &self.only,
            names: self.names,
            era: self.era,
        }
    }

    /// The `--lock` of the command line: what to do with tools that differ from the lock file.
    pub(super) fn lock(&self) -> Option<LockChoice> {
        self.lock
    }

    /// The file of the access log, or `-` for stderr.
    fn log<'a>(&'a self, plan: &'a Plan) -> Option<&'a str> {
        let log = self.access_log.as_deref();
        log.or(plan.gateway.access_log.as_deref())
    }

    /// The front of a gateway that listens at this address.
    fn front(&self, plan: &Plan, local: Option<SocketAddr>) -> LiveFront {
        let front = LiveFront::listening(plan, local, self.hosts(plan));
        if self.replicas.are_wanted() {
            front.with_replicas()
        } else {
            front
        }
    }

    /// The host names that requests may have, besides loopback.
    fn hosts<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = &'a String> {
        self.allow_host.iter().chain(&plan.gateway.allow_hosts)
    }

    fn settings(&self, plan: &Plan) -> HttpSettings {
        let settings = self.hosts(plan);
        let settings = settings.fold(HttpSettings::default(), HttpSettings::allow_host);
        let origins = self.allow_origin.iter().chain(&plan.gateway.allow_origins);
        let settings = origins.fold(settings, HttpSettings::allow_origin);
        // Browsers come back to the public URL, and post a form from a page at this URL.
        let public = plan.gateway.public_url.as_deref();
        let public = public.and_then(|url| url.parse::<Uri>().ok());
        match public
            .as_ref()
            .map(|url| (url.scheme_str(), url.authority()))
        {
            Some((Some(scheme), Some(authority))) => settings
                .allow_host(authority.host())
                .allow_origin(format!("{scheme}://{authority}")),
            _ => settings,
        }
    }
}

/// The parts of the front, which clients connect to.
struct FrontParts {
    listener: Listener,
    keys: Option<CallerKeys>,
    operation: Arc<Operation>,
    guard: Option<Arc<dyn Protect>>,
    pending: PendingSignIns,
    /// Whether clients on other machines can reach the gateway.
    is_public: bool,
    /// The recorder for the page, and the notification with which the page requests a reload.
    page: Option<(Arc<Recorder>, Arc<Notify>)>,
}

/// The observers of messages: a recorder for the page, and a lock file.
struct Watched {
    recorder: Option<Arc<Recorder>>,
    lock: Option<Lock>,
}

fn open(
    plan: &Plan,
    operation: &Arc<Operation>,
    watched: Watched,
    shared: Option<Shared>,
    pending: &PendingSignIns,
) -> Outcome<LiveGateway> {
    let lines = Lines::new();
    let counted = Arc::clone(operation);
    let mut gateway = Gateway::new("turnbuckle", env!("CARGO_PKG_VERSION"));
    if let Some(folder) = known_lists::folder() {
        gateway = gateway.lists(folder);
    }
    let mut gateway = gateway
        .inherit(plan.withheld.inherited())
        .naming(plan.naming)
        .operation(Arc::clone(operation))
        .on_state(move |server, state| {
            operation::count_state(&counted, server.as_str(), state);
            lines.tell(server, state);
        });
    if let Some(count) = plan.gateway.processes {
        gateway = gateway.max_processes(count);
    }
    if let Some(seconds) = plan.gateway.park_seconds {
        gateway = gateway.park_for(Duration::from_secs(seconds));
    }
    if let Some(lock) = watched.lock {
        gateway = gateway.lock(lock.on_difference(lock_file::tell_difference));
    }
    if let Some(recorder) = watched.recorder {
        gateway = gateway.observe(recorder);
    }
    if let Some(shared) = &shared {
        gateway = gateway.secret(&shared.secret);
    }
    gateway = gateway.configure_server(|server| {
        let server = server.about(DESCRIPTION);
        match shared {
            Some(shared) => shared.of(server),
            None => server,
        }
    });
    for server in &plan.servers {
        let (id, settings) = (server.id.as_str(), server.settings.clone());
        gateway = match &server.personal {
            None => gateway.server_with(id, server.spec.clone(), settings),
            Some(personal) => gateway.server_per_caller(id, personal.access(id, pending), settings),
        };
    }
    gateway.open().map_err(failed)
}

/// Ends the servers. Servers that take too long end with the process. The other replicas are told that this
/// one has left.
async fn close(gateway: &LiveGateway) {
    gateway.server().shutdown().await;
    let _ = tokio::time::timeout(CLOSE_WITHIN, gateway.close()).await;
}

pub(super) fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failed {
    Failed::new(Code::Connect, error)
}

fn announce(address: Option<SocketAddr>, plan: &Plan, page: Option<&str>) {
    let Some(address) = address else { return };
    let count = plan.servers.len();
    let servers = if count == 1 { "server" } else { "servers" };
    tell(&format!(
        "turnbuckle gateway for {count} {servers}, every revision at one address:"
    ));
    tell(&format!(
        "  http://{address}/mcp  Streamable HTTP, 2025-03-26 to {}",
        Revision::LATEST
    ));
    tell(&format!("  http://{address}/sse  HTTP+SSE, 2024-11-05"));
    if let Some(page) = page {
        tell(&format!("inspector (this machine only): {page}"));
    }
    tell("Press Ctrl-C to stop.");
}
