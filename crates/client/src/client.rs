//! `Client`: the name, handlers and settings of a client. One client can open any number of
//! connections.

use std::{future::Future, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use turnbuckle_protocol::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitResult, ExtensionSpec, Implementation, LoggingLevel,
    LoggingMessageNotificationParams, Revision,
};
use turnbuckle_session::{Era, probe::RevisionChoice};
use turnbuckle_transport::{KeepAlive, Limits};

use crate::{
    answer::{Answers, Refusal, ServerAsk},
    cache::Cache,
    connect::{Connect, Target},
    notifications::ServerNotification,
    peer::Peer,
    profile::{AskRates, OutputCheck, Profile, RelayProfile, TaskSupport},
    relayed::RelaySink,
    roots::Roots,
    tap::{Tap, WireMessage},
};

/// A client that connects to MCP servers of any revision.
///
/// It declares only the capabilities that it has handlers for: a client without handlers declares
/// none. It detects the revision of a server when it connects. A client can open any number of
/// connections.
///
/// ```no_run
/// use turnbuckle_client::{Client, transport::Command};
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new("my-app", "0.3.0");
/// let git = client.connect(Command::new("uvx").arg("mcp-server-git")).await?;
/// for tool in git.tools().await? {
///     println!("{}", tool.name);
/// }
/// git.close().await;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    profile: Arc<Profile>,
}

impl Client {
    /// Creates a client with this name and version, which are sent to servers. Use
    /// `Client::from(Implementation)` to add a title, a description or icons.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from(Implementation::new(name, version))
    }

    /// Sets the handlers for requests of servers (elicitation, sampling, roots), and replaces those
    /// that were set before. To add single handlers, use [`on_form`](Self::on_form),
    /// [`on_url`](Self::on_url), [`on_sample`](Self::on_sample) or [`roots`](Self::roots).
    pub fn answering(self, answers: impl Into<Answers>) -> Self {
        self.with(|profile| profile.answers = answers.into())
    }

    /// Calls `show` with every message that is sent or received: for logs, recordings and tests.
    ///
    /// `show` runs where the message is sent or read, so it must not block. Secrets in messages are not
    /// masked; HTTP headers are not included.
    ///
    /// ```
    /// use turnbuckle_client::{Client, Direction};
    ///
    /// let client = Client::new("my-app", "1.0.0").on_wire(|passing| {
    ///     let arrow = if passing.direction == Direction::Out { "->" } else { "<-" };
    ///     eprintln!("{arrow} {}", String::from_utf8_lossy(passing.message));
    /// });
    /// # let _ = client;
    /// ```
    pub fn on_wire(self, show: impl Fn(WireMessage<'_>) + Send + Sync + 'static) -> Self {
        self.with(|profile| profile.tap = Some(Tap::new(show)))
    }

    /// Sets the handler for forms (elicitation), and declares the capability. See
    /// [`Answers::on_form`].
    ///
    /// ```
    /// use turnbuckle_client::{Client, protocol::ElicitResult};
    ///
    /// let client = Client::new("my-app", "0.3.0").on_form(|form| async move {
    ///     println!("{} asks: {}", form.server.name(), form.message);
    ///     // Show the fields of `form.requested_schema`, and return what the user filled in.
    ///     Ok(ElicitResult::accept([("seat", "12A")]))
    /// });
    /// # let _ = client;
    /// ```
    pub fn on_form<F, A>(self, handler: F) -> Self
    where
        F: Fn(ServerAsk<ElicitRequestFormParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, Refusal>> + Send + 'static,
    {
        self.answered(|answers| answers.on_form(handler))
    }

    /// Sets the handler for requests to visit a URL (elicitation), and declares the capability. See
    /// [`Answers::on_url`].
    pub fn on_url<F, A>(self, handler: F) -> Self
    where
        F: Fn(ServerAsk<ElicitRequestUrlParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, Refusal>> + Send + 'static,
    {
        self.answered(|answers| answers.on_url(handler))
    }

    /// Sets the handler for sampling, which lets servers use the client's model, and declares the
    /// capability. Requests with tools are refused;
    /// [`on_sample_with_tools`](Self::on_sample_with_tools) accepts them. See [`Answers::on_sample`].
    pub fn on_sample<F, A>(self, handler: F) -> Self
    where
        F: Fn(ServerAsk<CreateMessageRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, Refusal>> + Send + 'static,
    {
        self.answered(|answers| answers.on_sample(handler))
    }

    /// Sets the handler for sampling with tools, and replaces that of [`on_sample`](Self::on_sample).
    /// See [`Answers::on_sample_with_tools`].
    pub fn on_sample_with_tools<F, A>(self, handler: F) -> Self
    where
        F: Fn(ServerAsk<CreateMessageRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, Refusal>> + Send + 'static,
    {
        self.answered(|answers| answers.on_sample_with_tools(handler))
    }

    /// Declares that sampling can include context of servers. It requires a handler for sampling. See
    /// [`Answers::sampling_context`].
    pub fn sampling_context(self) -> Self {
        self.answered(Answers::sampling_context)
    }

    /// Sets the roots that servers see. To change the roots later, keep a clone of the [`Roots`];
    /// servers are then notified. Use [`on_roots`](Self::on_roots) if servers should see different
    /// roots.
    pub fn roots(self, roots: impl Into<Roots>) -> Self {
        self.answered(|answers| answers.roots(roots))
    }

    /// Sets a handler that decides which roots each server sees. See [`Answers::on_roots`].
    ///
    /// ```
    /// use turnbuckle_client::{Client, protocol::Root};
    ///
    /// let client = Client::new("my-app", "0.3.0").on_roots(|server| async move {
    ///     Ok(match server.name() {
    ///         "git" => vec![Root::new("file:///home/ada/engine")],
    ///         _ => vec![],
    ///     })
    /// });
    /// # let _ = client;
    /// ```
    pub fn on_roots<F, A, R>(self, handler: F) -> Self
    where
        F: Fn(Arc<Peer>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<R, Refusal>> + Send + 'static,
        R: Into<Roots>,
    {
        self.answered(|answers| answers.on_roots(handler))
    }

    /// Calls `listener` with every notification of every server, from the first message on. The
    /// listener runs where messages are read, so it must not block; for longer work use the stream of
    /// [`Connection::notifications`](crate::Connection::notifications).
    pub fn on_notification(
        self,
        listener: impl Fn(&ServerNotification) + Send + Sync + 'static,
    ) -> Self {
        self.with(|profile| profile.listener = Some(Arc::new(listener)))
    }

    /// Uses this cache for results instead of the client's own. Pass clones of one [`Cache`] to several
    /// clients to share it, or set other limits and lifetimes.
    pub fn cache(self, cache: Cache) -> Self {
        self.with(|profile| profile.cache = Some(cache))
    }

    /// Switches the cache off: every list and every resource is requested from the server. To
    /// bypass it for one call, use [`ClientCall::fresh`](crate::ClientCall::fresh).
    pub fn no_cache(self) -> Self {
        self.with(|profile| profile.cache = None)
    }

    /// Asks every server for log messages of this severity and above: a session once when it is opened,
    /// a modern server with each request. Servers without the logging capability are not asked.
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.with(|profile| profile.settings.log_level = Some(level))
    }

    /// Calls `listener` with every log message of every server and the server's name. The listener runs
    /// where messages are read, so it must not block; for longer work use the stream of
    /// [`Connection::logs`](crate::Connection::logs).
    ///
    /// ```
    /// use turnbuckle_client::{Client, protocol::LoggingLevel};
    ///
    /// let client = Client::new("my-app", "0.3.0")
    ///     .log_level(LoggingLevel::Warning)
    ///     .on_log(|server, log| eprintln!("{server}: {}", log.data));
    /// # let _ = client;
    /// ```
    pub fn on_log(
        self,
        listener: impl Fn(&str, &LoggingMessageNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.with(|profile| profile.log_listener = Some(Arc::new(listener)))
    }

    /// Declares that the client supports extension `E`, with these settings. They are sent with
    /// each request or with the handshake, depending on the revision. Settings that are not an
    /// object are left out.
    pub fn declare<E: ExtensionSpec>(self, settings: &E::Client) -> Self {
        let settings = match serde_json::to_value(settings) {
            Ok(Value::Object(settings)) => settings,
            _ => Map::new(),
        };
        self.extension(E::ID, settings)
    }

    /// Declares that the client supports the extension with this id. See [`declare`](Self::declare)
    /// for the typed form.
    pub fn extension(self, id: impl Into<String>, settings: Map<String, Value>) -> Self {
        self.with(|profile| {
            profile
                .extensions
                .insert(id.into(), Value::Object(settings));
        })
    }

    /// Uses this revision only. Connecting fails with
    /// [`ConnectError::Unsupported`](crate::ConnectError::Unsupported) if the server does not
    /// support it. By default the newest revision that both sides support is used.
    pub fn only(self, revision: Revision) -> Self {
        self.with(|profile| profile.settings.aim = RevisionChoice::Revision(revision))
    }

    /// Uses the revisions of this era only: legacy (with `initialize`) or modern. Connecting fails
    /// with [`ConnectError::Unsupported`](crate::ConnectError::Unsupported) if the server supports
    /// no such revision.
    pub fn only_era(self, era: Era) -> Self {
        self.with(|profile| profile.settings.aim = RevisionChoice::Era(era))
    }

    /// Sets the deadline of each call that does not set its own with
    /// [`ClientCall::deadline`](crate::ClientCall::deadline). Defaults to one minute. Each progress
    /// notification that the call asked for renews it. It is paused while the server waits for an
    /// answer from the client.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.with(|profile| profile.settings.deadline = deadline)
    }

    /// Sets the longest time of a call, regardless of progress. Defaults to one hour. A call with a
    /// longer deadline of its own may take that long. For longer work, use
    /// [tasks](crate::ClientCall::task).
    pub fn longest_call(self, longest: Duration) -> Self {
        self.with(|profile| profile.settings.longest = longest)
    }

    /// Sets how often a server may ask in the middle of one call. Defaults to 32. If the server asks
    /// once more, the call fails with [`CallError::TooManyRounds`](crate::CallError::TooManyRounds).
    pub fn max_rounds(self, rounds: usize) -> Self {
        self.with(|profile| profile.settings.max_rounds = rounds)
    }

    /// Sets how often each server may use sampling and elicitation. Defaults to 100 requests at
    /// once and 20 in a second of each kind.
    pub fn ask_rates(self, rates: AskRates) -> Self {
        self.with(|profile| profile.settings.ask_rates = rates)
    }

    /// Does not declare tasks. Servers then answer calls when they are done, however long that takes,
    /// and send their questions as requests. Use it for programs that prefer an open connection to
    /// polling, and for servers whose tasks are broken.
    pub fn without_tasks(self) -> Self {
        self.with(|profile| profile.settings.tasks = TaskSupport::Off)
    }

    /// Sets how long a server may take to answer the probe before the handshake is tried as well.
    /// Defaults to 5 seconds. Programs whose revision is known from an earlier connection are not
    /// probed.
    pub fn probe_timeout(self, timeout: Duration) -> Self {
        self.with(|profile| profile.settings.probe_timeout = timeout)
    }

    /// Sets how long a server may take to answer the handshake. Defaults to one minute, because
    /// servers started by `npx` or `uvx` may have to be downloaded first.
    pub fn handshake_timeout(self, timeout: Duration) -> Self {
        self.with(|profile| profile.settings.handshake_timeout = timeout)
    }

    /// Sets how long the process of a server gets for each step of its shutdown: to exit by itself
    /// after its input is closed, and again after it was asked to terminate. After that it is killed.
    /// Defaults to 2 seconds.
    pub fn grace(self, grace: Duration) -> Self {
        self.with(|profile| profile.settings.grace = grace)
    }

    /// Sets how long messages may be and how much may be queued for sending. A call whose result
    /// exceeds the limit fails with [`CallError::Oversized`](crate::CallError::Oversized); the
    /// connection stays open.
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|profile| profile.settings.limits = limits)
    }

    /// Accepts structured content that does not match the tool's output schema. This is
    /// [`output_check`](Self::output_check) with [`OutputCheck::Skip`].
    pub fn trust_output(self) -> Self {
        self.output_check(OutputCheck::Skip)
    }

    /// Sets what happens to results that do not match their tool's output schema. By default such
    /// calls fail with [`CallError::OutputMismatch`](crate::CallError::OutputMismatch).
    pub fn output_check(self, check: OutputCheck) -> Self {
        self.with(|profile| profile.settings.output = check)
    }

    /// Pings servers at intervals. After several pings in a row without an answer the server is
    /// considered failed, which is logged. A session at a URL is then opened again and its calls fail;
    /// [`Connection::is_closed`](crate::Connection::is_closed) is true until the server answers again.
    /// The connection to a process ends. Off by default.
    pub fn keep_alive(self, pings: KeepAlive) -> Self {
        self.with(|profile| profile.settings.keep_alive = Some(pings))
    }

    /// Passes requests and notifications of servers on instead of handling them, for gateways and
    /// bridges. Declares exactly these capabilities, as far as the revision defines them, and caches no
    /// results. Messages that belong to a call are events of
    /// [`Connection::relay`](crate::Connection::relay); all others go to `sink`. The client itself
    /// answers only `ping`.
    pub fn relaying(self, capabilities: ClientCapabilities, sink: Arc<dyn RelaySink>) -> Self {
        self.with(|profile| {
            profile.relay = Some(RelayProfile { capabilities, sink });
            profile.cache = None;
            profile.settings.output = OutputCheck::Skip;
            profile.settings.tasks = TaskSupport::Off;
        })
    }

    /// Connects to a server: a program, a pair of streams, a custom transport
    /// ([`Dial`](crate::Dial)) or, with feature `http`, a URL. Await the returned [`Connect`] to
    /// get a [`Connection`](crate::Connection).
    ///
    /// The revision and the transport of the server are detected. The client can be used for
    /// further connections at the same time.
    ///
    /// # Errors
    /// [`ConnectError`](crate::ConnectError) says what was tried and what to do: the program cannot be
    /// started, the URL cannot be reached or is invalid, the server requires authorization, does not
    /// answer, or supports none of the allowed revisions.
    pub fn connect(&self, target: impl Into<Target>) -> Connect {
        Connect::new(self.profile.clone(), target.into())
    }

    fn answered(self, change: impl FnOnce(Answers) -> Answers) -> Self {
        self.with(|profile| profile.answers = change(std::mem::take(&mut profile.answers)))
    }

    fn with(mut self, change: impl FnOnce(&mut Profile)) -> Self {
        change(Arc::make_mut(&mut self.profile));
        self
    }
}

impl From<Implementation> for Client {
    /// Creates a client from a complete description, with a title, icons or a website.
    fn from(client: Implementation) -> Self {
        Self {
            profile: Arc::new(client.into()),
        }
    }
}
