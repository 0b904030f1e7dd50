//! The client: who it is, what it answers, how patient it is. Made once, connected as often as
//! there are servers.

use std::{future::Future, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use turnbuckle_protocol::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitResult, ExtensionSpec, Implementation, LoggingLevel,
    LoggingMessageNotificationParams, Revision, Root,
};
use turnbuckle_session::{Era, probe::Aim};
use turnbuckle_transport::{KeepAlive, Limits};

use crate::{
    answer::{Answers, Refusal, Roots, ServerAsk},
    cache::Cache,
    connect::{Connect, Target},
    news::News,
    peer::Peer,
    profile::{AskRates, OutputCheck, Profile, RelayProfile, TaskSupport},
    relayed::RelaySink,
    tap::{Passing, Tap},
};

/// A client for any server.
///
/// It offers servers exactly what it was given an answer for: one without handlers offers nothing.
/// Which revision a server speaks is found out when connecting.
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
    /// A client by its name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::from(Implementation::new(name, version))
    }

    /// Answers what servers ask with these, in place of what was set before.
    pub fn answering(self, answers: impl Into<Answers>) -> Self {
        self.with(|profile| profile.answers = answers.into())
    }

    /// Shows every message that goes over the wire, either way: for logs, recordings and tests.
    ///
    /// The listener is called where the message is sent or was read, and must not block. What goes
    /// by is not masked; headers of HTTP are not part of it.
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
    pub fn on_wire(self, show: impl Fn(Passing<'_>) + Send + Sync + 'static) -> Self {
        self.with(|profile| profile.tap = Some(Tap::new(show)))
    }

    /// Shows people the forms that servers ask them to fill in. See [`Answers::on_form`].
    pub fn on_form<F, A>(self, handler: F) -> Self
    where
        F: Fn(ServerAsk<ElicitRequestFormParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, Refusal>> + Send + 'static,
    {
        self.answered(|answers| answers.on_form(handler))
    }

    /// Asks people whether they want to visit a URL. See [`Answers::on_url`].
    pub fn on_url<F, A>(self, handler: F) -> Self
    where
        F: Fn(ServerAsk<ElicitRequestUrlParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, Refusal>> + Send + 'static,
    {
        self.answered(|answers| answers.on_url(handler))
    }

    /// Asks a model on behalf of servers. See [`Answers::on_sample`].
    pub fn on_sample<F, A>(self, handler: F) -> Self
    where
        F: Fn(ServerAsk<CreateMessageRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, Refusal>> + Send + 'static,
    {
        self.answered(|answers| answers.on_sample(handler))
    }

    /// Asks a model that may call tools. See [`Answers::on_sample_with_tools`].
    pub fn on_sample_with_tools<F, A>(self, handler: F) -> Self
    where
        F: Fn(ServerAsk<CreateMessageRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, Refusal>> + Send + 'static,
    {
        self.answered(|answers| answers.on_sample_with_tools(handler))
    }

    /// Says that the model is given context of servers. See [`Answers::sampling_context`].
    pub fn sampling_context(self) -> Self {
        self.answered(Answers::sampling_context)
    }

    /// Lets servers work in these places. See [`Roots`] for changing them later.
    pub fn roots(self, roots: impl Into<Roots>) -> Self {
        self.answered(|answers| answers.roots(roots))
    }

    /// Asks `handler` which places each server may work in. See [`Answers::on_roots`].
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
    pub fn on_roots<F, A>(self, handler: F) -> Self
    where
        F: Fn(Arc<Peer>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Vec<Root>, Refusal>> + Send + 'static,
    {
        self.answered(|answers| answers.on_roots(handler))
    }

    /// Calls `listener` with everything that servers say unasked, from the first message on. It
    /// runs where messages are read, so it must not block; for anything longer take
    /// [`Connection::news`](crate::Connection::news).
    pub fn on_news(self, listener: impl Fn(&News) + Send + Sync + 'static) -> Self {
        self.with(|profile| profile.listener = Some(Arc::new(listener)))
    }

    /// Keeps results in this cache in place of the client's own. See [`Cache`].
    pub fn cache(self, cache: Cache) -> Self {
        self.with(|profile| profile.cache = Some(cache))
    }

    /// Keeps no results: every list and every resource is asked for.
    pub fn no_cache(self) -> Self {
        self.with(|profile| profile.cache = None)
    }

    /// Asks every server for log messages of this severity and above: sessions when they are
    /// opened, modern servers with each request. Servers that keep no log for clients are not asked.
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.with(|profile| profile.settings.log_level = Some(level))
    }

    /// Calls `listener` with every log message of every server, and says which server it is from.
    /// It runs where messages are read, so it must not block; for anything longer take
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

    /// Says that the client knows an extension, with these settings.
    pub fn extension(self, id: impl Into<String>, settings: Map<String, Value>) -> Self {
        self.with(|profile| {
            profile
                .extensions
                .insert(id.into(), Value::Object(settings));
        })
    }

    /// Speaks this revision only.
    pub fn only(self, revision: Revision) -> Self {
        self.with(|profile| profile.settings.aim = Aim::Revision(revision))
    }

    /// Speaks the revisions of this era only.
    pub fn only_era(self, era: Era) -> Self {
        self.with(|profile| profile.settings.aim = Aim::Era(era))
    }

    /// Gives each call this long, unless it says otherwise. Progress that a call asked for renews
    /// it, and the time in which the server waits for an answer of ours does not count.
    pub fn deadline(self, deadline: Duration) -> Self {
        self.with(|profile| profile.settings.deadline = deadline)
    }

    /// Ends a call after this long, however much progress it reports.
    pub fn longest_call(self, longest: Duration) -> Self {
        self.with(|profile| profile.settings.longest = longest)
    }

    /// Lets a server ask this often in the middle of one call, in place of 32 times. One that asks
    /// once more gets no answer, and the call ends with
    /// [`CallError::TooManyRounds`](crate::CallError::TooManyRounds).
    pub fn max_rounds(self, rounds: usize) -> Self {
        self.with(|profile| profile.settings.max_rounds = rounds)
    }

    /// Lets each server ask this often for completions of a model and for forms and visits.
    pub fn ask_rates(self, rates: AskRates) -> Self {
        self.with(|profile| profile.settings.ask_rates = rates)
    }

    /// Says nothing of tasks: servers answer when they are done, however long that takes, and ask by
    /// requests that wait. It is for programs that would rather hold a connection than poll, and for
    /// servers whose tasks are at fault.
    pub fn without_tasks(self) -> Self {
        self.with(|profile| profile.settings.tasks = TaskSupport::Off)
    }

    /// Gives a server this long to answer the probe before it is also tried with a handshake.
    pub fn probe_timeout(self, timeout: Duration) -> Self {
        self.with(|profile| profile.settings.probe_timeout = timeout)
    }

    /// Gives a server this long to answer the handshake.
    pub fn handshake_timeout(self, timeout: Duration) -> Self {
        self.with(|profile| profile.settings.handshake_timeout = timeout)
    }

    /// Gives the process of a server this long for each step of its end.
    pub fn grace(self, grace: Duration) -> Self {
        self.with(|profile| profile.settings.grace = grace)
    }

    /// Sets how long messages may be and how much may wait to be sent.
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|profile| profile.settings.limits = limits)
    }

    /// Takes structured content as it comes, also where it breaks the tool's output schema.
    pub fn trust_output(self) -> Self {
        self.output_check(OutputCheck::Skip)
    }

    /// Says what becomes of results that break their tool's output schema. Such calls fail unless
    /// this says otherwise.
    pub fn output_check(self, check: OutputCheck) -> Self {
        self.with(|profile| profile.settings.output = check)
    }

    /// Asks servers for a sign of life now and then. A server that does not answer so many times in
    /// a row has failed, which is logged: a session at a URL is opened anew and its calls fail,
    /// [`Connection::is_closed`](crate::Connection::is_closed) is true until the server is back, and
    /// the connection to a process ends. Off unless it is set.
    pub fn keep_alive(self, pings: KeepAlive) -> Self {
        self.with(|profile| profile.settings.keep_alive = Some(pings))
    }

    /// Hands on what servers ask and say in place of answering it, for gateways and bridges: declares
    /// exactly these capabilities, as far as the revision has them, and keeps no results. What belongs
    /// to a call comes with the events of [`Connection::relay`](crate::Connection::relay), the rest
    /// goes to `sink`. Only `ping` is answered here.
    pub fn relaying(self, capabilities: ClientCapabilities, sink: Arc<dyn RelaySink>) -> Self {
        self.with(|profile| {
            profile.relay = Some(RelayProfile { capabilities, sink });
            profile.cache = None;
            profile.settings.output = OutputCheck::Skip;
            profile.settings.tasks = TaskSupport::Off;
        })
    }

    /// Connects to a server: a program, a pair of streams, anything that can be dialled, or, with
    /// feature `http`, a URL.
    ///
    /// # Errors
    /// [`ConnectError`](crate::ConnectError) says what was tried and what to do.
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
    /// A client with more to show than a name and a version.
    fn from(client: Implementation) -> Self {
        Self {
            profile: Arc::new(client.into()),
        }
    }
}
