//! `Host`: the handle to a running host.

use std::{
    fmt,
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use tokio::task::AbortHandle;
use turnbuckle_base::lock::{Mutex, RwLock};
use turnbuckle_client::Connection;
use turnbuckle_protocol::Implementation;

use super::{
    ConfigNote, Conversation, HostBuilder, builder::Watch, plan::Plan, shared::Shared, watch,
};
use crate::{
    catalog::{HostCatalog, Part, merge},
    config::ConfigError,
    consent::{Action, ActionKind, Denied, Request},
    error::HostError,
    fleet::{Fleet, Lists, ServerSpec, ServerState, StateStream, Upstream},
    id::ServerId,
    names::Prefix,
};

/// A running host: many servers, one catalog, one policy. Clones refer to the same host.
///
/// A host keeps one [`Connection`] for each server, so one server never sees the messages or the
/// credentials of another. Build it with [`Host::builder`] or [`Host::load`], then use
/// [`catalog`](Self::catalog) to see what the servers offer and [`call`](Self::call),
/// [`read`](Self::read) and [`get_prompt`](Self::get_prompt) to use it. Use a [`Conversation`] if
/// several conversations share one host.
///
/// For a single server and without questions of consent, a [`Client`](turnbuckle_client::Client) is
/// enough.
///
/// Dropping the last clone ends every server without waiting; [`close`](Self::close) waits.
#[derive(Clone)]
pub struct Host {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) shared: Arc<Shared>,
    pub(super) fleet: Fleet,
    /// The catalog, and the value of [`Shared::changes`] that it was made at.
    catalog: RwLock<(u64, Arc<HostCatalog>)>,
    /// Held while a catalog is made, so that only one caller makes it.
    making: Mutex<()>,
    pub(super) plan: tokio::sync::Mutex<Plan>,
    pub(super) notes: Mutex<Vec<ConfigNote>>,
    watcher: Mutex<Option<AbortHandle>>,
}

/// A server of a host and its state at one moment, from [`Host::servers`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The id that the host gave it: its name in the config file, or the one given to
    /// [`HostBuilder::server`].
    pub id: ServerId,
    /// Its state when [`Host::servers`] was called. It does not change afterwards; use
    /// [`Host::states`] to follow changes.
    pub state: ServerState,
    /// The command line or the URL, without secrets, as it may be shown to the user.
    pub launch: String,
}

impl Host {
    /// Begins to build a host. The host sends this name and version to every server.
    ///
    /// No server is started before [`HostBuilder::open`]. Use [`load`](Self::load) for a host that
    /// takes all its servers from one config file.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> HostBuilder {
        HostBuilder::new(Implementation::new(name, version))
    }

    /// Begins to build a host with the servers of a config file:
    /// `Host::load("mcp.json")?.open().await`. Its name is `turnbuckle-host`; use
    /// [`builder`](Self::builder) to give it another.
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let host = turnbuckle_host::Host::load("mcp.json")?.open().await;
    /// host.ready().await;
    /// println!("{} tools", host.catalog().tools().len());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be read, is malformed, or has no section with servers. An
    /// entry that cannot be used is not an error: it is reported in [`notes`](Self::notes), and its
    /// server is [`Failed`](ServerState::Failed).
    pub fn load(path: impl AsRef<Path>) -> Result<HostBuilder, ConfigError> {
        Self::builder("turnbuckle-host", env!("CARGO_PKG_VERSION")).load(path)
    }

    pub(super) fn run(
        shared: Arc<Shared>,
        fleet: Fleet,
        plan: Plan,
        notes: Vec<ConfigNote>,
        watched: Watch,
    ) -> Self {
        let inner = Arc::new(Inner {
            shared,
            fleet,
            catalog: RwLock::default(),
            making: Mutex::new(()),
            plan: tokio::sync::Mutex::new(plan),
            notes: Mutex::new(notes),
            watcher: Mutex::new(None),
        });
        let task = tokio::spawn(watch::watch(Arc::downgrade(&inner), watched));
        *inner.watcher.lock() = Some(task.abort_handle());
        Self { inner }
    }

    /// All servers and their states, in the order of the config files and the code.
    ///
    /// Servers that are disabled or have failed are included. This never waits. Use
    /// [`states`](Self::states) for a stream of changes.
    pub fn servers(&self) -> Vec<ServerStatus> {
        let all = self.inner.fleet.all();
        let status = |upstream: &Arc<Upstream>| ServerStatus {
            id: upstream.id().clone(),
            state: upstream.state(),
            launch: upstream.spec.to_redacted_string(),
        };
        all.iter().map(status).collect()
    }

    /// The state of a server, or `None` if the host has no server with this id. This never waits;
    /// use [`ready`](Self::ready) or [`start`](Self::start) to wait for a server.
    pub fn state(&self, server: impl Into<ServerId>) -> Option<ServerState> {
        let upstream = self.inner.fleet.find(&server.into())?;
        Some(upstream.state())
    }

    /// Returns a stream of the state changes of all servers from now on. Use it to show the servers
    /// in a user interface.
    ///
    /// ```no_run
    /// use turnbuckle_host::{Host, StateChange};
    ///
    /// # async fn run(host: Host) {
    /// let mut states = host.states();
    /// while let Some(change) = states.next().await {
    ///     if let StateChange::State(server, state) = change {
    ///         println!("{server}: ready: {}", state.is_ready());
    ///     }
    /// }
    /// # }
    /// ```
    pub fn states(&self) -> StateStream {
        StateStream::new(self.inner.shared.states.subscribe())
    }

    /// Notes about the config files for the user: keys without effect, and entries that cannot be used.
    ///
    /// They are from the last time that the files were read; [`reload`](Self::reload) replaces
    /// them. Problems with what servers offer are in [`HostCatalog::problems`].
    pub fn notes(&self) -> Vec<ConfigNote> {
        self.inner.notes.lock().clone()
    }

    /// Waits until each server is ready, has failed, or is idle until it is needed. A server that
    /// never answers has failed when its start timeout is over. A server that fails and is
    /// restarted is not waited for longer than that either. A question to the user has no time
    /// limit.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn ready(&self) {
        let began = tokio::time::Instant::now();
        for upstream in self.inner.fleet.all() {
            upstream.settled_since(began).await;
        }
    }

    /// Starts a server that is idle, has failed, or was not allowed to start, and waits until it is
    /// ready.
    ///
    /// The policy decides first, and a user who denied the start before is asked again. You need
    /// not call it before a call, because calls start the server by themselves. Use it to start a
    /// server ahead of its first call, or from a button in a user interface. Returns at once if the
    /// server is ready.
    ///
    /// # Errors
    /// - [`HostError::NoServer`] if the host has no server with this id.
    /// - [`HostError::Unavailable`] with the reason: it was not allowed, its entry cannot be used,
    ///   it is disabled, it could not be started, or it failed too often and rests. A server that
    ///   rests is not started before its pause is over; see [`Pacing`](crate::Pacing).
    ///
    /// # Cancel safety
    /// Dropping the future does not stop the start.
    pub async fn start(&self, server: impl Into<ServerId>) -> Result<(), HostError> {
        let upstream = self.upstream(&server.into())?;
        loop {
            self.connected(&upstream).await?;
            // A server that is started on demand may have ended before it was ready.
            if !matches!(upstream.settled().await, ServerState::Idle) {
                return Ok(());
            }
        }
    }

    /// Adds a server while the host runs. A server with the same id is stopped and replaced; the
    /// new server is started when the old one has ended.
    ///
    /// This waits for neither. The new server is started in the background unless it is
    /// [`OnDemand`](crate::Start::OnDemand); [`start`](Self::start) waits for it. A server that was
    /// added here stays when the config files are read again.
    pub async fn add(&self, id: impl Into<ServerId>, spec: ServerSpec) {
        let id = id.into();
        let mut plan = self.inner.plan.lock().await;
        plan.forget(&id);
        plan.own.push((id.clone(), spec.clone()));
        self.inner.fleet.replace(id, spec);
        self.inner.shared.catalog_changed();
    }

    /// Removes a server and waits for its end. Returns whether there was one. A server of a config
    /// file is added again when the file is read again.
    ///
    /// Calls to it that are in flight fail with [`HostError::Call`]. To keep a server in the list
    /// without running it, use [`ServerSpec::disabled`].
    pub async fn remove(&self, id: impl Into<ServerId>) -> bool {
        let id = id.into();
        let mut plan = self.inner.plan.lock().await;
        plan.forget(&id);
        let was_there = self.inner.fleet.remove(&id).await;
        self.inner.shared.catalog_changed();
        was_there
    }

    /// What all servers offer, as currently known. This never waits; lists that are out of date are
    /// read again in the background.
    ///
    /// Servers that are disabled, removed or have failed are left out, and so are tools that the
    /// policy denies. Call [`ready`](Self::ready) first if the servers have just been started. If
    /// nothing changed, the same [`Arc`] is returned, so it is cheap to call this before every turn
    /// of a model.
    pub fn catalog(&self) -> Arc<HostCatalog> {
        for upstream in self.inner.fleet.all() {
            upstream.reread_stale_lists();
        }
        self.inner.catalog()
    }

    /// Waits until the catalog differs from `known`, and returns the new one. Call it in a loop to
    /// keep a list of tools current.
    ///
    /// ```no_run
    /// # async fn run(host: turnbuckle_host::Host) {
    /// let mut catalog = host.catalog();
    /// loop {
    ///     println!("{} tools", catalog.tools().len());
    ///     catalog = host.catalog_after(&catalog).await;
    /// }
    /// # }
    /// ```
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn catalog_after(&self, known: &Arc<HostCatalog>) -> Arc<HostCatalog> {
        let mut changed = self.inner.shared.changed.subscribe();
        loop {
            changed.borrow_and_update();
            let now = self.catalog();
            if !Arc::ptr_eq(&now, known) {
                return now;
            }
            if changed.changed().await.is_err() {
                return now;
            }
        }
    }

    /// Reads the lists of all ready servers again, and waits until that is done.
    ///
    /// Usually servers report changes of their lists, and the host reads them again by itself. Use
    /// this for servers that report nothing, for example behind a "refresh" button. A list that
    /// cannot be read keeps its old entries, and the problem is in [`HostCatalog::problems`].
    ///
    /// # Cancel safety
    /// Dropping the future does not stop the reading.
    pub async fn refresh(&self) {
        let refreshing: Vec<_> = self
            .inner
            .fleet
            .all()
            .into_iter()
            .map(|upstream| tokio::spawn(async move { upstream.refresh().await }))
            .collect();
        for one in refreshing {
            // Waiting fails only when the runtime is shutting down.
            let _ = one.await;
        }
    }

    /// Returns the connection to a server, which is started if necessary. Use it for requests that
    /// the host has no method for.
    ///
    /// Requests sent over it bypass the policy, the user and the audit log. The connection is
    /// closed when the server is removed or restarted, so do not keep it for long.
    ///
    /// # Errors
    /// [`HostError::NoServer`] if the host has no server with this id, and
    /// [`HostError::Unavailable`] if it cannot be started, as with [`start`](Self::start).
    pub async fn connection(&self, server: impl Into<ServerId>) -> Result<Connection, HostError> {
        let upstream = self.upstream(&server.into())?;
        self.connected(&upstream).await
    }

    /// Begins a conversation. Permissions that the user gives for it end with it, and resources can
    /// be attached to it.
    ///
    /// ```no_run
    /// # async fn run(host: turnbuckle_host::Host) -> Result<(), turnbuckle_host::HostError> {
    /// let chat = host.conversation();
    /// chat.attach("file:///home/ada/notes.md").await?;
    /// let output = chat.call("git__git_status", serde_json::json!({ "repo_path": "." })).await?;
    /// for attachment in chat.context(4_000).await {
    ///     println!("{}", attachment.text());
    /// }
    /// # drop(output);
    /// # Ok(()) }
    /// ```
    pub fn conversation(&self) -> Conversation {
        Conversation::new(self.clone())
    }

    /// Ends every server and waits until all have ended. A server that does not end by itself is
    /// killed, after five seconds at most.
    ///
    /// Afterwards the host has no servers. Dropping the last clone ends them too, without waiting.
    ///
    /// # Cancel safety
    /// Dropping the future does not stop the servers from ending.
    pub async fn close(&self) {
        self.inner.fleet.close().await;
        self.inner.shared.catalog_changed();
    }

    /// Why a tool is missing from the catalog although a server has it: the server has failed and
    /// is not running. Returns `None` if no server is known to have such a tool.
    ///
    /// [`call`](Self::call) uses this for its error. Use it to tell a model why a tool that it saw
    /// earlier is gone. The error is a [`HostError::Unavailable`].
    pub fn why_missing(&self, tool: &str) -> Option<HostError> {
        let is_failed = |state: &ServerState| matches!(state, ServerState::Failed { .. });
        let catalog = self.inner.make(|state| !is_out(state) || is_failed(state));
        let upstream = self.upstream(catalog.tool(tool)?.server()).ok()?;
        let ServerState::Failed { failure, .. } = upstream.state() else {
            return None;
        };
        Some(HostError::Unavailable {
            server: upstream.id().clone(),
            source: failure,
        })
    }

    pub(super) fn upstream(&self, id: &ServerId) -> Result<Arc<Upstream>, HostError> {
        let upstream = self.inner.fleet.find(id);
        upstream.ok_or_else(|| HostError::NoServer { server: id.clone() })
    }

    pub(super) async fn connected(&self, upstream: &Upstream) -> Result<Connection, HostError> {
        let connection = upstream.connection().await;
        connection.map_err(|source| HostError::Unavailable {
            server: upstream.id().clone(),
            source,
        })
    }
}

pub(super) fn denial(
    server: &ServerId,
    action: ActionKind,
    subject: &str,
    source: Denied,
) -> HostError {
    HostError::Denied {
        server: server.clone(),
        action,
        subject: subject.to_owned(),
        source,
    }
}

impl Inner {
    /// Returns the current catalog, and makes a new one if anything changed.
    pub(super) fn catalog(&self) -> Arc<HostCatalog> {
        let wanted = self.shared.changes.load(Ordering::Acquire);
        if let Some(catalog) = self.known(wanted) {
            return catalog;
        }
        let _making = self.making.lock();
        let wanted = self.shared.changes.load(Ordering::Acquire);
        if let Some(catalog) = self.known(wanted) {
            return catalog;
        }
        let catalog = Arc::new(self.make(|state| !is_out(state)));
        *self.catalog.write() = (wanted, catalog.clone());
        catalog
    }

    fn known(&self, wanted: u64) -> Option<Arc<HostCatalog>> {
        let known = self.catalog.read();
        (known.0 >= wanted).then(|| known.1.clone())
    }

    /// Makes the catalog of the servers in these states.
    fn make(&self, is_in: impl Fn(&ServerState) -> bool) -> HostCatalog {
        let all = self.fleet.all();
        // Use the configured servers and not the running ones, so that names do not change when a
        // server fails.
        let used = all.iter().filter(|upstream| upstream.spec.is_enabled);
        let prefix = if used.count() > 1 {
            Prefix::Server
        } else {
            Prefix::None
        };
        let lists: Vec<(&Arc<Upstream>, Lists)> = all
            .iter()
            .filter(|upstream| is_in(&upstream.state()))
            .map(|upstream| (upstream, upstream.lists()))
            .collect();
        let parts: Vec<Part<'_>> = lists
            .iter()
            .map(|(upstream, lists)| Part {
                server: upstream.id(),
                lists,
                filter: &upstream.spec.tools,
            })
            .collect();
        merge(&parts, prefix, |server, tool| {
            let action = Action::Call {
                tool,
                arguments: None,
            };
            let request = Request {
                server,
                conversation: None,
                action,
            };
            !self.shared.consent.policy.decide(&request).is_denied()
        })
    }
}

/// Whether a server offers nothing until it is started again.
fn is_out(state: &ServerState) -> bool {
    matches!(
        state,
        ServerState::Failed { .. } | ServerState::Disabled | ServerState::Removed
    )
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(watcher) = self.watcher.lock().take() {
            watcher.abort();
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("servers", &self.servers())
            .finish_non_exhaustive()
    }
}
