//! `Server`, the builder of a server: its entries and settings.

use std::{sync::Arc, time::Duration};

use turnbuckle_protocol::{CacheScope, Icon, Implementation, LoggingLevel};
use turnbuckle_session::round::{
    KeyRing,
    seal::{MAX_STATE_BYTES, WeakSecret},
};
use turnbuckle_store::{Fanout, LocalFanout, UsedStates, task::Tasks};
use turnbuckle_transport::{KeepAlive, Limits};

use super::keys::key_ring;
use crate::{
    Cached, Extension, HandlerSet, Handlers, IntoPrompt, IntoResource, IntoTool, Layer, Leniency,
    ListenerLimits, MemoryBudget, Rates, Relay, RootsChanged, ServeError, TaskSettings, Transport,
    catalog::{
        Offer,
        caching::{self, Caching},
    },
    client::roots::OnRootsChanged,
    engine::Settings,
    failure::ErrorTexts,
    handler::{LogOffer, ReadsHttp, StateMap, ask::AskSettings},
};

/// The builder of a server: add tools, prompts and resources, then serve it.
///
/// A server speaks every revision on every transport without any setting.
/// [`serve`](Self::serve) runs it on one transport. [`build`](Self::build) makes a
/// [`LiveServer`](crate::LiveServer), which can be served on several, nested in a router, tested in
/// memory and changed while it runs.
///
/// ```no_run
/// use turnbuckle_server::{Args, Server, Stdio, Tool};
/// # async fn greet() -> &'static str { "hello" }
/// # async fn run() -> Result<(), turnbuckle_server::ServeError> {
/// Server::new("greeter", "1.0.0").tool(Tool::new("greet", greet)).serve(Stdio).await
/// # }
/// ```
///
/// | to | use |
/// |---|---|
/// | offer something | [`tool`](Self::tool), [`prompt`](Self::prompt), [`resource`](Self::resource), [`handlers`](Self::handlers), [`extension`](Self::extension) |
/// | share values with handlers | [`state`](Self::state) |
/// | run code around calls | [`layer`](Self::layer) |
/// | tell models and people about it | [`instructions`](Self::instructions), [`title`](Self::title), [`about`](Self::about) |
/// | run several replicas | [`secret`](Self::secret), [`fanout`](Self::fanout), [`task_store`](Self::task_store) |
/// | limit what callers use | [`limits`](Self::limits), [`memory_budget`](Self::memory_budget), [`rates`](Self::rates), [`listeners`](Self::listeners) |
#[must_use = "a server does nothing until it is served"]
pub struct Server {
    pub(super) info: Implementation,
    pub(super) instructions: Option<String>,
    pub(super) settings: Settings,
    pub(super) cache: Caching,
    pub(super) leniency: Leniency,
    pub(super) asks: AskSettings,
    pub(super) logging: LogOffer,
    pub(super) lists: Offer,
    pub(super) errors: ErrorTexts,
    pub(super) reads_http: ReadsHttp,
    pub(super) default_log_level: Option<LoggingLevel>,
    pub(super) layers: Vec<Arc<dyn Layer>>,
    pub(super) states: StateMap,
    /// The type of which two states were given, if any; the first such type.
    pub(super) repeated_state: Option<&'static str>,
    pub(super) handlers: HandlerSet,
    pub(super) extensions: Vec<Extension>,
    pub(super) keys: Option<Result<KeyRing, WeakSecret>>,
    pub(super) fanout: Arc<dyn Fanout>,
    pub(super) on_roots_changed: Option<OnRootsChanged>,
    pub(super) tasks: Option<Arc<dyn Tasks>>,
    pub(super) task_settings: TaskSettings,
    pub(super) relay: Option<Arc<dyn Relay>>,
    #[cfg(feature = "http")]
    pub(super) replicas: Option<turnbuckle_store::ReplicaStores>,
    #[cfg(feature = "http")]
    pub(super) streams: crate::replica::StreamLife,
}

impl Server {
    /// Creates a server with this name and version, which clients see. It has no tools, prompts and
    /// resources yet. `turnbuckle::server!()` takes the name and version from your crate.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            settings: Settings::default(),
            cache: Caching::default(),
            leniency: Leniency::Lenient,
            asks: AskSettings::default(),
            logging: LogOffer::default(),
            lists: Offer::default(),
            errors: ErrorTexts::default(),
            reads_http: ReadsHttp::default(),
            default_log_level: Some(LoggingLevel::Info),
            layers: Vec::new(),
            states: StateMap::default(),
            repeated_state: None,
            handlers: HandlerSet::default(),
            extensions: Vec::new(),
            keys: None,
            fanout: Arc::new(LocalFanout::default()),
            on_roots_changed: None,
            tasks: None,
            task_settings: TaskSettings::default(),
            relay: None,
            #[cfg(feature = "http")]
            replicas: None,
            #[cfg(feature = "http")]
            streams: crate::replica::StreamLife::Local,
        }
    }

    /// Returns the server's description of itself that clients see: name, version, title and so on.
    pub fn implementation(&self) -> &Implementation {
        &self.info
    }

    /// Sets a title, which clients show to people in place of the name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// Sets a description of the server, for people who choose among servers. For models, use
    /// [`instructions`](Self::instructions).
    pub fn about(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Sets the URL of a page where people read more about the server.
    pub fn website(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Adds an icon, which clients may show beside the name. Call it several times for several
    /// sizes.
    pub fn icon(mut self, icon: impl Into<Icon>) -> Self {
        self.info.icons.get_or_insert_default().push(icon.into());
        self
    }

    /// Tells models how to use the server as a whole: which tool to begin with, which tools belong
    /// together. Clients may add it to the system prompt, so keep it short. Describe single tools
    /// in their own descriptions.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Gives handlers a value, such as a database pool. They take it with
    /// [`State<S>`](crate::State), which clones it. A type can be given only once: building the
    /// server fails if two states have the same type, or if a handler needs a state that was not
    /// given.
    pub fn state<S: Clone + Send + Sync + 'static>(mut self, state: S) -> Self {
        if !self.states.insert(state) {
            let state = std::any::type_name::<S>();
            self.repeated_state = self.repeated_state.or(Some(state));
        }
        self
    }

    /// Adds a tool: a function with `#[tool]`, or a [`Tool`](crate::Tool). Building the server
    /// fails if two tools have the same name. To add tools while the server runs, use its
    /// [`Catalog`](crate::Catalog).
    pub fn tool<X>(mut self, tool: impl IntoTool<X>) -> Self {
        self.handlers.tools.push(tool.into_tool());
        self
    }

    /// Adds a prompt: a function with `#[prompt]`, or a [`Prompt`](crate::Prompt). Building the
    /// server fails if two prompts have the same name.
    pub fn prompt<X>(mut self, prompt: impl IntoPrompt<X>) -> Self {
        self.handlers.prompts.push(prompt.into_prompt());
        self
    }

    /// Adds a resource or a resource template: a function with `#[resource]`, or a
    /// [`Resource`](crate::Resource). Building the server fails if two of them have the same URI.
    pub fn resource<X>(mut self, resource: impl IntoResource<X>) -> Self {
        self.handlers.resources.push(resource.into_resource());
        self
    }

    /// Adds every tool, prompt and resource among the methods of a state type with `#[handlers]`.
    /// The methods share the value by reference, so it needs no `Clone`.
    pub fn handlers<H: Handlers>(mut self, state: H) -> Self {
        Arc::new(state).register(&mut self.handlers);
        self
    }

    /// Adds an extension, with its methods, tools, prompts and resources, and declares it to
    /// clients.
    pub fn extension(mut self, extension: impl Into<Extension>) -> Self {
        self.extensions.push(extension.into());
        self
    }

    /// Puts a layer (middleware) around all calls of tools, prompts, resources and extension
    /// methods. The first one added is the outermost. Layers of a single tool run inside these. See
    /// [`Layer`].
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    /// Accepts arguments only in the types of the schema: a string such as `"5"` is not converted
    /// to a number. A tool may choose otherwise with [`Tool::leniency`](crate::Tool::leniency). By
    /// default arguments are converted if their meaning is clear, because models often quote
    /// numbers.
    pub fn strict(mut self) -> Self {
        self.leniency = Leniency::Strict;
        self
    }

    /// Sets how many entries one page of a list contains, at least 1. Defaults to 1000. Clients
    /// fetch the following pages by themselves.
    pub fn page_size(mut self, entries: usize) -> Self {
        self.settings.page_size = entries.max(1);
        self
    }

    /// Sets how long clients of 2026-07-28 may cache results, and whether caches may share them,
    /// for every result that has no hint of its own. By default clients may not cache results.
    ///
    /// Results that differ by caller are always private, and no result may be cached for more than
    /// a year.
    pub fn cache(mut self, fresh_for: Duration, scope: CacheScope) -> Self {
        self.cache.set_all(caching::hint(fresh_for, scope));
        self
    }

    /// Sets what [`cache`](Self::cache) sets, but for one kind of result. A
    /// [resource](crate::Resource::cache) and a [read](turnbuckle_protocol::ReadResourceResult) may
    /// have their own hints.
    ///
    /// ```
    /// use std::time::Duration;
    /// use turnbuckle_protocol::CacheScope;
    /// use turnbuckle_server::{Cached, Server};
    ///
    /// let minute = Duration::from_secs(60);
    /// let server = Server::new("s", "1.0.0").cache_of(Cached::Tools, minute, CacheScope::Public);
    /// ```
    pub fn cache_of(mut self, what: Cached, fresh_for: Duration, scope: CacheScope) -> Self {
        self.cache.set(what, caching::hint(fresh_for, scope));
        self
    }

    /// Encrypts `requestState` (the journal of a call between rounds of questions) with keys that
    /// are derived from this secret of at least 16 random bytes. Give all replicas the same secret.
    ///
    /// Without a secret, each process has random keys. A retry that reaches another process, or
    /// this process after a restart, is then refused.
    pub fn secret(self, secret: &[u8]) -> Self {
        self.secrets([secret])
    }

    /// Like [`secret`](Self::secret), with several secrets, for the time in which a secret is
    /// changed: the first encrypts, and all of them decrypt. At most eight are used; further
    /// secrets are ignored.
    ///
    /// To lose no call, change the secret in three steps, each on every replica: add the new secret
    /// at the end; move it to the front; remove the old secret when the last state that it
    /// encrypted has expired.
    ///
    /// ```
    /// # let (new, old) = ([1; 32], [2; 32]);
    /// let server = turnbuckle_server::Server::new("booking", "1.0.0").secrets([new, old]);
    /// # server.build().unwrap();
    /// ```
    pub fn secrets(mut self, secrets: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        self.keys = key_ring(secrets).transpose();
        self
    }

    /// Sets how long a client may take to answer questions. Defaults to an hour. A later retry is
    /// refused, and the client has to start the call again. The clocks of replicas must agree.
    ///
    /// If this is set, answers without a `requestState` are not accepted, because their age is
    /// unknown; the questions are asked again.
    pub fn answer_within(mut self, limit: Duration) -> Self {
        self.asks.answer_within = limit;
        self.asks.needs_state = true;
        self
    }

    /// Sets the maximum length of a `requestState`, in bytes. Defaults to 1.4 MB, which is also the
    /// largest possible value. A call that needs a longer one fails, and its log entry says what to
    /// do.
    pub fn max_state(mut self, bytes: usize) -> Self {
        self.asks.max_state_bytes = bytes.min(MAX_STATE_BYTES);
        self
    }

    /// Sets where used `requestState` values are remembered. Each can be used once: if a client
    /// sends the same retry again, the server refuses it, because the handler would do its work
    /// twice. The client then starts the call again. By default each process remembers the values
    /// that it received; replicas must share a store, or a state can be used once on each of them.
    ///
    /// If this is set, answers without a `requestState` are not accepted; the questions are asked
    /// again.
    ///
    /// ```
    /// use turnbuckle_store::MemoryUsedStates;
    ///
    /// let server = turnbuckle_server::Server::new("payments", "1.0.0")
    ///     .single_use(MemoryUsedStates::default());
    /// # server.build().unwrap();
    /// ```
    pub fn single_use(mut self, used_states: impl UsedStates) -> Self {
        self.asks.used_states = Some(Arc::new(used_states));
        self.asks.needs_state = true;
        self
    }

    /// Accepts a `requestState` any number of times until it expires. A client that lost the answer
    /// can then send its retry again, and everything after the last question happens again. Use it
    /// only if handlers change nothing, or if their effects have an idempotency key.
    pub fn reusable_states(mut self) -> Self {
        self.asks.used_states = None;
        self
    }

    /// Shares changes with other replicas, through this fan-out. By default only subscribers in
    /// this process are notified. Servers that are given clones of one
    /// [`LocalFanout`](turnbuckle_store::LocalFanout) share their changes.
    pub fn fanout(mut self, fanout: impl Fanout) -> Self {
        self.fanout = Arc::new(fanout);
        self
    }

    /// Sets where tasks are stored. By default they are in memory and end with the process.
    /// Replicas need a store that all of them share, because a client may ask another replica for
    /// its task.
    pub fn task_store(mut self, store: impl Tasks) -> Self {
        self.tasks = Some(Arc::new(store));
        self
    }

    /// Sets how tasks run and are kept: how long, how many, and how often clients poll. The
    /// defaults are in [`TaskSettings`].
    pub fn tasks(mut self, settings: TaskSettings) -> Self {
        self.task_settings = settings;
        self
    }

    /// Calls this function when a client reports that its roots have changed, for example to
    /// request them again. Only clients of revisions up to 2025-11-25 report this. To learn the
    /// roots of later clients, use [`Asker::roots`](crate::Asker::roots) in a handler, which asks
    /// the client each time.
    ///
    /// At most one callback runs for a session at a time. Changes that are reported while it runs
    /// cause one more call. The callback is dropped when the session ends.
    ///
    /// ```
    /// use turnbuckle_server::{RootsChanged, Server};
    ///
    /// let server = Server::new("s", "1.0.0").on_roots_changed(async |client: RootsChanged| {
    ///     match client.roots().await {
    ///         Ok(roots) => println!("{} roots", roots.len()),
    ///         Err(error) => eprintln!("{error}"),
    ///     }
    /// });
    /// ```
    pub fn on_roots_changed<F>(
        mut self,
        hook: impl Fn(RootsChanged) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.on_roots_changed = Some(Arc::new(move |client| Box::pin(hook(client))));
        self
    }

    /// Passes every request to this relay first, before the server's own tools, prompts and
    /// resources. It is for gateways and bridges, which forward requests to other servers.
    pub fn relay(mut self, relay: Arc<dyn Relay>) -> Self {
        self.relay = Some(relay);
        self
    }

    /// Sets the limits of a connection: how long a message may be, how many values it may contain,
    /// how many bytes may be queued, and how long calls may continue after the client has ended its
    /// input. The defaults are in [`Limits`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets how much memory messages may take while they are read, parsed and served, in total and
    /// for one caller. If that is exceeded, HTTP answers with 503 or 429 and `Retry-After`, and
    /// stdio stops reading for a while. The defaults are in [`MemoryBudget`].
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.settings.memory = budget;
        self
    }

    /// Sets how often one caller may call tools and ask for completions, and how often one call may
    /// report progress and send log messages. Calls and completions beyond that are rejected.
    /// Progress reports and log messages beyond that are dropped or combined. The defaults are in
    /// [`Rates`].
    pub fn rates(mut self, rates: Rates) -> Self {
        self.settings.rates = rates;
        self
    }

    /// Sets how many `subscriptions/listen` requests may be open at a time, in total and for one
    /// caller. The defaults are in [`ListenerLimits`].
    pub fn listeners(mut self, limits: ListenerLimits) -> Self {
        self.settings.listeners = limits;
        self
    }

    /// Pings clients at an interval, in sessions of 2024-11-05 to 2025-11-25; in 2026-07-28 servers
    /// cannot send requests. Off by default.
    ///
    /// If a client does not answer several pings in a row ([`KeepAlive`]), this is logged and its
    /// session ends. A client that still runs can open a new session. A session over HTTP is pinged
    /// while its client has a stream open to receive messages. Clients on stdio and other byte
    /// streams are pinged only with
    /// [`KeepAlive::on_pipes`](turnbuckle_transport::KeepAlive::on_pipes).
    pub fn keep_alive(mut self, pings: KeepAlive) -> Self {
        self.settings.keep_alive = Some(pings);
        self
    }

    /// Serves until the transport ends, and then [shuts down](crate::LiveServer::shutdown). Stdio
    /// ends when the client closes its end; HTTP ends when the future given to
    /// [`Http::until`](crate::Http::until) completes.
    ///
    /// # Errors
    /// - [`ServeError::Setup`] if an entry or a setting is invalid; the message names it.
    /// - [`ServeError::Bind`] if the address of [`Http`](crate::Http) cannot be bound.
    /// - [`ServeError::Transport`] and [`ServeError::Listen`] if the transport breaks.
    ///
    /// # Cancel safety
    /// Dropping the future ends the connections and every call that runs on them. Tasks are not
    /// marked as failed then; use [`Http::until`](crate::Http::until) for an orderly shutdown.
    pub async fn serve(self, transport: impl Transport) -> Result<(), ServeError> {
        let server = self.build()?;
        let served = server.serve(transport).await;
        server.shutdown().await;
        served
    }
}
