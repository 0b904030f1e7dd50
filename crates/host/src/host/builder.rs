//! `HostBuilder`: configures the servers, the policy and the user interface of a host.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
};

use tokio::sync::{broadcast, watch};
#[cfg(feature = "http")]
use turnbuckle_client::HttpTarget;
use turnbuckle_client::WireMessage;
use turnbuckle_protocol::{Implementation, LoggingMessageNotificationParams, Root};

use super::{
    Host,
    plan::{self, Approvals, Plan},
    shared::{Hooks, LogListener, Shared, WireListener},
};
#[cfg(feature = "http")]
use crate::fleet::ReachHook;
use crate::{
    config::{ConfigError, Entry, Environment, Variables},
    consent::{Audit, Consent, GrantFileError, Grants, Policy, Rules, UserInterface},
    context::Contexts,
    fleet::{Fleet, InheritedVariables, MAX_WAITING_STATES, Pacing, ServerSpec},
    id::ServerId,
    sampling::SamplingModel,
};

/// Configures a [`Host`]: its servers, its policy and its user interface. [`Host::builder`] and
/// [`Host::load`] make one, and [`open`](Self::open) runs the host.
///
/// Without a policy, the user is asked before a server is started, a tool is called, a sampling
/// request is sent to a model or a root is shared; resources and prompts that the application
/// requests are read without asking. Without a user interface, everything that needs the user's
/// consent is denied, so a host without a user needs a [`policy`](Self::policy) or
/// [`grants`](Self::grants).
///
/// ```no_run
/// use turnbuckle_host::{ActionKind, Host, Rules, ServerSpec};
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Host::builder("my-app", "1.0.0")
///     .load("mcp.json")?
///     .server("time", ServerSpec::command("uvx", ["mcp-server-time"]))
///     .policy(Rules::new().allow(ActionKind::Start, "*", "*").allow(ActionKind::Call, "time", "*"))
///     .grants("grants.toml")?
///     .open()
///     .await;
/// host.ready().await;
/// for tool in host.catalog().tools() {
///     println!("{} of {}", tool.name(), tool.server());
/// }
/// # Ok(()) }
/// ```
#[must_use = "nothing runs before it is opened"]
pub struct HostBuilder {
    implementation: Implementation,
    files: Vec<PathBuf>,
    servers: Vec<(ServerId, ServerSpec)>,
    entries: Vec<Entry>,
    variables: Arc<dyn Variables + Send + Sync>,
    approvals: Approvals,
    policy: Box<dyn Policy>,
    grants: Grants,
    user: Option<Arc<dyn UserInterface>>,
    audit: Audit,
    model: Option<Arc<dyn SamplingModel>>,
    roots: Vec<Root>,
    inherited: InheritedVariables,
    pacing: Pacing,
    on_log: Option<LogListener>,
    on_wire: Option<WireListener>,
    watch: Watch,
    lists: Option<PathBuf>,
    #[cfg(feature = "http")]
    reach: Option<ReachHook>,
}

/// Whether config files are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    Off,
    On,
}

impl HostBuilder {
    pub(super) fn new(implementation: Implementation) -> Self {
        Self {
            implementation,
            files: Vec::new(),
            servers: Vec::new(),
            entries: Vec::new(),
            variables: Arc::new(Environment),
            approvals: Approvals::Reported,
            policy: Box::new(Rules::new()),
            grants: Grants::default(),
            user: None,
            audit: Audit::nowhere(),
            model: None,
            roots: Vec::new(),
            inherited: InheritedVariables::default(),
            pacing: Pacing::default(),
            on_log: None,
            on_wire: None,
            watch: Watch::Off,
            lists: None,
            #[cfg(feature = "http")]
            reach: None,
        }
    }

    /// Adds the servers of a config file, in the format of any of the supported hosts. It may be
    /// called several times. If two servers have the same name, the first one is used and the other
    /// is [reported](Host::notes). Servers that are added in code come before those of files.
    ///
    /// The file is read again by [`Host::reload`], and when it changes after
    /// [`watch_files`](Self::watch_files). Use [`config::ConfigFiles`](crate::config::ConfigFiles)
    /// to find the config files that a user has, and [`entry`](Self::entry) to use a single server
    /// of a file.
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be read, is larger than 16 MiB, is malformed, or has no
    /// section with servers. A problem of a single entry is [reported](Host::notes), and the others
    /// are used.
    pub fn load(mut self, path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        crate::config::File::open(path)?;
        self.files.push(path.to_owned());
        Ok(self)
    }

    /// Adds a server from code. The id is its name in the catalog, in rules and in the audit log.
    ///
    /// If the host has several servers, the id is also the prefix of their tools, as in `git__log`,
    /// so a short id of letters, digits, `_` and `-` reads best. Add servers to a running host with
    /// [`Host::add`].
    pub fn server(mut self, id: impl Into<ServerId>, spec: ServerSpec) -> Self {
        self.servers.push((id.into(), spec));
        self
    }

    /// Adds one server of a config file, with all its settings. Its id is the entry's name. It is
    /// used even if the file disables it.
    ///
    /// Use [`load`](Self::load) for all servers of a file. The file is not read again for this
    /// server.
    pub fn entry(mut self, entry: Entry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Sets the source of values for variables in config files (`${VAR}`, `${input:id}`). Defaults
    /// to [`Environment`], which takes variables from the environment of the process, and gives
    /// inputs the default that the file declares.
    ///
    /// Implement [`Variables`] to ask the user for inputs such as keys. An entry that uses a
    /// variable without a value is left out and [reported](Host::notes).
    pub fn variables(mut self, variables: impl Variables + Send + Sync + 'static) -> Self {
        self.variables = Arc::new(variables);
        self
    }

    /// Lets config files approve tools: tools that they name in `alwaysAllow` or `autoApprove` are
    /// called without asking.
    ///
    /// By default these keys have no effect and are reported. A project contains its own config
    /// file, and the author of the project is not the user whose consent is needed.
    pub fn trust_approvals_of_files(mut self) -> Self {
        self.approvals = Approvals::Trusted;
        self
    }

    /// Reads config files again when they change; they are checked once a second. Servers whose
    /// entries are unchanged keep their connections, as with [`Host::reload`]. If a changed file
    /// cannot be read, the servers stay as they are and the error is logged.
    ///
    /// By default files are read again only by [`Host::reload`]. Files of single
    /// [entries](Self::entry) are not watched.
    pub fn watch_files(mut self) -> Self {
        self.watch = Watch::On;
        self
    }

    /// Keeps the lists of servers in this folder from one run to the next. A server with
    /// [`Start::OnDemand`](crate::Start::OnDemand) is then in the catalog before it runs, and is
    /// started by the first call to one of its tools.
    ///
    /// Without kept lists such a server has no tools in the catalog until something starts it. The
    /// files are a cache and may be deleted at any time. If a file cannot be written, the error is
    /// logged.
    pub fn keep_lists(mut self, folder: impl Into<PathBuf>) -> Self {
        self.lists = Some(folder.into());
        self
    }

    /// Sets the policy that decides about all actions: [`Rules`], a function, or your own
    /// [`Policy`]. A second call replaces the first.
    ///
    /// Defaults to empty [`Rules`], which ask the user about everything except what the application
    /// itself reads. Questions of servers are shown.
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.policy = Box::new(policy);
        self
    }

    /// Stores what the user allows with [`Scope::Always`](crate::Scope::Always) in this file, and
    /// loads the grants that it contains. The file is TOML, and users may edit it; changes are
    /// noticed within about a second. Several programs may share it.
    ///
    /// Without a file such grants last as long as the host.
    ///
    /// # Errors
    /// [`GrantFileError`] if the file exists but cannot be used. A missing file is created with the
    /// first grant.
    pub fn grants(mut self, path: impl Into<PathBuf>) -> Result<Self, GrantFileError> {
        self.grants = Grants::open(path.into())?;
        Ok(self)
    }

    /// Asks the user through this interface. Without one, everything that needs the user's consent
    /// is denied, and servers are told that the host cannot show forms or URLs (elicitation).
    pub fn user(mut self, user: impl UserInterface) -> Self {
        self.user = Some(Arc::new(user));
        self
    }

    /// Writes an audit log of calls, decisions and answers to a file or to a function. Without it
    /// nothing is recorded. The names of arguments are recorded, but never their values.
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = audit;
        self
    }

    /// Sets the model that answers the sampling requests of servers. Without a model the host does
    /// not declare sampling, and servers cannot request it.
    ///
    /// The policy and the user see each request before the model does, and each answer before the
    /// server does. `turnbuckle-models` has implementations. A function from
    /// [`SamplingRequest`](crate::SamplingRequest) to a future is a model too.
    pub fn model(mut self, model: impl SamplingModel) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Adds a root that every server sees, if the policy allows it. Use [`ServerSpec::root`] to add
    /// a root for one server, and [`Host::share_root`] to add one while the host runs.
    ///
    /// A root is shown to servers while its folder exists.
    pub fn root(mut self, root: Root) -> Self {
        self.roots.push(root);
        self
    }

    /// Sets which environment variables of this process the processes of servers inherit. Defaults
    /// to all except the API keys of models.
    pub fn inherit(mut self, variables: InheritedVariables) -> Self {
        self.inherited = variables;
        self
    }

    /// Sets how soon servers are restarted after a failure. The defaults, from a pause of 100 ms to
    /// a rest of one minute, are in [`Pacing`].
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = pacing;
        self
    }

    /// Calls `listener` with every log message of every server. It runs where messages are read, so
    /// it must not block; send the messages to a channel if handling them takes time.
    ///
    /// Which messages servers send is set with [`ServerSpec::log_level`] and
    /// [`HostCall::log_level`](crate::HostCall::log_level).
    pub fn on_log(
        mut self,
        listener: impl Fn(&ServerId, &LoggingMessageNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.on_log = Some(Arc::new(listener));
        self
    }

    /// Calls `listener` with every message to and from every server, for logs, recordings and
    /// tests. It runs where messages are sent and read, so it must not block. Secrets are not
    /// masked.
    pub fn on_wire(
        mut self,
        listener: impl Fn(&ServerId, WireMessage<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.on_wire = Some(Arc::new(listener));
        self
    }

    /// Adjusts the HTTP settings of servers at a URL before each connection: credentials, a proxy,
    /// certificates. The function gets the id of the server and the target as the config describes
    /// it, and returns the target to use.
    ///
    /// Use it to give a server an OAuth sign-in, which config files cannot describe.
    #[cfg(feature = "http")]
    pub fn reach_with(
        mut self,
        hook: impl Fn(&ServerId, HttpTarget) -> HttpTarget + Send + Sync + 'static,
    ) -> Self {
        self.reach = Some(Arc::new(hook));
        self
    }

    /// Runs the host: servers that are not started on demand are started in the background. This
    /// does not wait for them; call [`Host::ready`] for that.
    ///
    /// If a config file was readable in [`load`](Self::load) but is no longer readable, it adds no
    /// servers and is reported in [`Host::notes`].
    ///
    /// # Panics
    /// Panics outside of a Tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future ends the servers that were already started.
    #[expect(
        clippy::unused_async,
        reason = "servers are started as tasks, and only async code is sure to have a runtime"
    )]
    pub async fn open(self) -> Host {
        let plan = Plan {
            files: self.files,
            variables: self.variables,
            approvals: self.approvals,
            own: self.servers,
            entries: self.entries,
        };
        let shared = Arc::new(Shared {
            implementation: self.implementation,
            consent: Consent::new(self.policy, self.grants, self.user, self.audit),
            model: self.model,
            contexts: Contexts::default(),
            roots: self.roots,
            inherited: self.inherited,
            on_log: self.on_log,
            on_wire: self.on_wire,
            #[cfg(feature = "http")]
            reach: self.reach,
            states: broadcast::Sender::new(MAX_WAITING_STATES),
            updates: broadcast::Sender::new(MAX_WAITING_STATES),
            changes: AtomicU64::new(1),
            changed: watch::Sender::new(1),
        });
        let (servers, notes) = match plan.read() {
            Ok(read) => read,
            // Each file was read a moment ago. A file that is gone since then adds no servers.
            Err(error) => {
                let (servers, mut notes) = plan.read_own();
                notes.push(plan::note(&error));
                (servers, notes)
            }
        };
        let fleet = Fleet::new(Arc::new(Hooks(shared.clone())), self.pacing, self.lists);
        for (id, spec) in servers {
            fleet.add(id, spec);
        }
        Host::run(shared, fleet, plan, notes, self.watch)
    }
}
