//! Settings for how a gateway names, isolates and reaches its servers.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use turnbuckle_client::Era;
use turnbuckle_protocol::{JsonObject, Revision};

/// How long a client may take to answer a question that a legacy server asks during a call.
pub(crate) const PARK_FOR: Duration = Duration::from_mins(10);

/// How the tools and prompts of the servers are named. Set it with
/// [`Gateway::naming`](crate::Gateway::naming).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naming {
    /// With one server its own names, with several servers `server__name`.
    #[default]
    Auto,
    /// The servers' own names. If two names are equal, the later one is changed.
    Bare,
    /// Always `server__name`.
    Prefixed,
}

/// Which callers share a session with a server, and the process of a server that is a program. Set
/// it with [`UpstreamSettings::isolation`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isolation {
    /// All callers share one session. Use it for gateways with a single user.
    #[default]
    Shared,
    /// Each caller has its own session.
    Caller,
    /// Each caller has a session for each set of capabilities that its clients declare, so that the
    /// server knows which questions it may ask. A program runs once for each set.
    Client,
    /// Each call has its own session, which ends with the call.
    Call,
}

/// How one tool of a server is offered to clients. Set it with [`UpstreamSettings::tool`].
///
/// ```
/// use serde_json::json;
/// use turnbuckle_gateway::{ToolSettings, UpstreamSettings};
///
/// let settings = UpstreamSettings::new()
///     .tool("git_push", ToolSettings::new().hidden())
///     .tool("git_log", ToolSettings::new().name("log").fixed("max_count", json!(20)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolSettings {
    /// The name that clients see, instead of the server's own.
    pub name: Option<String>,
    /// Whether the tool is hidden: it is not listed, and calling it fails.
    pub is_hidden: bool,
    /// Arguments that the gateway sets. Clients do not see them and cannot set them.
    pub fixed: Arc<JsonObject>,
}

impl ToolSettings {
    /// Makes settings that change nothing: the tool is offered as the server describes it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers the tool under this name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Hides the tool: it is not listed, and calling it fails.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }

    /// Sets this argument to this value in every call. The argument is removed from the schema that
    /// clients see.
    #[must_use]
    pub fn fixed(mut self, argument: impl Into<String>, value: serde_json::Value) -> Self {
        Arc::make_mut(&mut self.fixed).insert(argument.into(), value);
        self
    }
}

/// Settings for how the gateway uses one server. Give them to
/// [`Gateway::server_with`](crate::Gateway::server_with).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UpstreamSettings {
    /// The only era to use with the server. `None` means that it is detected.
    pub era: Option<Era>,
    /// The only revision to use with the server. `None` means the newest that both sides support.
    pub revision: Option<Revision>,
    /// Which callers share a session. Defaults to [`Isolation::Shared`].
    pub isolation: Isolation,
    /// Whether the tools of this server keep their own names, regardless of [`Naming`].
    pub is_bare: bool,
    /// How many processes of the server may run at the same time; `None` means 8. One of them reads
    /// the lists, and a caller can have at most half of the others.
    pub max_processes: Option<usize>,
    /// Settings of single tools, by the server's own names for them.
    pub tools: BTreeMap<String, ToolSettings>,
}

impl UpstreamSettings {
    /// Makes the default settings: the revision is detected, and all callers share one session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses only this era with the server: legacy (with `initialize`) or modern. By default it is
    /// detected.
    pub fn era(mut self, era: Era) -> Self {
        self.era = Some(era);
        self
    }

    /// Uses only this revision with the server. Defaults to the newest that both sides support.
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Sets which callers share a session, and the process of a server that is a program. Use
    /// [`Isolation::Caller`] for servers that keep state of their users.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Sets how many processes of the server may run at the same time. Defaults to 8. One of them
    /// reads the lists, and a caller can have at most half of the others. A call that needs another
    /// process waits until one is free. [`Gateway::max_processes`](crate::Gateway::max_processes)
    /// limits the processes of all servers together.
    pub fn max_processes(mut self, count: usize) -> Self {
        self.max_processes = Some(count);
        self
    }

    /// Sets how one tool is offered: renamed, hidden, or with fixed arguments. `own_name` is the
    /// server's own name for the tool.
    pub fn tool(mut self, own_name: impl Into<String>, settings: ToolSettings) -> Self {
        self.tools.insert(own_name.into(), settings);
        self
    }

    /// Offers the tools and prompts of the server under their own names, without a prefix,
    /// regardless of [`Naming`].
    pub fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }
}
