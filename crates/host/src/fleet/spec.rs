//! `ServerSpec`: how a server is started or reached, and its settings.

use std::{sync::Arc, time::Duration};

#[cfg(feature = "http")]
use turnbuckle_client::HttpTarget;
use turnbuckle_client::Target;
use turnbuckle_protocol::{LoggingLevel, Root};
use turnbuckle_transport::Command;

use super::{
    FailureKind, InheritedVariables, ServerFailure, ToolFilter,
    reach::{Custom, Reach},
};
#[cfg(feature = "http")]
use crate::id::ServerId;
use crate::{
    config::{Launch, Settings},
    shown_uri::without_secrets,
};

/// How long a server may take to start. `npx` and `uvx` fetch packages first.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// When a server is started. Set it with [`ServerSpec::start`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// When the host opens or the server is added, and again whenever the server ends. This is the
    /// default.
    #[default]
    AtOnce,
    /// When it is first needed: by a call, a read or [`Host::start`](crate::Host::start). Before
    /// that, its tools are in the catalog only with
    /// [`HostBuilder::keep_lists`](crate::HostBuilder::keep_lists).
    OnDemand,
}

/// A server to run or connect to: a command, a URL or a function, and its settings. Give it to
/// [`HostBuilder::server`](crate::HostBuilder::server) or [`Host::add`](crate::Host::add). Make one
/// with [`command`](Self::command) or [`from_fn`](Self::from_fn), or convert a [`Launch`] to set
/// variables, a folder or a URL.
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_host::{ServerSpec, Start, config::{Launch, Remote, Wire}};
///
/// let git = ServerSpec::command("uvx", ["mcp-server-git"])
///     .start(Start::OnDemand)
///     .call_timeout(Duration::from_secs(30))
///     .exclude_tools(["git_push"]);
/// let docs = ServerSpec::from(Launch::Remote(Remote {
///     url: "https://docs.example.com/mcp".into(),
///     headers: Vec::new(),
///     wire: Wire::Any,
/// }));
/// # let _ = (git, docs);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "it is given to a host"]
pub struct ServerSpec {
    pub(crate) reach: Reach,
    /// The launch to show instead, with its variables as they are written.
    shown: Option<Launch>,
    /// The program, its folder or the URL as errors name them, each with the same as it is written, with variables that
    /// are not expanded.
    written: Vec<(String, String)>,
    pub(crate) start: Start,
    pub(crate) start_timeout: Duration,
    pub(crate) call_timeout: Option<Duration>,
    pub(crate) tools: ToolFilter,
    pub(crate) approved_tools: Vec<String>,
    pub(crate) roots: Vec<Root>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) is_enabled: bool,
}

impl ServerSpec {
    fn new(reach: Reach) -> Self {
        Self {
            reach,
            shown: None,
            written: Vec::new(),
            start: Start::default(),
            start_timeout: START_TIMEOUT,
            call_timeout: None,
            tools: ToolFilter::default(),
            approved_tools: Vec::new(),
            roots: Vec::new(),
            log_level: None,
            is_enabled: true,
        }
    }

    /// A program with its arguments, which communicates over its standard input and output. It is
    /// started without a shell, so nothing is expanded.
    ///
    /// It inherits the environment of the host as far as
    /// [`HostBuilder::inherit`](crate::HostBuilder::inherit) allows. Use [`Launch::Command`] to set
    /// variables or the working folder.
    pub fn command(
        program: impl Into<String>,
        arguments: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self::from(Launch::Command {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            folder: None,
        })
    }

    /// A server that the application connects to itself, such as one in the same process. The
    /// function is called for each start, and returns the [`Target`] to connect to.
    pub fn from_fn(open: impl Fn() -> Target + Send + Sync + 'static) -> Self {
        Self::new(Reach::Custom(Custom {
            open: Arc::new(open),
            is_pipe: true,
            kept_as: None,
        }))
    }

    /// A server at a URL that the application reaches in its own way, such as through a tunnel. The
    /// function is called for each start, and returns the target.
    #[cfg(feature = "http")]
    pub fn from_http(open: impl Fn() -> HttpTarget + Send + Sync + 'static) -> Self {
        Self::new(Reach::Custom(Custom {
            open: Arc::new(move || open().into()),
            is_pipe: false,
            kept_as: None,
        }))
    }

    /// Keeps the lists of a server from [`from_fn`](Self::from_fn) or
    /// [`from_http`](Self::from_http), if the host keeps lists. They are stored under a digest of
    /// this text, which distinguishes the server from others of the same name.
    #[doc(hidden)]
    pub fn kept_as(mut self, text: &str) -> Self {
        if let Reach::Custom(custom) = &mut self.reach {
            custom.kept_as = Some(text.to_owned());
        }
        self
    }

    /// An entry that cannot be used, with the reason.
    pub(crate) fn unusable(reason: impl Into<String>) -> Self {
        Self::new(Reach::Unusable(reason.into()))
    }

    /// Applies the settings of a config entry that do not concern starting the server.
    pub(crate) fn with_settings(mut self, settings: &Settings) -> Self {
        if let Some(timeout) = settings.start_timeout {
            self.start_timeout = timeout;
        }
        self.call_timeout = settings.call_timeout.or(self.call_timeout);
        if let Some(names) = &settings.included_tools {
            self = self.include_tools(names);
        }
        self.approved_tools.clone_from(&settings.approved_tools);
        self.exclude_tools(&settings.excluded_tools)
    }

    /// Sets when the server is started: at once, which is the default, or on demand.
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Sets how long the server may take to start and to answer the handshake. Defaults to one
    /// minute, because `npx` and `uvx` may fetch packages first. When the time is over, the start
    /// has failed, and the process is ended.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// Sets how long each call may take, unless [`HostCall::deadline`](crate::HostCall::deadline)
    /// sets another limit. Defaults to one minute.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// Uses only these tools, by their names at the server. `*` matches any text. Further calls add
    /// names. Other tools are not in the catalog and cannot be called.
    pub fn include_tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools.include(names.into_iter().map(Into::into));
        self
    }

    /// Excludes these tools, even if they are [included](Self::include_tools). `*` matches any
    /// text. Further calls add names. To ask the user about a tool instead, use
    /// [`Rules::ask`](crate::Rules::ask).
    pub fn exclude_tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools.exclude(names.into_iter().map(Into::into));
        self
    }

    /// Adds a root that the server sees, if the policy allows it, in addition to those of
    /// [`HostBuilder::root`](crate::HostBuilder::root). A root tells a server where to work; it
    /// does not prevent access to other folders.
    pub fn root(mut self, root: Root) -> Self {
        self.roots.push(root);
        self
    }

    /// Asks the server for log messages of this severity and above, which
    /// [`HostBuilder::on_log`](crate::HostBuilder::on_log) receives. If it is not set, the server
    /// decides what it sends, or sends nothing.
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Keeps the server in the host without using it: it is
    /// [`Disabled`](crate::ServerState::Disabled), is never started, and offers nothing.
    pub fn disabled(mut self) -> Self {
        self.is_enabled = false;
        self
    }

    /// How the server is started, without secrets, in a form that may be shown to a user.
    #[doc(hidden)]
    pub fn to_redacted_string(&self) -> String {
        match &self.shown {
            Some(launch) => Reach::Launch(launch.clone()).to_redacted_string(),
            None => self.reach.to_redacted_string(),
        }
    }

    /// Shows this launch to users, in which variables are not expanded, because their values may be
    /// secrets.
    #[doc(hidden)]
    pub fn shown_as(mut self, launch: Launch) -> Self {
        self.shown = Some(launch);
        self
    }

    /// Names the program, its folder or the URL in failures as `written`, in which variables of `launch` are not expanded.
    #[doc(hidden)]
    pub fn written_as(mut self, launch: &Launch, written: &Launch) -> Self {
        let pairs = places(launch).into_iter().zip(places(written));
        self.written = pairs.filter(|(real, written)| real != written).collect();
        self
    }

    /// A text that may name the program, its folder or the URL, without the values of variables in it: they may be secrets, and
    /// failures are logged.
    pub(crate) fn with_variables_as_written(&self, text: &str) -> String {
        let pairs = self.written.iter();
        pairs.fold(text.to_owned(), |text, (real, written)| {
            text.replace(real, written)
        })
    }

    /// Whether the server is a program that the host starts.
    #[doc(hidden)]
    pub fn is_process(&self) -> bool {
        matches!(self.reach, Reach::Launch(Launch::Command { .. }))
    }

    /// Whether the server is at a URL.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.reach, Reach::Launch(Launch::Remote(_)))
    }

    /// Whether all messages share one pipe.
    #[doc(hidden)]
    pub fn is_pipe(&self) -> bool {
        match &self.reach {
            Reach::Launch(Launch::Remote(_)) => false,
            Reach::Custom(custom) => custom.is_pipe,
            _ => true,
        }
    }

    /// Whether some tools are excluded.
    #[doc(hidden)]
    pub fn filters_tools(&self) -> bool {
        self.tools != ToolFilter::default()
    }

    /// Whether a tool may be used.
    #[doc(hidden)]
    pub fn uses_tool(&self, name: &str) -> bool {
        self.tools.admits(name)
    }

    /// How long a call may take, if the spec sets it.
    #[doc(hidden)]
    pub fn time_for_calls(&self) -> Option<Duration> {
        self.call_timeout
    }

    /// How long the server may take to start.
    #[doc(hidden)]
    pub fn time_to_start(&self) -> Duration {
        self.start_timeout
    }

    /// The target as it was given. A process inherits these variables.
    #[doc(hidden)]
    pub fn target_as_written(
        &self,
        inherited: &InheritedVariables,
    ) -> Result<Target, ServerFailure> {
        self.target(&Customise {
            inherited,
            #[cfg(feature = "http")]
            server: ServerId::new(""),
            #[cfg(feature = "http")]
            hook: None,
        })
    }

    /// The target to connect to.
    pub(crate) fn target(&self, customise: &Customise<'_>) -> Result<Target, ServerFailure> {
        match &self.reach {
            Reach::Custom(custom) => Ok((custom.open)()),
            Reach::Unusable(reason) => Err(ServerFailure::new(
                FailureKind::Misconfigured,
                reason.clone(),
            )),
            Reach::Launch(Launch::Command {
                program,
                arguments,
                environment,
                folder,
            }) => {
                let mut command = Command::new(program).args(arguments);
                for name in customise.inherited.left_out() {
                    command = command.env_remove(name);
                }
                for (name, value) in environment {
                    command = command.env(name, value);
                }
                if let Some(folder) = folder {
                    command = command.current_dir(folder);
                }
                Ok(command.into())
            }
            Reach::Launch(Launch::Remote(remote)) => customise.http(remote),
        }
    }
}

impl From<Launch> for ServerSpec {
    fn from(launch: Launch) -> Self {
        Self::new(Reach::Launch(launch))
    }
}

/// A program and its folder, or a URL, as errors name them.
fn places(launch: &Launch) -> Vec<String> {
    match launch {
        Launch::Command {
            program, folder, ..
        } => {
            let folder = folder.as_ref().map(|folder| folder.display().to_string());
            let names = [Some(program.clone()), folder].into_iter().flatten();
            names.map(|name| format!("`{name}`")).collect()
        }
        Launch::Remote(remote) => vec![without_secrets(&remote.url)],
    }
}

/// A function that changes the HTTP target of a server: credentials, a proxy, certificates.
#[cfg(feature = "http")]
pub(crate) type ReachHook = Arc<dyn Fn(&ServerId, HttpTarget) -> HttpTarget + Send + Sync>;

/// The application's own settings for the connection to one server.
pub(crate) struct Customise<'a> {
    pub(crate) inherited: &'a InheritedVariables,
    #[cfg(feature = "http")]
    pub(crate) server: ServerId,
    #[cfg(feature = "http")]
    pub(crate) hook: Option<ReachHook>,
}

impl Customise<'_> {
    #[cfg(feature = "http")]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "without the feature `http` it fails"
    )]
    fn http(&self, remote: &crate::config::Remote) -> Result<Target, ServerFailure> {
        let mut target = HttpTarget::new(&remote.url);
        for (name, value) in &remote.headers {
            target = target.header(name, value);
        }
        Ok(match &self.hook {
            Some(hook) => hook(&self.server, target).into(),
            None => target.into(),
        })
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "with the feature `http` it is used")]
    fn http(&self, _: &crate::config::Remote) -> Result<Target, ServerFailure> {
        let reason = "servers at a URL need the feature `http`";
        Err(ServerFailure::new(FailureKind::Misconfigured, reason))
    }
}
