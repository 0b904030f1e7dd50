//! A server as the host is given it: how it is started or reached, and its settings.

use std::{
    fmt::{self, Write},
    sync::Arc,
    time::Duration,
};

use sha2::{Digest, Sha256};
#[cfg(feature = "http")]
use turnbuckle_client::HttpTarget;
use turnbuckle_client::Target;
use turnbuckle_protocol::{LoggingLevel, Root};
use turnbuckle_transport::Command;

use super::{Failure, FailureKind, ToolFilter};
use crate::config::{Launch, Settings};
#[cfg(feature = "http")]
use crate::id::ServerId;

/// How long a server may take to start: `npx` and `uvx` fetch packages first.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// When a server is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// As soon as the host has it.
    #[default]
    AtOnce,
    /// When it is first needed.
    OnDemand,
}

/// A server as the host is given it.
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_host::{ServerSpec, Start, config::Launch};
///
/// let git = ServerSpec::command("uvx", ["mcp-server-git"])
///     .start(Start::OnDemand)
///     .call_timeout(Duration::from_secs(30))
///     .exclude_tools(["git_push"]);
/// # let _ = git;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "it is given to a host"]
pub struct ServerSpec {
    pub(crate) reach: Reach,
    pub(crate) start: Start,
    pub(crate) start_timeout: Duration,
    pub(crate) call_timeout: Option<Duration>,
    pub(crate) tools: ToolFilter,
    pub(crate) approved_tools: Vec<String>,
    pub(crate) roots: Vec<Root>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) is_enabled: bool,
}

/// How a server is started or reached.
#[derive(Clone)]
pub(crate) enum Reach {
    Launch(Launch),
    /// A way that the application opens by itself.
    Custom(Arc<dyn Fn() -> Target + Send + Sync>),
    /// An entry that cannot be used; the text says why.
    Unusable(String),
}

impl ServerSpec {
    fn new(reach: Reach) -> Self {
        Self {
            reach,
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

    /// A program with its arguments.
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

    /// A server that the application reaches by itself, such as one in the same process. The function
    /// is called for each start.
    pub fn from_fn(open: impl Fn() -> Target + Send + Sync + 'static) -> Self {
        Self::new(Reach::Custom(Arc::new(open)))
    }

    /// An entry that cannot be used.
    pub(crate) fn unusable(reason: impl Into<String>) -> Self {
        Self::new(Reach::Unusable(reason.into()))
    }

    /// Takes over what a config file says beside how the server is started.
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

    /// Sets when it is started.
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Gives it this long to start and to answer the handshake; one minute unless set.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// Gives each call this long, unless the call says otherwise.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// Uses these tools only. `*` matches any text.
    pub fn include_tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools.include(names.into_iter().map(Into::into));
        self
    }

    /// Does not use these tools. `*` matches any text.
    pub fn exclude_tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools.exclude(names.into_iter().map(Into::into));
        self
    }

    /// Lets it work in this folder, if the policy allows it.
    pub fn root(mut self, root: Root) -> Self {
        self.roots.push(root);
        self
    }

    /// Asks it for log messages of this severity and above.
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Keeps it in the host without using it.
    pub fn disabled(mut self) -> Self {
        self.is_enabled = false;
        self
    }

    /// What tells this server from another one under the same name: a digest of the program with
    /// its arguments, its folder and the names of its variables, or of the URL. Values of variables
    /// do not change it, for they are often secrets, unless they say which code is run. `None` where
    /// the application opens the way by itself.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            digest.update(text.len().to_le_bytes());
            digest.update(text.as_bytes());
        };
        match &self.reach {
            Reach::Launch(Launch::Command {
                program,
                arguments,
                environment,
                folder,
            }) => {
                add("command");
                add(program);
                for argument in arguments {
                    add(argument);
                }
                if let Some(folder) = folder {
                    add(&folder.to_string_lossy());
                }
                let mut variables: Vec<_> = environment.iter().collect();
                variables.sort();
                for (name, value) in variables {
                    add("variable");
                    add(name);
                    if says_which_code(name) {
                        add(value);
                    }
                }
            }
            Reach::Launch(Launch::Remote(remote)) => {
                add("url");
                add(remote.url.split(['?', '#']).next().unwrap_or_default());
            }
            Reach::Custom(_) | Reach::Unusable(_) => return None,
        }
        let mut text = String::new();
        for byte in &digest.finalize()[..16] {
            let _ = write!(text, "{byte:02x}");
        }
        Some(text)
    }

    /// How the server is started, as a user may be shown it: without values of headers, without
    /// those of variables unless they say which code is run, and without the query of a URL.
    #[doc(hidden)]
    pub fn shown(&self) -> String {
        match &self.reach {
            Reach::Launch(Launch::Command {
                program,
                arguments,
                environment,
                folder,
            }) => {
                let folder = folder.as_ref().map(|folder| {
                    let folder = quoted(&folder.to_string_lossy());
                    format!("cd {folder} &&")
                });
                let variables = environment.iter().map(|(name, value)| {
                    let value = if says_which_code(name) {
                        quoted(value)
                    } else {
                        "…".to_owned()
                    };
                    format!("{name}={value}")
                });
                let words = std::iter::once(program).chain(arguments);
                folder
                    .into_iter()
                    .chain(variables)
                    .chain(words.map(|word| quoted(word)))
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            Reach::Launch(Launch::Remote(remote)) => match remote.url.split_once(['?', '#']) {
                Some((place, _)) => format!("{place}?…"),
                None => remote.url.clone(),
            },
            Reach::Custom(_) => "a server of the application".to_owned(),
            Reach::Unusable(reason) => format!("unusable: {reason}"),
        }
    }

    /// Whether the server is a program that is started here.
    #[doc(hidden)]
    pub fn is_process(&self) -> bool {
        matches!(self.reach, Reach::Launch(Launch::Command { .. }))
    }

    /// Whether messages come on one pipe, all of them together.
    #[doc(hidden)]
    pub fn is_pipe(&self) -> bool {
        !matches!(self.reach, Reach::Launch(Launch::Remote(_)))
    }

    /// Whether some tools may not be used.
    #[doc(hidden)]
    pub fn filters_tools(&self) -> bool {
        self.tools != ToolFilter::default()
    }

    /// Whether a tool may be used.
    #[doc(hidden)]
    pub fn uses_tool(&self, name: &str) -> bool {
        self.tools.admits(name)
    }

    /// How long a call may take, if it is set.
    #[doc(hidden)]
    pub fn time_for_calls(&self) -> Option<Duration> {
        self.call_timeout
    }

    /// How long it may take to start.
    #[doc(hidden)]
    pub fn time_to_start(&self) -> Duration {
        self.start_timeout
    }

    /// The way to the server as it is written.
    #[doc(hidden)]
    pub fn way(&self) -> Result<Target, Failure> {
        self.target(&Customise {
            #[cfg(feature = "http")]
            server: ServerId::new(""),
            #[cfg(feature = "http")]
            hook: None,
        })
    }

    /// The way to the server.
    pub(crate) fn target(&self, customise: &Customise) -> Result<Target, Failure> {
        match &self.reach {
            Reach::Custom(open) => Ok(open()),
            Reach::Unusable(reason) => {
                Err(Failure::new(FailureKind::Misconfigured, reason.clone()))
            }
            Reach::Launch(Launch::Command {
                program,
                arguments,
                environment,
                folder,
            }) => {
                let mut command = Command::new(program).args(arguments);
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

/// Variables whose values say which code a program runs, or where a package comes from.
const CODE_VARIABLES: [&str; 22] = [
    "PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_REGISTRY",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "RUBYOPT",
    "RUBYLIB",
    "PERL5OPT",
    "PERL5LIB",
    "JAVA_TOOL_OPTIONS",
    "CLASSPATH",
    "BASH_ENV",
    "ENV",
];

/// Whether the value of a variable says which code is run. The loader of the system reads those that
/// begin with `LD_` and `DYLD_`.
fn says_which_code(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with("LD_") || name.starts_with("DYLD_") || CODE_VARIABLES.contains(&&*name)
}

/// A word of a command line as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

impl From<Launch> for ServerSpec {
    fn from(launch: Launch) -> Self {
        Self::new(Reach::Launch(launch))
    }
}

impl PartialEq for Reach {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Launch(one), Self::Launch(other)) => one == other,
            (Self::Custom(one), Self::Custom(other)) => Arc::ptr_eq(one, other),
            (Self::Unusable(one), Self::Unusable(other)) => one == other,
            _ => false,
        }
    }
}

impl fmt::Debug for Reach {
    /// Without arguments and variables, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(Launch::Command { program, .. }) => {
                f.debug_tuple("Command").field(program).finish()
            }
            Self::Launch(Launch::Remote(remote)) => {
                let place = remote.url.split(['?', '#']).next();
                f.debug_tuple("Remote").field(&place).finish()
            }
            Self::Custom(_) => f.write_str("Custom"),
            Self::Unusable(reason) => f.debug_tuple("Unusable").field(reason).finish(),
        }
    }
}

/// Changes the way to a server at a URL: credentials, a proxy, certificates.
#[cfg(feature = "http")]
pub(crate) type ReachHook = Arc<dyn Fn(&ServerId, HttpTarget) -> HttpTarget + Send + Sync>;

/// The application's own settings for the connection to one server.
pub(crate) struct Customise {
    #[cfg(feature = "http")]
    pub(crate) server: ServerId,
    #[cfg(feature = "http")]
    pub(crate) hook: Option<ReachHook>,
}

impl Customise {
    #[cfg(feature = "http")]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "without the feature `http` it fails"
    )]
    fn http(&self, remote: &crate::config::Remote) -> Result<Target, Failure> {
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
    fn http(&self, _: &crate::config::Remote) -> Result<Target, Failure> {
        let reason = "servers at a URL need the feature `http`";
        Err(Failure::new(FailureKind::Misconfigured, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Remote, Wire};

    fn remote(url: &str, key: &str) -> ServerSpec {
        ServerSpec::from(Launch::Remote(Remote {
            url: url.to_owned(),
            headers: vec![("x-key".to_owned(), key.to_owned())],
            wire: Wire::Any,
        }))
    }

    #[test]
    fn a_fingerprint_is_of_the_place_and_not_of_the_secrets() {
        let first = remote("https://a/mcp?key=1", "one");
        assert_eq!(
            first.fingerprint(),
            remote("https://a/mcp?key=2", "two").fingerprint()
        );
        assert_ne!(
            first.fingerprint(),
            remote("https://b/mcp", "one").fingerprint()
        );
        let program = ServerSpec::command("a", ["b c"]);
        assert_ne!(
            program.fingerprint(),
            ServerSpec::command("a", ["b", "c"]).fingerprint()
        );
    }

    #[test]
    fn variables_count_by_their_names_and_those_that_name_code_by_their_values() {
        let spec = |variables: &[(&str, &str)]| {
            let pairs = variables.iter();
            ServerSpec::from(Launch::Command {
                program: "npx".to_owned(),
                arguments: vec!["server".to_owned()],
                environment: pairs
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                folder: Some("/a b".into()),
            })
        };
        let first = spec(&[("API_KEY", "secret-1")]);
        assert_eq!(first.shown(), "cd '/a b' && API_KEY=… npx server");
        assert_eq!(
            first.fingerprint(),
            spec(&[("API_KEY", "secret-2")]).fingerprint()
        );
        assert_ne!(first.fingerprint(), spec(&[]).fingerprint());
        let (one, other) = (
            spec(&[("NODE_OPTIONS", "--require=/tmp/one.js")]),
            spec(&[("NODE_OPTIONS", "--require=/tmp/other.js")]),
        );
        assert_ne!(one.fingerprint(), other.fingerprint());
        let shown = one.shown();
        assert!(
            shown.contains("NODE_OPTIONS=--require=/tmp/one.js"),
            "{shown}"
        );
    }

    #[test]
    fn nothing_secret_is_shown() {
        let spec = remote("https://a/mcp?key=hidden", "hidden");
        assert_eq!(spec.shown(), "https://a/mcp?…");
        assert!(!format!("{spec:?}").contains("hidden"));
        assert_eq!(ServerSpec::command("a", ["b c"]).shown(), "a 'b c'");
    }
}
